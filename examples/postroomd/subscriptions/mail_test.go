package subscriptions_test

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A draft that a person deletes or changes before the mail is sent ends the action, and says so. It is not the message
// of the list that is gone then.
func TestADraftThatAPersonTouches(t *testing.T) {
	w := newWorld(t, "", unchanged)
	var ids []string
	for _, name := range []string{"news", "mail"} {
		w.send(name, 1, "List-Unsubscribe: <mailto:leave@shop.example?subject=bye>\r\n")
		w.work()
		of, err := w.Mail.NewestFrom(t.Context(), w.account.ID, name+"@shop.example", time.Time{}, 1)
		require.NoError(t, err)
		ids = append(ids, of...)
	}
	google, err := w.gmail.Service(t.Context())
	require.NoError(t, err)
	drafts := google.Users.Drafts
	soon, err := outbox.NewDrafts(outbox.DraftsConfig{Store: w.Mail, Clients: w.Clients, Settle: time.Millisecond})
	require.NoError(t, err)
	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: w.Mail, DB: w.DB, Drafts: soon})
	require.NoError(t, err)
	handle := leaver.Kind().Handler
	for says, touch := range map[string]func(id string){
		"was deleted": func(id string) { require.NoError(t, drafts.Delete("me", id).Do()) },
		"has changed": func(id string) {
			raw := base64.URLEncoding.EncodeToString([]byte("To: all@shop.example\r\nSubject: bye\r\n\r\nHello.\r\n"))
			_, err := drafts.Update("me", id, &gmail.Draft{Message: &gmail.Message{Raw: raw}}).Do()
			require.NoError(t, err)
		},
	} {
		message := ids[0]
		ids = ids[1:]
		a := postroom.Action{ID: says, AccountID: w.account.ID, MessageID: message,
			Parameters: postroom.Parameters{unsubscribe.ParamWay: "mail", unsubscribe.ParamTo: "leave@shop.example"}}
		w.gmail.Fault(gmailtest.Fault{Method: gmailtest.DraftsSend, Status: 429, Times: 20})
		_, err = handle(t.Context(), nil, a)
		require.Error(t, err)
		w.gmail.ClearFaults()
		list, err := drafts.List("me").Do()
		require.NoError(t, err)
		touch(list.Drafts[0].Id)
		for range 500 { // that it was not sent is known a little later
			if _, err = handle(t.Context(), nil, a); gmailapi.ClassOf(err) != gmailapi.ClassUnclear {
				break
			}
		}
		require.ErrorContains(t, err, says)
		require.Equal(t, queue.Fatal(errors.Unwrap(err)), err)
		require.NotEqual(t, gmailapi.ClassGone, gmailapi.ClassOf(err))
		require.Zero(t, w.found("in:sent"))
	}
}

// A list that was left is not left again while nothing has come since. What waits for an approval is no list of the
// day, and a rule of some hours blocks nothing.
func TestWhatIsLeftIsNotLeftAgain(t *testing.T) {
	each(t, func(c *config.Config) { c.Lists.PerDay = 2 }, func(w *world) {
		w.send("news", 5, w.oneClick("/news"))
		w.send("other", 5, w.oneClick("/other"))
		w.send("third", 5, w.oneClick("/third"))
		w.work()
		w.record("third")
		w.leave("news@shop.example")
		p := w.plan("news@shop.example", "other@shop.example", "third@shop.example")
		require.Equal(w, 1, p.Count, "there is room for one")
		require.Contains(w, p.NotLeft[0].Why, "it was left already")
		require.Contains(w, p.NotLeft[1].Why, "waits for your approval")
		w.send("news", 1, w.oneClick("/news"))
		w.work()
		require.Equal(w, 1, w.plan("news@shop.example").Count)

		rule := rules.NewRule("By night", rules.Condition{Type: rules.SenderEmail, Value: "other@shop.example"},
			postroom.Archive, nil)
		rule.Schedule = rules.Schedule{Times: []string{"22:00-06:00"}}
		require.NoError(w, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := w.Rules.Create(ctx, tx, rule)
			return err
		}))
		senders, _ := w.suggested()
		require.Equal(w, []string{"other@shop.example"}, senders)
	})
}

// record records a decision of a host to leave the list of the newest message of a sender of shop.example.
func (w *world) record(name string) (a postroom.Action) {
	w.Helper()
	ids, err := w.Mail.NewestFrom(w.Context(), w.account.ID, name+"@shop.example", time.Time{}, 1)
	require.NoError(w, err)
	m, err := w.Mail.Message(w.Context(), w.account.ID, ids[0])
	require.NoError(w, err)
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		a, err = w.Ledger.Record(ctx, m, postroom.Decision{Action: unsubscribe.ActionType, Confidence: 1,
			Source: postroom.SourceHost, Parameters: postroom.Parameters{}, Key: "k", Rationale: "a host"})(ctx, tx)
		return err
	}))
	return a
}

// What was left is forgotten after the actions of a mailbox are at their end, not before: without the first the second
// is not done.
func TestWhatWasLeftIsForgottenLast(t *testing.T) {
	w := newWorld(t, "", unchanged)
	w.send("news", 1, w.oneClick("/news"))
	w.work()
	w.leave("news@shop.example")
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE unsubscriptions SET account_id = 'gone'")
		return err
	}))
	require.Error(t, w.RemoveAccount(t.Context(), "gone", "ada"))
	records, err := w.Lists.Records(t.Context(), "gone", 10)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE unsubscriptions SET account_id = $1", w.account.ID)
		return err
	}))
	require.NoError(t, w.RemoveAccount(t.Context(), w.account.ID, "ada"))
	records, err = w.Lists.Records(t.Context(), w.account.ID, 10)
	require.NoError(t, err)
	require.Empty(t, records)
}
