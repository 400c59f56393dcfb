package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
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

// Who enqueues while nobody writes does so by itself. It still gives up in time when another process writes.
func TestInsertBesideAnotherProcessGivesUpInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	other, db := openPath(t, path, nil), openPath(t, path, &sqlite.Config{BusyTimeout: time.Hour})
	q := trapQueue(t, db)
	release := hold(t, other)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := q.Enqueue(ctx, queue.NewJob{Type: "t", Payload: 1})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, release())
	_, err = q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: 2})
	require.NoError(t, err)
}

// A function that waits is left to the writer by who enqueues by itself, and others line up behind. Closing waits for
// all that have begun.
func TestInsertLeadsAGroup(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			db, err := sqlite.Open(t.Context(), path, &sqlite.Config{SingleProcess: true})
			require.NoError(t, err)
			q := trapQueue(t, db)
			createNotes(t, db)
			var wg sync.WaitGroup
			var enqueued, noted atomic.Int64
			for i := range 20 {
				wg.Go(func() {
					if _, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: i}); err == nil {
						enqueued.Add(1)
					} else if !errors.Is(err, sqlite.ErrClosed) {
						t.Error(err)
					}
				})
				wg.Go(func() {
					err := db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
						time.Sleep(time.Second)
						_, err := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES ($1)", i)
						return err
					})
					if err == nil {
						noted.Add(1)
					} else if !errors.Is(err, sqlite.ErrClosed) {
						t.Error(err)
					}
				})
			}
			time.Sleep(time.Duration(rand.IntN(20)) * time.Second)
			require.NoError(t, db.Close())
			wg.Wait()
			db = openPath(t, path, &sqlite.Config{SingleProcess: true})
			var stored int64
			require.NoError(t, db.Reader().Get(&stored, "SELECT COUNT(*) FROM jobs"))
			require.Equal(t, enqueued.Load(), stored)
			require.EqualValues(t, noted.Load(), countNotes(t, db))
		})
	}
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

// Triggers that count the ends of jobs are there once they are needed, and not before: each end would pay for them.
func TestEndsAreCountedOnceThatIsNeeded(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	triggers := func() (n int) {
		require.NoError(t, db.Reader().Get(&n,
			"SELECT COUNT(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'jobs'"))
		return n
	}
	enqueue := func(opts *queue.Options) error {
		return db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := q.EnqueueTx(ctx, tx, queue.NewJob{Type: "t", Options: *opts})
			return errors.Join(err, ctx.Err())
		})
	}
	require.NoError(t, enqueue(&queue.Options{LimitKey: "k", Key: queue.Forever("k")}))
	require.Zero(t, triggers())
	broken := errors.New("broken")
	require.ErrorIs(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := q.EnqueueTx(ctx, tx, queue.NewJob{Type: "t", Options: queue.Options{Sequence: "s"}})
		return errors.Join(err, broken)
	}), broken)
	require.Zero(t, triggers(), "it was rolled back")
	require.NoError(t, enqueue(&queue.Options{Sequence: "s"}))
	require.Equal(t, 2, triggers())
	require.NoError(t, enqueue(&queue.Options{Sequence: "s"}))
}

// A place in line is never given twice: while a Move takes jobs away, what joins comes after what has left. The
// migration that says so keeps the lines, and their triggers.
func TestAPlaceInLineIsNeverGivenTwice(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	add := func() string {
		enqueued, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Options: queue.Options{Sequence: "s"}})
		require.NoError(t, err)
		return enqueued.ID
	}
	first := add()
	migration, err := os.ReadFile("../migrations/sqlite/0008_turn_numbers.sql")
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, string(migration))
		return err
	}))
	var numbers []int
	for _, id := range []string{first, add(), add()} {
		require.NoError(t, q.Cancel(t.Context(), id))
	}
	last := add()
	require.NoError(t, db.Reader().Select(&numbers, "SELECT number FROM job_turns"))
	require.Equal(t, []int{4}, numbers)
	claimed, err := q.Claim(t.Context(), "w", []string{"t"}, 10)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	require.Equal(t, last, claimed[0].Job.ID)
}

// The triggers are made in a transaction of the program's own, beside a read that is open and a process that has the
// file open, and has ended jobs already: it ends those of the sequence as well.
func TestEndsAreCountedInProcessesThatAreOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	var queues [2]*queue.Queue
	for i := range queues {
		db, err := sqlite.Open(t.Context(), path, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		require.NoError(t, queue.Migrate(t.Context(), db))
		queues[i], err = queue.New(db, nil)
		require.NoError(t, err)
	}
	ran := 0
	work := func() {
		d, err := queue.NewDispatcher(queues[1], &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond})
		require.NoError(t, err)
		queue.Handle(d, queue.Type[int]("t"), func(context.Context, *queue.Work[int]) error {
			ran++
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, d.RunUntilIdle(ctx))
	}
	_, err := queues[1].Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: 1})
	require.NoError(t, err)
	work()
	pool, err := sql.Open(sqlite.DriverName, path+"?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1")
	require.NoError(t, err)
	defer pool.Close()
	for _, commits := range []bool{false, true} {
		tx, err := pool.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		open, err := tx.QueryContext(t.Context(), "SELECT id FROM jobs")
		require.NoError(t, err)
		require.True(t, open.Next())
		in := queue.Options{Sequence: "s"}
		_, err = queues[0].EnqueueManyTx(t.Context(), tx, []queue.NewJob{{Type: "t", Payload: 2, Options: in},
			{Type: "t", Payload: 3, Options: in}, {Type: "t", Payload: 4, Options: in}})
		require.NoError(t, err)
		require.NoError(t, open.Close())
		require.NoError(t, open.Err())
		if commits {
			require.NoError(t, tx.Commit())
		} else {
			require.NoError(t, tx.Rollback())
		}
	}
	work()
	require.Equal(t, 4, ran)
}
