package outbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
)

const nameless = "From: zoe@example.com\r\nTo: ada@example.org\r\nSubject: Tea\r\nMessage-ID: <two@example.com>\r\n\r\n" +
	"At five?\r\n"

// The variables of an answer are filled when it is composed; one that is not known keeps it from being sent.
func TestAnAnswerIsFilled(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		message, _ := w.letter(nameless)
		_, err := w.cfg.Outbox.Preview(t.Context(), w.waiting(worldtest.Reply(message, "Dear {{first_name}}")))
		require.Equal(t, gmailapi.ClassRefused, gmailapi.ClassOf(err), "%v", err)
		require.ErrorContains(t, err, "the text has {{first_name}}, which is not known of this message")

		a := w.waiting(worldtest.Reply(message, "Dear {{first_name|all}}: {{subject}}"))
		preview, err := w.cfg.Outbox.Preview(t.Context(), a)
		require.NoError(t, err)
		require.Equal(t, "Dear all: Tea", preview.Note)
		require.Equal(t, "Dear {{first_name|all}}: {{subject}}", w.action(a.ID).Parameters["body"])

		r, err := outbox.NewRefusals(outbox.RefusalsConfig{Store: w.cfg.Store})
		require.NoError(t, err)
		msg, err := w.cfg.Store.Message(t.Context(), w.account, message)
		require.NoError(t, err)
		why, _ := w.refusal(r, worldtest.Reply(message, "{{first_name}}"), msg)
		require.Contains(t, why, "{{first_name}}", "it is known when the action is decided")
		why, _ = w.refusal(r, worldtest.Reply(message, "{{own_name}}"), msg)
		require.Empty(t, why, "Gmail knows the name")
	})
}

// An alias without a name of its own has that of the mailbox.
func TestAnAliasHasTheNameOfTheMailbox(t *testing.T) {
	w := newWorld(t)
	sendAs, own := w.google.Users.Settings.SendAs, w.server.Email()
	alias := "team" + own[strings.IndexByte(own, '@'):]
	_, err := sendAs.Create("me", &gmail.SendAs{SendAsEmail: alias}).Do()
	require.NoError(t, err)
	message, _ := w.letter(strings.Replace(nameless, "ada@example.org", alias, 1))
	a := w.waiting(worldtest.Reply(message, "Yours, {{own_name}}"))
	_, err = w.cfg.Outbox.Preview(t.Context(), a)
	require.ErrorContains(t, err, "{{own_name}}, which is not known")
	_, err = sendAs.Patch("me", own, &gmail.SendAs{DisplayName: "Ada"}).Do()
	require.NoError(t, err)
	preview, err := w.cfg.Outbox.Preview(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, "Yours, Ada", preview.Note)
	require.Equal(t, alias, preview.Message.From[0].Email)
}

func TestADraftHasWhatIsNotKnownMarked(t *testing.T) {
	w := newWorld(t)
	d := w.drafts(0)
	create := func(raw, key string) string {
		message, _ := w.letter(raw)
		_, err := d.Create(t.Context(), w.account, key, outbox.DraftContent{Answers: message, Fill: true,
			Text: "Dear {{first_name}}, about {{subject}}"})
		require.NoError(t, err)
		_, made, err := d.Read(t.Context(), w.account, key)
		require.NoError(t, err)
		return made.Text
	}
	require.Equal(t, "Dear [check: the first name of the sender], about Tea", create(nameless, "nameless"))
	html := postroom.Parameters{"body_html": "<p>{{subject}}</p>"}
	message, _ := w.letter("Subject: <b>Tea</b>\r\nFrom: zoe@example.com\r\nTo: ada@example.org\r\n" +
		"Message-ID: <three@example.com>\r\n\r\nAt five?\r\n")
	a := worldtest.Reply(message, "")
	a.Parameters = html
	preview, err := w.cfg.Outbox.Preview(t.Context(), w.waiting(a))
	require.NoError(t, err)
	require.Contains(t, preview.Message.HTML, "<p>&lt;b&gt;Tea&lt;/b&gt;</p>", "a subject is no HTML")
}
