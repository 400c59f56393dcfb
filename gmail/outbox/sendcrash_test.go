package outbox_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// TestSendWhereverTheProcessDies: the message arrives once, and the ledger says so.
func TestSendWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		server, err := gmailtest.Open(t.Context(), gmailtest.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Close()) })
		ann, err := server.Account(t.Context(), "ann@example.com")
		require.NoError(t, err)
		letter, err := server.Deliver(t.Context(), []byte(worldtest.Question))
		require.NoError(t, err)

		db := q.DB()
		require.NoError(t, mailstore.Migrate(t.Context(), db))
		store, err := mailstore.New(mailstore.Config{DB: db})
		require.NoError(t, err)
		require.NoError(t, worldtest.MakeActions(t.Context(), db))
		ledger := &worldtest.Ledger{DB: db}
		a := postroom.Action{ID: uuid.NewString(), State: postroom.ActionQueued, Type: postroom.AutoReply,
			Parameters: postroom.Parameters{"body": "Yes."}}
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
			if a.AccountID, err = store.EnsureAccount(ctx, tx, server.Email(), time.Time{}); err != nil {
				return err
			}
			m := &postroom.Message{
				AccountID: a.AccountID, ProviderID: letter.ID, ProviderThreadID: letter.ThreadID, MessageID: "q@example.com",
				From: postroom.Address{Email: "ann@example.com"}, To: []postroom.Address{{Email: server.Email()}}, Subject: "Tea?",
			}
			if _, err := store.SaveMessage(ctx, tx, m, 1); err != nil {
				return err
			}
			a.MessageID = m.ID
			return ledger.Put(ctx, tx, a)
		}))
		_, err = q.Enqueue(t.Context(), gmail.NewActionJob(a.AccountID, a.ID))
		require.NoError(t, err)
		return queuetest.Scenario{
			Register: func(d *queue.Dispatcher) {
				client := markedClient(t, server.URL())
				clients := gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil })
				outbox, err := outbox.New(outbox.Config{Store: store, Clients: clients, Ledger: ledger, Settle: time.Millisecond})
				require.NoError(t, err)
				require.NoError(t, gmail.Register(d, gmail.Config{Store: store, Clients: clients, Ledger: ledger, Outbox: outbox}))
			},
			Outside: func() []string { return []string{arrived(t, ann), done(t, ledger, a.ID)} },
			Ignore: []string{
				"unindexed_messages.received", "message_labels.at",
				"outbound_messages", // ids of Gmail's, and hashes of them
				"test_actions",
			},
		}
	})
}

// markedClient makes the client of one process, whose requests are calls to the outside.
func markedClient(t testing.TB, url string) *gmailapi.Client {
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"})
	base := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(base.CloseIdleConnections)
	client, err := gmailapi.NewClient(gmailapi.ClientConfig{
		HTTPClient: &http.Client{Transport: &oauth2.Transport{Source: token, Base: queuetest.Transport(base)}},
		Endpoint:   url, Limits: gmailapi.Limits{Unlimited: true}, Timeout: 2 * time.Second,
	})
	require.NoError(t, err)
	return client
}

// arrived says how many messages a mailbox has.
func arrived(t testing.TB, account *gmailtest.Account) string {
	n, err := account.Count(context.Background())
	require.NoError(t, err)
	return fmt.Sprint("messages that arrived: ", n)
}

func done(t testing.TB, ledger *worldtest.Ledger, id string) string {
	a, err := ledger.Action(context.Background(), id)
	require.NoError(t, err)
	return fmt.Sprint("action: ", a.State, a.Error, a.UndoHint != nil && a.UndoHint.SentMessageID != "")
}
