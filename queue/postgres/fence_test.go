package postgres_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A fenced is a queue behind a proxy that counts round trips, with a table of notes.
type fenced struct {
	db    *postgres.DB
	q     *queue.Queue
	proxy *slowProxy
}

func newFenced(t *testing.T) *fenced {
	t.Helper()
	dsn, err := url.Parse(dbtest.MigratedDSN(t))
	require.NoError(t, err)
	f := &fenced{proxy: startSlowProxy(t, dsn.Host, 0)}
	dsn.Host = f.proxy.listener.Addr().String()
	f.db, err = postgres.Open(t.Context(), dsn.String(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), f.db))
	_, err = f.db.Reader().ExecContext(t.Context(), "CREATE TABLE notes (text TEXT PRIMARY KEY)")
	require.NoError(t, err)
	f.q, err = queue.New(f.db, nil)
	require.NoError(t, err)
	return f
}

// work has a dispatcher with one worker run handler for so many jobs.
func (f *fenced) work(t *testing.T, jobs int, handler func(ctx context.Context, w *queue.Work[int]) error) {
	t.Helper()
	batch := make([]queue.NewJob, jobs)
	for i := range batch {
		batch[i] = count.New(i, &queue.Options{MaxAttempts: 1})
	}
	_, err := f.q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)
	d, err := queue.NewDispatcher(f.q, &queue.DispatcherConfig{Workers: 1})
	require.NoError(t, err)
	queue.Handle(d, count, handler)
	require.NoError(t, d.RunUntilIdle(t.Context()))
}

func (f *fenced) notes(t *testing.T) (notes []string) {
	t.Helper()
	require.NoError(t, f.db.Reader().SelectContext(t.Context(), &notes, "SELECT text FROM notes ORDER BY text"))
	return notes
}

func note(ctx context.Context, tx queue.Tx, text string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO notes (text) VALUES ($1)", text)
	return err
}

// The lease is checked with the handler's first statement: a row and the end of the job are two round trips, as a row
// alone is in a transaction of its own, and the end of a job is one.
func TestAHandlersTransactionTakesTwoRoundTrips(t *testing.T) {
	f := newFenced(t)
	trips := make(map[string]int64)
	f.work(t, 12, func(ctx context.Context, w *queue.Work[int]) error {
		writes := func(ctx context.Context, tx queue.Tx) error { return note(ctx, tx, w.Job.ID+ctx.Value(t).(string)) }
		measure := func(name string, fn func(ctx context.Context) error) {
			before := f.proxy.trips.Load()
			require.NoError(t, fn(context.WithValue(ctx, t, name)))
			// Statements are prepared at first, and the dispatcher sends something, too: the least is what it takes.
			took := f.proxy.trips.Load() - before
			if least, ok := trips[name]; !ok || took < least {
				trips[name] = took
			}
		}
		measure("write", func(ctx context.Context) error { return w.Write(ctx, writes) })
		measure("check", func(ctx context.Context) error {
			return w.Write(ctx, func(context.Context, queue.Tx) error { return nil })
		})
		if w.Payload%2 == 1 {
			measure("complete", func(ctx context.Context) error { return w.Complete(ctx, nil) })
		} else {
			measure("complete and write", func(ctx context.Context) error { return w.Complete(ctx, writes) })
		}
		return nil
	})
	require.Equal(t, map[string]int64{"check": 1, "complete": 1, "write": 2, "complete and write": 2}, trips)
}

// A handler whose job was canceled writes nothing, whether it writes first or not at all, and learns of it where it
// writes.
func TestAStaleAttemptWritesNothing(t *testing.T) {
	f := newFenced(t)
	f.work(t, 4, func(ctx context.Context, w *queue.Work[int]) error {
		require.NoError(t, f.q.Cancel(context.WithoutCancel(ctx), w.Job.ID))
		ctx = context.WithoutCancel(ctx)
		writes := func(ctx context.Context, tx queue.Tx) error {
			err := note(ctx, tx, "stale")
			require.ErrorIs(t, err, queue.ErrNotRunning)
			return err
		}
		nothing := func(context.Context, queue.Tx) error { return nil }
		enqueues := func(ctx context.Context, tx queue.Tx) error {
			_, err := f.q.EnqueueTx(ctx, tx, count.New(99, nil))
			return err
		}
		swallows := func(ctx context.Context, tx queue.Tx) error {
			require.Error(t, note(ctx, tx, "stale"))
			return nil
		}
		fn := []func(context.Context, queue.Tx) error{writes, nothing, enqueues, swallows}[w.Payload]
		for op, err := range map[string]error{"write": w.Write(ctx, fn), "complete": w.Complete(ctx, fn)} {
			require.ErrorIs(t, err, queue.ErrNotRunning)
			var named *queue.Error
			require.ErrorAs(t, err, &named)
			require.Equal(t, op, named.Op)
			require.Equal(t, w.Job.ID, named.JobID)
		}
		return nil
	})
	require.Empty(t, f.notes(t))
	counts, err := f.q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, map[queue.State]int{queue.StateCanceled: 4}, counts)
}

// The error of a statement that is sent with the check is the statement's own, and a transaction that goes on without
// regard to it commits nothing.
func TestAFailingFirstStatementTellsItsOwnError(t *testing.T) {
	f := newFenced(t)
	require.NoError(t, f.db.Write(t.Context(),
		func(ctx context.Context, tx queue.Tx) error { return note(ctx, tx, "taken") }))
	f.work(t, 3, func(ctx context.Context, w *queue.Work[int]) error {
		statement := []string{"INSERT INTO notes (text) VALUES ($1)", "INSERT INTO nowhere (text) VALUES ($1)",
			"INSERT INTO notes (text) VALUES ($1::int)"}[w.Payload]
		code := []string{"23505", "42P01", "22P02"}[w.Payload]
		for _, swallow := range []bool{false, true} {
			require.Error(t, w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, statement, "taken")
				var refused *pgconn.PgError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, code, refused.Code)
				if swallow {
					return nil
				}
				return err
			}))
		}
		return nil
	})
	require.Equal(t, []string{"taken"}, f.notes(t))
}
