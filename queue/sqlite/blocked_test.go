package sqlite_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func queueIn(t *testing.T) (*sqlite.DB, *queue.Queue) {
	t.Helper()
	db := openFile(t, &sqlite.Config{Durability: sqlite.Normal})
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return db, q
}

// A job waits for its turn beside a write whose function waits for whoever enqueues it: it is refused after a while,
// whichever of them came first, and both end.
func TestAnEnqueueThatAWriteBesideItWaitsForIsRefused(t *testing.T) {
	for _, enqueuedFirst := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			db, q := queueIn(t)
			release := hold(t, db)
			enqueued, wrote := make(chan error, 1), make(chan error, 1)
			over := make(chan struct{})
			enqueue := func() {
				_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t"})
				close(over)
				enqueued <- err
			}
			write := func() {
				wrote <- driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error {
					<-over
					return nil
				})
			}
			first, second := write, enqueue
			if enqueuedFirst {
				first, second = enqueue, write
			}
			go first()
			synctest.Wait()
			go second()
			synctest.Wait()
			began := time.Now()
			require.NoError(t, release())
			require.ErrorIs(t, <-enqueued, sqlite.ErrWriteBlocked)
			require.NoError(t, <-wrote)
			require.InDelta(t, 30, time.Since(began).Seconds(), 1)
			_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t"})
			require.NoError(t, err)
		})
	}
}

// Whoever waits for a turn beside the function of another write leaves when its context ends.
func TestAnEnqueueBesideALongWriteHeedsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, q := queueIn(t)
		release := hold(t, db)
		enqueued := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			_, err := q.Enqueue(ctx, queue.NewJob{Type: "t"})
			enqueued <- err
		}()
		synctest.Wait()
		wrote := make(chan error, 1)
		go func() {
			wrote <- driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error {
				time.Sleep(10 * time.Second)
				return nil
			})
		}()
		synctest.Wait()
		began, released := time.Now(), make(chan error, 1)
		go func() { released <- release() }()
		require.ErrorIs(t, <-enqueued, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, errors.Join(<-wrote, <-released))
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Empty(t, counts)
	})
}

// A program holds a lock of its own while it enqueues, and takes it inside writes. No enqueue that has begun waits for
// the function of a write, so that each ends, at the latest when it is refused.
func TestEnqueuesUnderALockThatWritesTakeEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds = 50
		db, q := queueIn(t)
		locked := make(chan struct{}, 1)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range rounds {
				if err := driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error {
					locked <- struct{}{}
					<-locked
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		}()
		for range rounds {
			locked <- struct{}{}
			if _, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t"}); err != nil {
				require.ErrorIs(t, err, sqlite.ErrWriteBlocked)
			}
			<-locked
		}
		<-ended
	})
}
