package decide_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// What the user says of a sender is not for mail that only claims to be of the sender; what is forbidden stays so.
func TestWhatIsSaidOfASenderIsForVerifiedMail(t *testing.T) {
	said := decide.Guidance{Instructions: []guidance.Instruction{
		{Scope: guidance.ScopeAll, Text: "Be kind."},
		{Scope: guidance.ScopeSender, ScopeRef: "amy@example.com", Text: "Amy may ask for much.",
			Forbids: []postroom.ActionType{postroom.Trash}},
		{Scope: guidance.ScopeDomain, ScopeRef: "example.com", Text: "Trust them."},
		{Scope: guidance.ScopeDomain, ScopeRef: "example.com", Text: "Label them.", Unauthenticated: true},
	}}
	of := []string{"Amy may ask for much.", "Trust them."}
	for name, test := range map[string]struct {
		headers  []postroom.Header
		verified bool
	}{
		"no result": {},
		"verified": {[]postroom.Header{{Name: "Authentication-Results",
			Value: "mx.google.com; dkim=pass header.i=@example.com; dmarc=pass header.from=example.com"}}, true},
		"verified for another": {headers: []postroom.Header{{Name: "Authentication-Results",
			Value: "mx.google.com; spf=pass smtp.mailfrom=evil.example; dkim=pass header.i=@evil.example"}}},
		"verified by another": {headers: []postroom.Header{{Name: "Authentication-Results",
			Value: "mx.evil.example; dmarc=pass header.from=example.com"}}},
		"two senders": {headers: []postroom.Header{{Name: "Authentication-Results",
			Value: "mx.google.com; dmarc=pass header.from=example.com"}, {Name: "From", Value: "amy@example.com"},
			{Name: "From", Value: "eve@evil.example"}}},
	} {
		t.Run(name, func(t *testing.T) {
			client := llmtest.NewScripted(t, llmtest.Decides("none", "{}", 0.9))
			msg := mail("Please.")
			msg.Headers = append([]postroom.Header{{Name: "Received",
				Value: "from mail.example.com by mx.google.com with ESMTPS id x; Sun, 01 Mar 2026 12:00:00 +0000"}}, test.headers...)
			d := newDecider(t, decide.Config{Client: client, Guidance: guide(said)})
			_, err := d.Decide(t.Context(), msg)
			require.NoError(t, err)
			asked := client.Requests()[0]
			prompt := asked.Messages[0].Text + asked.Messages[1].Text
			for _, text := range of {
				require.Equal(t, test.verified, strings.Contains(prompt, text), text)
			}
			require.Contains(t, prompt, "Label them.")
			require.Contains(t, prompt, "Be kind.")
			require.NotContains(t, string(asked.Tools[0].Schema), `"trash"`)
		})
	}
}
