package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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

func createNotes(t testing.TB, db *sqlite.DB) {
	t.Helper()
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE notes (n INTEGER NOT NULL PRIMARY KEY)")
		return err
	}))
}

func insertNote(ctx context.Context, tx *driver.WriteTx, n int) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES ($1)", n)
	return err
}

func countNotes(t testing.TB, db *sqlite.DB) (n int) {
	t.Helper()
	require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM notes"))
	return n
}

// hold occupies the writer until release is called, which returns what the write returned.
func hold(t testing.TB, db *sqlite.DB) (release func() error) {
	t.Helper()
	entered, leave, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		result <- driver.Write(context.Background(), db, func(context.Context, *driver.WriteTx) error {
			close(entered)
			<-leave
			return nil
		})
	}()
	<-entered
	return func() error {
		close(leave)
		return <-result
	}
}

func TestWritersThatWaitTogetherShareOneCommit(t *testing.T) {
	const writers = 50
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, nil)
		createNotes(t, db)
		release := hold(t, db)
		var wg sync.WaitGroup
		var seen [writers]int
		for i := range writers {
			wg.Go(func() {
				err := driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
					tx.OnCommit(func() { seen[i] = countNotes(t, db) })
					return insertNote(ctx, tx, i)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		require.NoError(t, release())
		wg.Wait()
		for i := range seen {
			require.Equal(t, writers, seen[i], "the first to be told sees the writes of all")
		}
	})
}

func TestGroupSurvivesErrorsAndPanicsOfItsMembers(t *testing.T) {
	const writers = 60
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, nil)
		createNotes(t, db)
		release := hold(t, db)
		var wg sync.WaitGroup
		var failures, panics atomic.Int64
		for i := range writers {
			wg.Go(func() {
				defer func() {
					if recover() != nil {
						panics.Add(1)
					}
				}()
				err := driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
					if err := insertNote(ctx, tx, i); err != nil {
						return err
					}
					switch i % 4 {
					case 0:
						panic("mine alone")
					case 1:
						return errors.New("mine alone")
					case 2:
						return insertNote(ctx, tx, i) // a constraint fails
					}
					return nil
				})
				if err != nil {
					failures.Add(1)
				}
			})
		}
		synctest.Wait()
		require.NoError(t, release())
		wg.Wait()
		require.EqualValues(t, writers/4, panics.Load())
		require.EqualValues(t, writers/2, failures.Load())
		var kept []int
		require.NoError(t, db.Reader().Select(&kept, "SELECT n FROM notes WHERE n % 4 <> 3"))
		require.Empty(t, kept)
		require.Equal(t, writers/4, countNotes(t, db))
	})
}

// A savepoint that a caller leaves open, whatever its name, does not come between the writer and its own.
func TestSavepointsLeftOpenAreUndoneWithTheirWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, nil)
		createNotes(t, db)
		release := hold(t, db)
		refused := errors.New("refused")
		var wg sync.WaitGroup
		for i, name := range []string{"one", "plain", "s"} {
			wg.Go(func() {
				err := driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
					_, err := tx.ExecContext(ctx, "SAVEPOINT "+name)
					return errors.Join(insertNote(ctx, tx, 10+i), err, refused)
				})
				if !errors.Is(err, refused) {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := driver.Write(t.Context(), db,
				func(ctx context.Context, tx *driver.WriteTx) error { return insertNote(ctx, tx, 1) }); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		require.NoError(t, release())
		wg.Wait()
		require.Equal(t, 1, countNotes(t, db))
	})
}

// Whoever breaks the whole transaction breaks it for those who share it; all of them are told, and the next one works.
func TestGroupIsToldWhenItsTransactionBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, nil)
		createNotes(t, db)
		release := hold(t, db)
		results, behind := make(chan error, 1), make(chan error, 1)
		go func() {
			results <- driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				// as SQLite does by itself when the disk is full
				_, err := tx.ExecContext(ctx, "INSERT OR ROLLBACK INTO notes (n) VALUES (1), (1)")
				require.ErrorContains(t, err, "UNIQUE constraint failed")
				require.Error(t, insertNote(ctx, tx, 1), "it would commit by itself")
				_, err = tx.QueryContext(ctx, "INSERT INTO notes (n) VALUES (2) RETURNING n")
				require.Error(t, err)
				_, err = tx.QueryContext(ctx, "INSERT INTO notes (n) VALUES (3) RETURNING n")
				require.Error(t, err)
				var n int
				require.Error(t, tx.QueryRowContext(ctx, "INSERT INTO notes (n) VALUES (4) RETURNING n").Scan(&n))
				return nil
			})
		}()
		synctest.Wait()
		go func() {
			behind <- driver.Write(t.Context(), db,
				func(ctx context.Context, tx *driver.WriteTx) error { return insertNote(ctx, tx, 5) })
		}()
		synctest.Wait()
		require.Error(t, release(), "it shares the transaction")
		require.ErrorContains(t, <-results, "rolled the transaction back")
		require.NoError(t, <-behind, "who waits behind it gets a turn all the same")
		require.Equal(t, 1, countNotes(t, db))
	})
}

func TestContextCanceledWhileWaitingReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, nil)
		release := hold(t, db)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := driver.Write(ctx, db, func(context.Context, *driver.WriteTx) error {
			t.Error("the caller had left")
			return nil
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, release())
		require.NoError(t, driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error { return nil }))
	})
}

func TestCloseFinishesTheWriteUnderWayAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), nil)
		require.NoError(t, err)
		release := hold(t, db)
		waiting, closed := make(chan error, 1), make(chan error, 1)
		write := func() error {
			return driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error { return nil })
		}
		go func() { waiting <- write() }()
		synctest.Wait()
		go func() { closed <- db.Close() }()
		synctest.Wait()
		require.NoError(t, release())
		require.NoError(t, <-closed)
		require.ErrorIs(t, <-waiting, sqlite.ErrClosed)
		require.ErrorIs(t, write(), sqlite.ErrClosed)
		require.NoError(t, db.Close(), "a second call does nothing")
	})
}

func TestWaitForAnotherProcessIsBounded(t *testing.T) {
	const writers, timeout = 100, 300 * time.Millisecond
	path := filepath.Join(t.TempDir(), "test.db")
	other := openPath(t, path, nil)
	db := openPath(t, path, &sqlite.Config{BusyTimeout: timeout})
	release := hold(t, other)
	began := time.Now()
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			err := driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error { return nil })
			if err == nil || time.Since(began) < timeout {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
	wg.Wait()
	require.Less(t, time.Since(began), writers*timeout, "they wait together, not one after the other")

	err := driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error { return nil })
	require.NoError(t, release())
	require.Regexp(t,
		`database is locked: another process, such as a backup, or a transaction that this program has begun, has held the lock for \S+; `+
			`try again when it has ended \(code within such a transaction uses the calls that take it, such as EnqueueTx\)$`,
		said(err),
		"who runs the program reads what to do, and so does who writes it")
	require.NoError(t, driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error { return nil }))
}

// What is said of a lock's holder is not counted from an earlier one, after whose end nobody has written.
func TestWaitIsNotCountedFromAnEarlierHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	other := openPath(t, path, nil)
	db := openPath(t, path, &sqlite.Config{BusyTimeout: 50 * time.Millisecond})
	for range 2 {
		began := time.Now()
		release := hold(t, other)
		err := driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error { return nil })
		held := time.Since(began)
		require.NoError(t, release())
		_, said, found := strings.Cut(said(err), "has held the lock for ")
		require.True(t, found)
		said, _, _ = strings.Cut(said, ";")
		waited, err := time.ParseDuration(said)
		require.NoError(t, err)
		require.LessOrEqual(t, waited, held.Round(time.Millisecond))
	}
}

// Two processes on one file share the jobs out, few at a time or many.
func TestTwoHandlesClaimDisjointJobs(t *testing.T) {
	for _, limit := range []int{7, 100} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) { claimFromTwoHandles(t, limit) })
	}
}

func claimFromTwoHandles(t *testing.T, limit int) {
	const total = 5000
	path := filepath.Join(t.TempDir(), "test.db")
	handles := []*sqlite.DB{openPath(t, path, nil), openPath(t, path, nil)}
	require.NoError(t, queue.Migrate(t.Context(), handles[0]))
	queues := make([]*queue.Queue, len(handles))
	for i, db := range handles {
		var err error
		queues[i], err = queue.New(db, nil)
		require.NoError(t, err)
	}
	jobs := make([]queue.NewJob, total)
	for i := range jobs {
		jobs[i] = queue.NewJob{Type: "t", Payload: i}
	}
	_, err := queues[0].EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)

	var claims sync.Map
	var claimed atomic.Int64
	var wg sync.WaitGroup
	for i, q := range queues {
		for range 3 {
			wg.Go(func() {
				for {
					jobs, err := q.Claim(t.Context(), "worker", []string{"t"}, limit)
					if err != nil || len(jobs) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					for _, j := range jobs {
						if other, twice := claims.LoadOrStore(j.Job.ID, i); twice {
							t.Errorf("%s was claimed by handle %d and by %v", j.Job.ID, i, other)
						}
					}
					claimed.Add(int64(len(jobs)))
				}
			})
		}
	}
	wg.Wait()
	require.EqualValues(t, total, claimed.Load())
}
