package drafting_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/mime"
)

// deliver puts a message into the inbox.
func (w *world) deliver(raw string) (id string) {
	w.t.Helper()
	m, err := w.server.Deliver(w.t.Context(), []byte(raw))
	require.NoError(w.t, err)
	w.sync()
	return m.ID
}

func emails(list []mime.Address) (emails []string) {
	for _, a := range list {
		emails = append(emails, a.Email)
	}
	return emails
}

// A copy for everybody whom the message went to needs a sentence of the person's, in the draft or elsewhere. Who gets
// the draft anyway is left out, and so are the person's own addresses.
func TestEverybodyOnlyIfAsked(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		id := w.deliver(strings.Replace(fmt.Sprintf(question, 1), "To: You <you@example.com>",
			"Reply-To: Desk <desk@example.com>\r\nTo: You <you@example.com>, Bob <bob@example.com>, desk@example.com\r\n"+
				"Cc: BOB@example.com, Carl <carl@example.org>, you+tea@example.com, undisclosed-recipients:;", 1))
		w.label(needsResponse, id)
		w.sync()
		d := w.oneDraft()
		require.Equal(t, []string{"desk@example.com"}, emails(d.To))
		require.Empty(t, d.Cc)
		word := drafting.Word{AccountID: w.account, ThreadID: w.requests()[0].Message.ProviderThreadID, By: "ada"}
		for _, no := range []string{"Do not reply all.", "Reply to all of the questions."} {
			word.Turn = 0
			require.NoError(t, w.say(word, no))
			w.sync()
			require.Empty(t, w.oneDraft().Cc, no)
		}
		require.NoError(t, w.say(word, "Shorter.\nReply all"))
		w.sync()
		d = w.oneDraft()
		require.Equal(t, []string{"desk@example.com"}, emails(d.To))
		require.Equal(t, []string{"bob@example.com", "carl@example.org"}, emails(d.Cc))
		asked := w.requests()
		require.Equal(t, []string{"desk@example.com"}, asked[0].Recipients)
		require.Equal(t, []string{"desk@example.com", "bob@example.com", "carl@example.org"}, asked[len(asked)-1].Recipients)
	})
}

// Reply-all may be said in several ways, each as a sentence of its own.
func TestHowEverybodyIsAskedFor(t *testing.T) {
	for _, said := range []string{"reply all", "Reply-all, and shorter", "Please reply to all.",
		"Yes; reply to everybody!", "Reply to everyone", "Thanks.\nplease reply all\nand be brief"} {
		t.Run(said, func(t *testing.T) {
			w := newWorld(t, dbSQLite(t))
			id := w.deliver(strings.Replace(fmt.Sprintf(question, 1), "To: You", "Cc: bob@example.com\r\nTo: You", 1))
			w.label(needsResponse, id)
			w.sync()
			w.edit(w.oneDraft(), func(text string) string { return said + "\n---\n" + text })
			w.label(rework, id)
			w.sync()
			require.Equal(t, []string{"bob@example.com"}, emails(w.oneDraft().Cc))
		})
	}
}

// The draft comes from the address that the message was sent to, with the signature of that address.
func TestADraftIsSignedByTheAddressThatWasWrittenTo(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	_, err := w.google.Users.Settings.SendAs.Create("me", &api.SendAs{SendAsEmail: "desk@example.com",
		Signature: "The <b>desk</b>"}).Do()
	require.NoError(t, err)
	_, err = w.google.Users.Settings.SendAs.Patch("me", "you@example.com", &api.SendAs{Signature: "Ada"}).Do()
	require.NoError(t, err)
	for to, want := range map[string]string{"desk@example.com": "-- \nThe desk\n", "you@example.com": "-- \nAda\n"} {
		id := w.deliver("From: ann@example.com\r\nTo: " + to + "\r\nSubject: Tea " + to + "\r\nMessage-ID: <" + to +
			">\r\nDate: Sat, 07 Mar 2026 12:00:00 +0000\r\n\r\nAt five?\r\n")
		w.label(needsResponse, id)
		w.sync()
		d := w.draftsAt("subject:" + to)
		require.Len(t, d, 1)
		require.Equal(t, []string{to}, emails(d[0].From))
		require.Contains(t, d[0].Text, want)
	}
}
