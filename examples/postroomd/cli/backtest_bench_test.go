package cli

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
)

// storeCopies fills a store with n messages: those of the sample, over and over.
func storeCopies(tb testing.TB, store *mailstore.Store, db queue.DB, n int) (accountID string) {
	tb.Helper()
	write := func(fn func(ctx context.Context, tx queue.Tx) error) {
		require.NoError(tb, db.Write(tb.Context(), fn))
	}
	write(func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = store.EnsureAccount(ctx, tx, "me@example.org", time.Time{})
		return err
	})
	next, stop := iter.Pull2(copies{letters: sampleLetters(tb), n: n}.Messages())
	defer stop()
	for more := true; more; {
		write(func(ctx context.Context, tx queue.Tx) error {
			for range 1000 {
				m, err, ok := next()
				if more = ok; !ok || err != nil {
					return err
				}
				parsed, err := mime.ParseBytes(m.Raw, nil)
				if err != nil {
					return err
				}
				msg := rules.MessageOf(parsed)
				msg.AccountID, msg.ProviderID, msg.ProviderThreadID, msg.ReceivedAt = accountID, m.Name, m.Name, m.Received
				if _, err := store.SaveMessage(ctx, tx, msg, 1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return accountID
}

// BenchmarkBacktest tries the sample's rules, compared with themselves, on 100,000 stored messages:
//
//	go test ./examples/postroomd -run '^$' -bench Backtest -benchtime 1x
func BenchmarkBacktest(b *testing.B) {
	const messages = 100_000
	db := dbtest.SQLite(b)
	require.NoError(b, mailstore.Migrate(b.Context(), db))
	store, err := mailstore.New(mailstore.Config{DB: db})
	require.NoError(b, err)
	account := storeCopies(b, store, db, messages)
	file, err := environment.ReadRulesFile("../config/rules.yaml")
	require.NoError(b, err)
	cfg := backtest.Config{Rules: file.Rules, Against: file.Rules, Kinds: environment.Kinds}
	for b.Loop() {
		result, err := backtest.Run(b.Context(), cfg, store.AllMessages(b.Context(), account, mailstore.MessageRange{}))
		require.NoError(b, err)
		require.Equal(b, messages, result.Messages)
		b.ReportMetric(float64(messages)/result.Took.Seconds(), "messages/s")
	}
}
