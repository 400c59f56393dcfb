package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// A new rule may begin with its label alone. The gate lets that pass, the list of rules says until when, and the digest
// says when the rule begins to move mail.
func TestANewRuleBeginsWithItsLabel(t *testing.T) {
	w := newWorldBy(t, writeRules(t, "rules: []"))
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/form?mailbox=" + url.QueryEscape(sample.Owner))
		b.Until(ready)
		name := "Tea " + scheme
		browsertest.Eval[any](b, fmt.Sprintf(`(() => { const f = document.querySelector(".ruleform").elements;
			f["name"].value = %q; f["value 0.0"].value = %q; f["action"].value = "move"; f["label"].value = "Tea";
			f["begins"].click(); })()`, name, scheme+"@example.org"))
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
		b.Accessible("rule form, " + scheme)
		browsertest.Eval[any](b, `document.querySelector("[value=go]").click()`)
		b.Until(`document.querySelector("#check .difference")?.textContent.includes("label_only_until")`)
		browsertest.Eval[any](b, `document.querySelector("[value=save]").click()`)
		b.Until(`location.search.includes("done=save-rules") && ` + ready)
		require.Contains(t, browsertest.Eval[string](b, `[...document.querySelectorAll("[data-row]")].find(r =>
			r.textContent.includes(`+fmt.Sprintf("%q", name)+`)).querySelector(".begins").textContent`), "it only labels until the end of ")
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
	}
	b.Quiet()

	done := func(subject string) []string {
		w.deliver("light@example.org", subject)
		var kinds []string
		for _, e := range w.acted(safety.Filter{Sender: "light@example.org", States: completed}) {
			if e.Decision.Subject == subject {
				kinds = append(kinds, string(e.Action.Type))
			}
		}
		return kinds
	}
	require.Equal(t, []string{string(postroom.ApplyLabel)}, done("at first"))
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	now := time.Now()
	last := now.AddDate(0, 0, 7).UTC().Format(time.DateOnly)
	digest, err := w.ComposeDigest(t.Context(), accounts, now.Add(-time.Minute), now)
	require.NoError(t, err)
	require.Contains(t, digest.Begun, "Tea light only labels until the end of "+last)
	require.Zero(t, digest.News)
	digest, err = w.ComposeDigest(t.Context(), accounts, now.AddDate(0, 0, 6), now.AddDate(0, 0, 9))
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(digest.Begun, func(s string) bool {
		return strings.HasPrefix(s, "Tea light does all it says since ")
	}), digest.Begun)
	require.Positive(t, digest.News, "nothing in silence")
	require.Contains(t, digest.Text(), "Tea light does all it says since")

	editor := w.get("rules/edit")
	text, err := w.RuleEditor.Text(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	require.Contains(t, text, last)
	past := now.AddDate(0, 0, -2).UTC().Format(time.DateOnly)
	saved := w.post("rules/edit", url.Values{"text": {strings.ReplaceAll(text, last, past)}, "do": {"save"},
		"seen": {editor.find(t, `name="seen" value="([^"]+)"`)}})
	require.Equal(t, http.StatusSeeOther, saved.status, saved.body)
	require.Equal(t, []string{string(postroom.Move)}, done("then"))
	require.Contains(t, w.get("rules").body, "it does all of this; before, it only labelled")

	wrong := url.Values{"name": {"Old"}, "tree": {`{"type":"to"}`}, "value 0": {"x@example.org"}, "action": {"archive"},
		"begins": {"1"}, "do": {"go"}}
	refused := w.post("rules/form", wrong)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.body, "no label that it could begin with")
}

// writeRules writes a file of rules.
func writeRules(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// deliver sends a message to the mailbox, and has all be done that follows.
func (w *world) deliver(from, subject string) {
	w.Helper()
	_, err := w.Server.Deliver(w.Context(), []byte("From: "+from+"\r\nTo: "+sample.Owner+"\r\nSubject: "+subject+
		"\r\nMessage-ID: <"+strings.ReplaceAll(subject, " ", "-")+"@example.org>\r\n\r\nHello\r\n"))
	require.NoError(w, err)
	accounts, err := w.Mail.Accounts(w.Context())
	require.NoError(w, err)
	_, err = w.Queue.Enqueue(w.Context(), gmail.NewHistorySyncJob(accounts[0].ID, 0))
	require.NoError(w, err)
	require.NoError(w, w.RunJobs(w.Context()))
}
