package queueadmin_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// The first coalescing job may come after the limits were copied.
func TestMoveBringsTheLimitOfCoalescingKeysWithTheJobs(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		enqueue(t, from, &queue.Options{Key: queue.Coalesce("sync")})
		_, err := from.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		enqueue(t, from, &queue.Options{Key: queue.Coalesce("sync")})
		execute(t, from, "UPDATE jobs SET state = 'queued', worker_id = NULL WHERE state = 'running'")
		execute(t, from, "DELETE FROM job_limits")
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		jobs, err := to.Claim(t.Context(), "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
	})
}

// What is enqueued in the old database under a key whose job has moved is never answered with that job, which may have
// ended long ago: it is a new job, and moves.
func TestMoveSwallowsNoRequestOfAKeyThatHasMoved(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		ctx := t.Context()
		keys := []queue.Key{queue.WhileUnfinished("alone"), queue.Coalesce("sync")}
		for _, key := range keys {
			enqueue(t, from, &queue.Options{Key: key})
		}
		_, err := queueadmin.Move(ctx, from.DB(), to.DB(), nil)
		require.NoError(t, err)
		for _, j := range claimAs(t, to, "w") {
			require.NoError(t, j.Complete(ctx, nil))
		}
		var again []string
		for _, key := range keys {
			enqueued, err := from.Enqueue(ctx, ping.New(1, &queue.Options{Key: key}))
			require.NoError(t, err)
			require.False(t, enqueued.Duplicate, key.Name)
			again = append(again, enqueued.ID)
		}
		report, err := queueadmin.Move(ctx, from.DB(), to.DB(), nil)
		require.NoError(t, err)
		require.Equal(t, 2, report.Jobs)
		require.Empty(t, report.KeysTaken)
		require.ElementsMatch(t, again, ids(claimAs(t, to, "w")))
	})
}

// Move dies when it has written a job into the new database that is canceled in the old one meanwhile, and is retried,
// run and pruned there before the next call.
func TestMoveRunsNoCopyOfAJobThatHasRunInTheOldDatabase(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		ctx := t.Context()
		id := enqueue(t, from, &queue.Options{Key: queue.WhileUnfinished("alone")})
		one := 1
		there := interrupted{dying{movableOf(to), &one}, new(sync.Once),
			func() { require.NoError(t, from.Cancel(ctx, id)) }}
		_, err := queueadmin.Move(ctx, from.DB(), queue.NewDB(there), nil)
		require.ErrorIs(t, err, errDatabase)
		require.NoError(t, from.Retry(ctx, id))
		work(t, from, func(context.Context, *queue.Work[int]) error { return nil })
		require.Equal(t, queue.StateCompleted, job(t, from, id).State)
		execute(t, from, "DELETE FROM jobs")

		report, err := queueadmin.Move(ctx, from.DB(), to.DB(), nil)
		require.NoError(t, err)
		require.Zero(t, report.Jobs)
		require.Empty(t, claimAs(t, to, "w"))
		require.Zero(t, count(t, to))
		requireFree(t, to, queue.WhileUnfinished("alone"))
	})
}

// Its notes are of use until the jobs are released.
func TestMoveForgetsWhatHasMoved(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		for range 3 {
			enqueue(t, from, nil)
		}
		left := 3 // hold, remove, forget
		_, err := queueadmin.Move(t.Context(), queue.NewDB(dying{movableOf(from), &left}), to.DB(),
			&queueadmin.MoveConfig{Batch: 1})
		require.ErrorIs(t, err, errDatabase)
		// as if it had died before
		execute(t, from, "INSERT INTO job_moves (job_id) SELECT '"+claimAs(t, to, "w")[0].Job.ID+"'")
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		noted, err := movableOf(from).MovedJobs(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, noted)
		require.Len(t, claimAs(t, to, "w"), 2, "and releases nothing that runs")
		require.Zero(t, count(t, from))
	})
}

func TestMoveSaysWhatADatabaseLacks(t *testing.T) {
	moved := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), moved))
	_, err := queueadmin.Move(t.Context(), queue.NewDB(unmovable{moved.Driver()}), moved, nil)
	require.EqualError(t, err,
		"queueadmin: move: jobs cannot be moved from a queueadmin_test.unmovable: it does not implement driver.MoveSource")
	_, err = queueadmin.Move(t.Context(), moved, queue.NewDB(unmovable{moved.Driver()}), nil)
	require.EqualError(t, err,
		"queueadmin: move: jobs cannot be moved to a queueadmin_test.unmovable: it does not implement driver.MoveTarget")
	_, err = queueadmin.Move(t.Context(), moved, moved, &queueadmin.MoveConfig{Batch: -1})
	require.EqualError(t, err, "queueadmin: move: MoveConfig.Batch is -1; it must be within 1 and 10000")
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		const missing = "the queue's tables are not here: call queue.Migrate first"
		_, err := queueadmin.Move(t.Context(), db, moved, nil)
		require.EqualError(t, err, "queueadmin: move: the old database: "+missing)
		_, err = queueadmin.Move(t.Context(), moved, db, nil)
		require.EqualError(t, err, "queueadmin: move: the new database: "+missing)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "CREATE TABLE jobs (id INTEGER, salary INTEGER)")
			return err
		}))
		_, err = queueadmin.Move(t.Context(), moved, db, nil)
		require.EqualError(t, err,
			"queueadmin: move: the new database: the table jobs is not the queue's: give the queue a database, or a schema, of "+
				"its own (postgres.Config.Schema), or its tables a prefix (sqlite.Config.TablePrefix)")
	})
}

// An unmovable database cannot do what Move needs.
type unmovable struct{ driver.Driver }
