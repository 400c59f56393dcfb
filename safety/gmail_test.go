package safety_test

import (
	"context"
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
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/safety"
)

var _ safety.Refusals = (*outbox.Refusals)(nil)

// A mailbox is a Gmail with two messages, and a ledger whose actions are carried out there.
type mailbox struct {
	*testing.T
	db       queue.DB
	server   *gmailtest.Server
	queue    *queue.Queue
	ledger   *safety.Ledger
	gmail    gmail.Config
	messages [2]*postroom.Message
}

func newMailbox(t *testing.T, db queue.DB) *mailbox {
	m := &mailbox{T: t, db: db, server: gmailtest.NewServer(t)}
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, safety.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	store, err := mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	m.queue, err = queue.New(db, nil)
	require.NoError(t, err)
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: outbox.Kinds()})
	require.NoError(t, err)
	m.ledger, err = safety.NewLedger(
		safety.Config{DB: db, Kinds: kinds, Execute: func(ctx context.Context, tx queue.Tx, a postroom.Action) error {
			_, err := m.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
			return err
		}})
	require.NoError(t, err)
	client, err := gmailapi.NewClient(gmailapi.ClientConfig{
		Endpoint: m.server.URL(), Limits: gmailapi.Limits{Unlimited: true},
		HTTPClient: &http.Client{Transport: &oauth2.Transport{
			Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"}), Base: &http.Transport{DisableKeepAlives: true},
		}},
	})
	require.NoError(t, err)
	m.gmail = gmail.Config{
		Store: store, Ledger: m.ledger, Kinds: kinds,
		Clients: gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil }),
	}
	m.gmail.Outbox, err = outbox.New(outbox.Config{Store: store, Clients: m.gmail.Clients, Ledger: m.ledger,
		Settle: time.Millisecond})
	require.NoError(t, err)
	var account string
	m.write(func(ctx context.Context, tx queue.Tx) (err error) {
		account, err = store.EnsureAccount(ctx, tx, m.server.Email(), time.Time{})
		return err
	})
	for i, subject := range []string{"Offer", "From the bank"} {
		delivered, err := m.server.Deliver(t.Context(), []byte("From: a@example.com\nSubject: "+subject+"\n\nHello.\n"))
		require.NoError(t, err)
		_, err = m.queue.Enqueue(t.Context(), gmail.NewIngestJob(account, delivered.ID))
		require.NoError(t, err)
		m.run()
		own, err := store.MessageID(t.Context(), account, delivered.ID)
		require.NoError(t, err)
		m.messages[i], err = store.Message(t.Context(), account, own)
		require.NoError(t, err)
	}
	return m
}

func (m *mailbox) write(fn func(ctx context.Context, tx queue.Tx) error) {
	require.NoError(m, m.db.Write(m.Context(), fn))
}

func (m *mailbox) run() {
	d, err := queue.NewDispatcher(m.queue, nil)
	require.NoError(m, err)
	require.NoError(m, gmail.Register(d, m.gmail))
	require.NoError(m, d.RunUntilIdle(m.Context()))
}

// deletion is the first message's, wanted by a model at the time.
func (m *mailbox) deletion(at time.Time) (id string) {
	m.write(func(ctx context.Context, tx queue.Tx) error {
		a, err := m.ledger.Record(ctx, m.messages[0], postroom.Decision{
			Action: postroom.Delete, Confidence: 1, Rationale: "an offer", Source: postroom.SourceModel, Key: uuid.NewString(),
		})(ctx, driver.NewWriteTx(tx, m.db.Dialect(), at))
		id = a.ID
		return err
	})
	return id
}

func (m *mailbox) approve(id string, at time.Time) {
	m.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := m.ledger.Approve(ctx, driver.NewWriteTx(tx, m.db.Dialect(), at), id, "ann")
		return err
	})
}

func (m *mailbox) left() int {
	n, err := m.server.Count(m.Context())
	require.NoError(m, err)
	return n
}

func (m *mailbox) state(id string) postroom.ActionState {
	a, err := m.ledger.Action(m.Context(), id)
	require.NoError(m, err)
	return a.State
}

// TestAnAlteredApprovalDeletesNothing: the action is made that of another message, or another account, after it was
// approved.
func TestAnAlteredApprovalDeletesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		m := newMailbox(t, db)
		for _, alter := range []string{
			`UPDATE actions SET message_id = '` + m.messages[1].ID + `' WHERE id = $1`,
			`UPDATE actions SET account_id = 'another' WHERE id = $1`,
		} {
			id := m.deletion(time.Now())
			m.approve(id, time.Now())
			m.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, alter, id)
				return err
			})
			m.run()
			require.Equal(t, postroom.ActionFailed, m.state(id))
			require.Equal(t, 2, m.left())
		}
	})
}

// TestALateApprovalIsAskedForAgain, and the second approval finds a job that carries it out.
func TestALateApprovalIsAskedForAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		const day = 24 * time.Hour
		m := newMailbox(t, db)
		id := m.deletion(time.Now().Add(-9 * day))
		m.approve(id, time.Now().Add(-8*day))
		m.run()
		require.Equal(t, postroom.ActionPendingApproval, m.state(id))
		require.Equal(t, 2, m.left())
		m.approve(id, time.Now())
		m.run()
		require.Equal(t, postroom.ActionCompleted, m.state(id))
		require.Equal(t, 1, m.left())
	})
}
