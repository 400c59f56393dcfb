package api_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	gmailv1 "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/safety/events"
)

// The way to write is learned from sent mail by one call, shown to the model with each draft, and stays once a person
// has edited it. What is changed in a draft before it is sent is learned from the next time.
func TestAVoiceIsLearnedEditedAndUsed(t *testing.T) {
	for name, database := range map[string]func(t *testing.T) string{"sqlite": func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return dbtest.MigratedDSN(t) }} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(a llmtest.Asked) llmtest.Reply {
				if all := fmt.Sprint(a.Messages); strings.Contains(all, compose.WriteProfile) {
					asked = append(asked, all)
					return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: compose.WriteProfile,
						Arguments: `{"text":"Begins with Moin."}`}}}
				} else if strings.Contains(all, "TASK\\nWrite the answer") || strings.Contains(all, "TASK\nWrite the answer") {
					asked = append(asked, all)
				}
				return writes(a)
			})
			w := newWorldWith(t, database(t), func(c *config.Config) {
				c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
				c.Replies.Enabled, c.Replies.Voice = true, true
			}, mail("ann@example.com", "tea"))
			const path = "/mailboxes/" + sample.Owner + "/voice"
			w.sentMail(10)
			show := func() drafts.Voice { return call[drafts.Voice](w, "GET", path, "", http.StatusOK) }
			require.Empty(t, show().Text)
			call[drafts.Voice](w, "POST", path+"/rebuild", `{}`, http.StatusOK)
			w.work()
			require.Len(t, asked, 1)
			require.Contains(t, asked[0], "Moin number")
			require.NotContains(t, asked[0], "secret of Bob")
			require.Equal(t, []any{"Begins with Moin.", 10}, []any{show().Text, show().Mails})

			v := call[drafts.Voice](w, "PUT", path, `{"text":"Ends with Tschüs.","version":1}`, http.StatusOK)
			require.NotEmpty(t, v.EditedBy)
			refused := call[problem](w, "PUT", path, `{"text":"x","version":1}`, http.StatusConflict)
			require.Contains(t, fmt.Sprint(refused), "has changed since it was shown")
			refused = call[problem](w, "POST", path+"/rebuild", `{}`, http.StatusConflict)
			require.Contains(t, fmt.Sprint(refused), "has edited the profile")
			w.drafted("tea")
			require.Len(t, asked, 2)
			require.Contains(t, asked[1], "Ends with Tschüs.")

			service, err := w.gmail.Service(t.Context())
			require.NoError(t, err)
			all, err := service.Users.Drafts.List("me").Do()
			require.NoError(t, err)
			_, err = service.Users.Drafts.Send("me", &gmailv1.Draft{Id: all.Drafts[0].Id}).Do()
			require.NoError(t, err)
			w.work()
			require.Empty(t, show().Lessons, "it was sent as it was")
			refused = call[problem](w, "POST", path+"/rebuild", `{"replace":true,"version":1}`, http.StatusConflict)
			require.Contains(t, fmt.Sprint(refused), "has changed since it was shown")
			call[drafts.Voice](w, "POST", path+"/rebuild", `{"replace":true,"version":2}`, http.StatusOK)
			w.work()
			require.Equal(t, "Begins with Moin.", show().Text)
			said, err := w.app.Ledger.Events().List(t.Context(), 10)
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(said), string(events.VoiceEdited))
			require.Contains(t, fmt.Sprint(said), string(events.VoiceRebuild))
		})
	}
}

// sentMail puts mail into the mailbox that its owner has sent, with quotations.
func (w *world) sentMail(n int) {
	w.Helper()
	service, err := w.gmail.Service(w.Context())
	require.NoError(w, err)
	for i := range n {
		raw := fmt.Sprintf("From: %s\r\nTo: bob@example.com\r\nSubject: m%d\r\n\r\nMoin number %c, %s\r\n\r\n> the secret of Bob\r\n",
			sample.Owner, i, 'a'+i, strings.Repeat("words of my own ", 6))
		_, err := service.Users.Messages.Insert("me", &gmailv1.Message{LabelIds: []string{"SENT"},
			Raw: base64.URLEncoding.EncodeToString([]byte(raw))}).Do()
		require.NoError(w, err)
	}
	w.work()
}
