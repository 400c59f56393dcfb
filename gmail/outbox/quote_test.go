package outbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/reply"
)

// A draft is signed and quotes as Gmail does, and what is read of it is what was previewed.
func TestDraftIsSignedAndQuotes(t *testing.T) {
	w := newWorld(t)
	_, err := w.google.Users.Settings.SendAs.Patch("me", "you@example.com",
		&api.SendAs{Signature: "<b>You</b><br>Baker &amp; Sons"}).Do()
	require.NoError(t, err)
	d := w.drafts(0)
	message, _ := w.letter(worldtest.Question)
	content := outbox.DraftContent{Answers: message, Text: "Yes <please>.\n\nAt five.\n", Sign: true, Quote: true}
	raw, err := d.Preview(t.Context(), w.account, "k", content)
	require.NoError(t, err)
	require.Zero(t, w.countDrafts())
	previewed, err := mime.ParseBytes(raw, nil)
	require.NoError(t, err)
	_, err = d.Create(t.Context(), w.account, "k", content)
	require.NoError(t, err)
	draft, read, err := d.Read(t.Context(), w.account, "k")
	require.NoError(t, err)
	require.Equal(t, outbox.DraftOpen, draft.State)
	require.Equal(t, "Yes <please>.\n\nAt five.\n\n-- \nYou\nBaker & Sons\n\n"+
		"On Sat, Mar 7, 2026 at 12:00 PM Zoë <ann@example.com> wrote:\n\n> At five?\n", read.Text)
	require.Contains(t, read.HTML, "Yes &lt;please&gt;.<br>\n<br>\nAt five.")
	require.Contains(t, read.HTML, `<div dir="ltr" class="gmail_signature"><b>You</b>`)
	require.Equal(t, []any{previewed.Text, previewed.HTML, previewed.Subject, previewed.To},
		[]any{read.Text, read.HTML, read.Subject, read.To})
	for _, passages := range []reply.Passages{reply.Split(read.Text), reply.SplitHTML(read.HTML)} {
		require.Equal(t, "Yes <please>.\n\nAt five.", strings.TrimSpace(passages.Written()))
	}

	w.deleteDraft(draft.ID)
	_, _, err = d.Read(t.Context(), w.account, "k")
	require.Equal(t, gmailapi.ClassUnclear, gmailapi.ClassOf(err), "it may have been sent")
}
