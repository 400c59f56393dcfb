package auth_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// From the sign-in to mail, through a grant that is revoked, to the mail that came meanwhile: the program runs on.
func TestAccountThatLosesItsGrant(t *testing.T) {
	w := newWorld(t, gmailtest.Config{})
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, mailstore.Migrate(t.Context(), db))
	store, err := mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	clients, err := gmail.NewClients(gmail.AccountClientsConfig{
		Store: store, Endpoint: w.server.URL(), Limits: gmailapi.Limits{Unlimited: true},
		HTTPClient: func(_ context.Context, account mailstore.Account) (*http.Client, error) {
			source, err := auth.NewSource(auth.SourceConfig{App: w.app, Tokens: w.tokens, Email: account.Email,
				Transport: w.base})
			if err != nil {
				return nil, err
			}
			return source.HTTPClient(), nil
		},
	})
	require.NoError(t, err)
	told := 0
	run := func(jobs ...queue.NewJob) {
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
		require.NoError(t, err)
		require.NoError(t, gmail.Register(d, gmail.Config{
			Store: store, Clients: clients,
			OnReauthorize: func(context.Context, queue.Tx, mailstore.Account, error) error { told++; return nil },
		}))
		_, err = q.EnqueueMany(t.Context(), jobs)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		require.NoError(t, d.RunUntilIdle(ctx))
		require.NoError(t, ctx.Err(), "still not idle")
	}
	deliver := func() {
		_, err := w.server.Deliver(t.Context(), []byte("From: ann@example.com\r\nSubject: Tea?\r\n\r\nAt five.\r\n"))
		require.NoError(t, err)
	}
	var id string
	signIn := func() {
		grant := w.login()
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
			if id, err = store.EnsureAccount(ctx, tx, grant.Email, time.Time{}); err != nil {
				return err
			}
			return store.Resume(ctx, tx, q, id)
		}))
	}
	messages := func() int {
		n, err := store.CountMessages(t.Context(), id)
		require.NoError(t, err)
		return n
	}

	signIn()
	deliver()
	run(gmail.NewBackfillJob(id, "", ""))
	require.Equal(t, 1, messages())

	require.NoError(t, w.owner().RevokeGrants(t.Context()))
	deliver()
	run(gmail.NewHistorySyncJob(id, 0), gmail.NewLabelsSyncJob(id))
	require.Equal(t, 1, told)
	account, err := store.Account(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, mailstore.AccountReauthorize, account.State)
	require.Equal(t, 1, messages())

	signIn()
	run()
	require.Equal(t, 2, messages())
	require.Equal(t, 1, told)
	failed, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateFailed, queue.StateQueued}})
	require.NoError(t, err)
	require.Empty(t, failed)
}
