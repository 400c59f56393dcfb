package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// holding runs fn in a transaction that is open until release is called, and then undone.
func holding(t *testing.T, db *postgres.DB, fn func(ctx context.Context, tx *driver.WriteTx) error) (release func()) {
	t.Helper()
	held, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- driver.Write(context.Background(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			if err := fn(ctx, tx); err != nil {
				return err
			}
			close(held)
			<-done
			return errUndo
		})
	}()
	select {
	case <-held:
	case err := <-ended:
		require.NoError(t, err)
	}
	letGo := sync.OnceFunc(func() { close(done) })
	// Claims are not given up when their context ends: a test that waits here for what is held would never end.
	late := time.AfterFunc(20*time.Second, func() {
		t.Error("somebody waits for what is held, or holds it still")
		letGo()
	})
	release = sync.OnceFunc(func() {
		late.Stop()
		letGo()
		require.ErrorIs(t, <-ended, errUndo)
	})
	t.Cleanup(release)
	return release
}

// within fails the test where fn does not return in time.
func within(t *testing.T, fn func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- fn() }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		t.Fatal("it still waits")
	}
}

// waitForLock returns when so many connections of that name wait for others.
func waitForLock(t *testing.T, admin *postgres.DB, name string, n int) {
	t.Helper()
	waitFor(t, admin, fmt.Sprintf(
		"SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = '%s' AND wait_event_type = 'Lock'", name), n)
}

// A handler that hangs within a transaction of its job holds the job's row. That its own end cannot be written
// meanwhile keeps no other from being written.
func TestAHandlerThatHangsInATransactionHoldsUpNoOther(t *testing.T) {
	db := openQueue(t)
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	stuck := make(chan struct{}, 1)
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{
		Grace: 10 * time.Millisecond, OnStuck: func(context.Context, queue.StuckHandler) { stuck <- struct{}{} },
	})
	require.NoError(t, err)
	const hang queue.Type[int] = "hang"
	release := make(chan struct{})
	queue.Handle(d, hang, func(ctx context.Context, w *queue.Work[int]) error {
		return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			// With its first statement it has the row.
			_, err := tx.ExecContext(ctx, "SELECT 1")
			<-release
			return err
		})
	}, queue.WithTimeout(2*time.Second)) // by then it has the row, also on a busy machine
	queue.Handle(d, count, func(context.Context, *queue.Work[int]) error { return nil })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	held, err := q.Enqueue(ctx, hang.New(1, &queue.Options{MaxAttempts: 1}))
	require.NoError(t, err)
	<-stuck
	other, err := q.Enqueue(ctx, count.New(1, nil))
	require.NoError(t, err)
	within(t, func() error {
		_, err := q.Wait(ctx, other.ID)
		return err
	})
	close(release)
	within(t, func() error {
		job, err := q.Wait(ctx, held.ID)
		require.Equal(t, driver.StateFailed, job.State)
		return err
	})
	stop()
	require.NoError(t, <-ended)
}

// What a dead worker's handler still holds within a transaction is given back later, and all its other jobs at once.
func TestADeadWorkersJobsDoNotWaitForOneThatIsHeld(t *testing.T) {
	db := openQueue(t)
	insertJobs(t, db, jobOf("a", 1), jobOf("a", 0))
	jobs := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, jobs, 2)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().LockLease(ctx, tx, jobs[0].Lease())
	})
	remove := func() (removed []driver.Job) {
		workers, err := db.Driver().Workers(t.Context())
		require.NoError(t, err)
		require.Len(t, workers, 1)
		within(t, func() error {
			return driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				if removed, err = db.Driver().RemoveDeadWorker(ctx, tx, workers[0]); err != nil || len(removed) == 0 {
					return err
				}
				_, err := db.Driver().Finish(ctx, tx,
					[]driver.Outcome{{Lease: removed[0].Lease(), State: driver.StateFailed, Kind: driver.KindCrashed,
						At: tx.Now()}})
				return err
			})
		})
		return removed
	}
	first := remove()
	require.Len(t, first, 1)
	require.Equal(t, jobs[1].ID, first[0].ID)
	require.Empty(t, remove())
	release()
	second := remove()
	require.Len(t, second, 1)
	require.Equal(t, jobs[0].ID, second[0].ID)
}

