package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// refuseBad has the database refuse the jobs of a type, as it refuses what breaks a constraint.
func refuseBad(t *testing.T, db *sqlite.DB) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		_, err := tx.ExecContext(ctx, `
CREATE TRIGGER refuse_bad BEFORE INSERT ON jobs WHEN NEW.type = 'bad' BEGIN
  SELECT RAISE(ABORT, 'no bad jobs');
END`)
		return err
	}))
}

// Jobs that wait for the writer together become rows of one statement. One that the database refuses fails its own
// caller and nobody else, whoever stands before or behind it.
func TestJobsThatAreInsertedTogetherFailApart(t *testing.T) {
	const callers = 60
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, &sqlite.Config{SingleProcess: true})
		q := trapQueue(t, db)
		refuseBad(t, db)
		createNotes(t, db)
		woken := make(chan struct{}, callers)
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = db.Driver().Listen(ctx, func() { woken <- struct{}{} }) }()
		<-woken
		release := hold(t, db)
		var wg sync.WaitGroup
		var refused, written atomic.Int64
		for i := range callers {
			wg.Go(func() {
				switch i % 4 {
				case 0: // several, of which one is bad
					_, err := q.EnqueueMany(t.Context(), []queue.NewJob{{Type: "good", Payload: i},
						{Type: "bad", Payload: i}})
					if err == nil || !errors.As(err, new(*queue.Error)) {
						t.Errorf("%v", err)
					}
					refused.Add(1)
				case 1:
					if err := db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
						_, err := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES ($1)", i)
						return err
					}); err != nil {
						t.Error(err)
					}
				default:
					result, err := q.Enqueue(t.Context(),
						queue.Type[int]("good").New(i, &queue.Options{Priority: i, UserID: fmt.Sprint("u", i)}))
					if err != nil {
						t.Error(err)
						return
					}
					job, err := q.Job(t.Context(), result.ID)
					if err != nil || job.Priority != i || job.UserID != fmt.Sprint("u", i) {
						t.Errorf("%v, %v", job, err)
					}
					written.Add(1)
				}
			})
		}
		synctest.Wait()
		require.NoError(t, release())
		wg.Wait()
		<-woken
		stop()
		var stored int64
		require.NoError(t, db.Reader().Get(&stored, "SELECT COUNT(*) FROM jobs"))
		require.Equal(t, written.Load(), stored)
		require.EqualValues(t, callers/4, refused.Load())
		require.Equal(t, callers/4, countNotes(t, db))

		_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "bad", Payload: 1})
		require.ErrorContains(t, err, "no bad jobs", "alone, too")
		_, err = q.Enqueue(t.Context(), queue.NewJob{Type: "good", Payload: 1})
		require.NoError(t, err)
	})
}

// Whoever gives up while it waits has enqueued nothing, and whoever enqueues inside a write is refused.
func TestInsertThatDoesNotGetItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, &sqlite.Config{SingleProcess: true})
		q := trapQueue(t, db)
		release := hold(t, db)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := q.Enqueue(ctx, queue.NewJob{Type: "t", Payload: 1})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, release())
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
			_, err := q.Enqueue(ctx, queue.NewJob{Type: "t", Payload: 1})
			require.ErrorIs(t, err, queue.ErrNestedWrite)
			return nil
		}))
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Empty(t, counts)
	})
}
