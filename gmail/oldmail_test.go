package gmail

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// TestMailFromBeforeTheAccountIsNotDecidedAbout: it is stored, however it is found, and nobody is asked about it.
func TestMailFromBeforeTheAccountIsNotDecidedAbout(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		old := w.arriveMany(3)
		write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
			_, err := w.store.EnsureAccount(ctx, tx, w.server.Email(), time.Now())
			require.NoError(t, err)
			require.Zero(t, w.state().DecideSince, "an account that is there is as it was")
			_, err = tx.ExecContext(ctx, "UPDATE accounts SET decide_since = $1", time.Now().UTC().Format(sqlTime))
			return err
		})
		w.run(NewBackfillJob(w.account, "", ""))
		require.Empty(t, w.seen)
		for _, id := range old {
			require.NotEmpty(t, w.ours(id), "the message is stored")
		}
		fresh := w.arrive(plainMail, "INBOX")
		w.run(NewHistorySyncJob(w.account, 0))
		require.Equal(t, []string{fresh}, w.seen)

		missed := w.arrive(plainMail, "INBOX")
		require.NoError(t, w.server.ForgetHistory(t.Context()))
		w.run(NewHistorySyncJob(w.account, 0))
		require.Equal(t, []string{fresh, missed}, w.seen, "what came while the history was lost is new")
	})
}

// The clock of this machine is fast: what Gmail receives from its first answer on is new all the same.
func TestAFastClockLeavesNoNewMailAlone(t *testing.T) {
	first := map[string]func(account string) queue.NewJob{
		"backfill": func(account string) queue.NewJob { return NewBackfillJob(account, "", "") },
		"sync":     func(account string) queue.NewJob { return NewHistorySyncJob(account, 0) },
	}
	for name, job := range first {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, "UPDATE accounts SET decide_since = $1",
						time.Now().Add(time.Hour).UTC().Format(sqlTime))
					return err
				})
				w.run(job(w.account))
				require.WithinDuration(t, time.Now(), w.state().DecideSince, time.Minute)
				fresh := w.arrive(plainMail, "INBOX")
				w.run(NewHistorySyncJob(w.account, 0))
				require.Equal(t, []string{fresh}, w.seen)
			})
		})
	}
}

const sqlTime = "2006-01-02T15:04:05.000000Z"