// Many ends in one transaction, and many jobs canceled in another: neither has what the other wants next.
func TestCancelAllAndEndsDoNotWaitForEachOther(t *testing.T) {
	dsn := dbtest.MigratedDSN(t)
	name := "rivals-" + t.Name()
	admin, db := machine(t, dsn, "admin"), machine(t, dsn, name)
	require.NoError(t, queue.Migrate(t.Context(), admin))
	insertJobs(t, db, jobOf("a", 1), jobOf("a", 0))
	jobs := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, jobs, 2)
	require.Less(t, jobs[0].ID, jobs[1].ID)
	q, err := queue.New(db, nil)
	require.NoError(t, err)

	release := holding(t, admin, func(ctx context.Context, tx *driver.WriteTx) error {
		return admin.Driver().LockLease(ctx, tx, jobs[0].Lease())
	})
	ended := make(chan error, 2)
	go func() {
		ended <- driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := db.Driver().Finish(ctx, tx, []driver.Outcome{
				{Lease: jobs[0].Lease(), State: driver.StateCompleted, Kind: driver.KindCompleted, At: tx.Now()},
				{Lease: jobs[1].Lease(), State: driver.StateCompleted, Kind: driver.KindCompleted, At: tx.Now()},
			})
			return err
		})
	}()
	waitForLock(t, admin, name, 1)
	go func() {
		_, err := q.CancelAll(t.Context(), queue.Filter{All: true})
		ended <- err
	}()
	waitForLock(t, admin, name, 2)
	release()
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
}

// Who holds a job that is ready may let go of it unchanged and tells nobody: a claim that has passed over it comes
// again.
func TestAClaimComesAgainForWhatIsHeld(t *testing.T) {
	db := openQueue(t)
	job := jobOf("a", 0)
	insertJobs(t, db, job)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().Cancel(ctx, tx,
			job.ID)
	})
	for _, types := range [][]string{{"a"}, {"a", "b"}} {
		began := driver.Now(db.Driver())
		result := claimOf(t, db, 1, capacitiesOf(1, types...)...)
		require.Empty(t, result.Jobs)
		require.False(t, result.More, "it would find the same")
		require.WithinRange(t, result.NextDue, began, driver.Now(db.Driver()).Add(time.Second))
	}
	release()
	require.Len(t, claimOf(t, db, 1, capacitiesOf(1, "a")...).Jobs, 1)

	require.Zero(t, claimOf(t, db, 1, capacitiesOf(1, "a")...).NextDue)
}

// Where all that is ready of the first types is held, a claim for no more jobs than those are types finds the others.
func TestAClaimPassesOverTypesOfWhichAllIsHeld(t *testing.T) {
	db := openQueue(t)
	held, other := jobOf("a", 1), jobOf("b", 0)
	insertJobs(t, db, held, other)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().Cancel(ctx, tx,
			held.ID)
	})
	defer release()
	jobs := claimOf(t, db, 1, capacitiesOf(1, "a", "b")...).Jobs
	require.Len(t, jobs, 1)
	require.Equal(t, other.ID, jobs[0].ID)
}

// The first jobs that coalesce bring the limit with them, which is one row for all: who waits for it has no key yet.
func TestTheFirstJobsThatCoalesceDoNotWaitForEachOther(t *testing.T) {
	dsn := dbtest.MigratedDSN(t)
	name := "second-" + t.Name()
	admin, db := machine(t, dsn, "admin"), machine(t, dsn, name)
	require.NoError(t, queue.Migrate(t.Context(), admin))
	q, err := queue.New(admin, nil)
	require.NoError(t, err)
	second, err := queue.New(db, nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	require.NoError(t, driver.Write(t.Context(), admin, func(ctx context.Context, tx *driver.WriteTx) error {
		if _, err := q.EnqueueTx(ctx, tx, count.New(1, &queue.Options{Key: queue.Coalesce("one")})); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "SELECT 1"); err != nil { // it is sent by now
			return err
		}
		go func() {
			_, err := second.Enqueue(t.Context(), count.New(1, &queue.Options{Key: queue.Coalesce("other")}))
			ended <- err
		}()
		waitForLock(t, admin, name, 1)
		_, err := q.EnqueueTx(ctx, tx, count.New(1, &queue.Options{Key: queue.Coalesce("other")}))
		return err
	}))
	require.NoError(t, <-ended)
}

// Behind a pooler nobody listens: who commits a transaction of their own tells the dispatchers of the same process so.
func TestTransactionsOfOnesOwnWakeThisProcessBehindAPooler(t *testing.T) {
	db, err := postgres.Open(t.Context(), dbtest.MigratedDSN(t), &postgres.Config{Pooled: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	ctx, stop := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 10), make(chan error, 1)
	go func() { ended <- db.Driver().Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // it listens
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	for _, commits := range []bool{false, true} {
		own, err := db.Reader().BeginTxx(ctx, nil)
		require.NoError(t, err)
		tx := driver.NewWriteTx(own, driver.Postgres, time.Now())
		_, err = q.EnqueueTx(ctx, tx, count.New(1, nil))
		require.NoError(t, err)
		if !commits {
			tx.RolledBack()
			require.NoError(t, own.Rollback())
			require.Empty(t, woken)
			continue
		}
		require.NoError(t, own.Commit())
		tx.Committed()
		within(t, func() error {
			<-woken
			return nil
		})
	}
	stop()
	require.NoError(t, <-ended)
}
