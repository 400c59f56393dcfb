package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func crowd(t *testing.T, jobs int, opts *queue.Options) (*DB, *queue.Queue, driver.ClaimRequest) {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), &Config{Durability: Normal})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	batch := make([]queue.NewJob, jobs)
	for i := range batch {
		batch[i] = queue.Type[int]([]string{"a", "b"}[i%2]).New(i, opts)
	}
	_, err = q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)
	return db, q, driver.ClaimRequest{WorkerID: "w", Types: []driver.TypeCapacity{{Type: "a", Capacity: 1000},
		{Type: "b", Capacity: 1000}}, Limit: manyJobs, Now: time.Now()}
}

// What a claim has read before its turn it takes as it would have read it in its turn.
func TestClaimThatReadsAheadGetsWhatOthersGet(t *testing.T) {
	for _, types := range []int{1, 2} {
		t.Run(fmt.Sprint("types=", types), func(t *testing.T) {
			db, _, req := crowd(t, 4*manyJobs, &queue.Options{UserID: "u", Tags: []string{"x"}, Priority: 3})
			req.Types = req.Types[:types]
			require.Nil(t, db.engine.candidates.read(t.Context(), req), "there may be few")
			db.engine.candidates.claimed(manyJobs)
			ahead := db.engine.candidates.read(t.Context(), req)
			require.NotNil(t, ahead)
			var want []driver.Job
			require.Error(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				found := txClaim{req: req}
				require.NoError(t, found.claim(ctx, db.engine, tx))
				want = found.result.Jobs
				return context.Canceled // undone
			}))
			result, err := db.engine.claim(t.Context(), req, ahead)
			require.NoError(t, err)
			require.True(t, result.More)
			for i := range want { // the claim itself reads its instant as it is stored
				require.WithinDuration(t, want[i].StartedAt, result.Jobs[i].StartedAt, time.Microsecond)
				want[i].StartedAt, want[i].UpdatedAt = result.Jobs[i].StartedAt, result.Jobs[i].UpdatedAt
			}
			require.Equal(t, want, result.Jobs)
			for _, job := range result.Jobs {
				stored, err := db.engine.Job(t.Context(), job.ID)
				require.NoError(t, err)
				require.Equal(t, job, *stored)
			}
		})
	}
}

// A claim that has read ahead notices each change of what it has read, and then reads in its turn.
func TestClaimThatReadAheadNoticesWhatHasChanged(t *testing.T) {
	exec := func(statement string) func(*testing.T, *DB, *queue.Queue, []driver.Job) {
		return func(t *testing.T, db *DB, _ *queue.Queue, jobs []driver.Job) {
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := tx.ExecContext(ctx, statement, jobs[len(jobs)-1].ID)
				return err
			}))
		}
	}
	for name, change := range map[string]func(*testing.T, *DB, *queue.Queue, []driver.Job){
		"claimed by another": func(t *testing.T, db *DB, q *queue.Queue, jobs []driver.Job) {
			claimed, err := q.Claim(t.Context(), "other", []string{"a"}, 1)
			require.NoError(t, err)
			require.Equal(t, jobs[0].ID, claimed[0].Job.ID)
		},
		"claimed and given back": func(t *testing.T, db *DB, q *queue.Queue, jobs []driver.Job) {
			claimed, err := q.Claim(t.Context(), "other", []string{"a"}, 1)
			require.NoError(t, err)
			require.NoError(t, claimed[0].Fail(t.Context(), queue.Defer(context.Canceled, 0)))
		},
		"canceled": func(t *testing.T, db *DB, q *queue.Queue, jobs []driver.Job) {
			require.NoError(t, q.Cancel(t.Context(), jobs[3].ID))
		},
		"canceled and retried": func(t *testing.T, db *DB, q *queue.Queue, jobs []driver.Job) {
			require.NoError(t, q.Cancel(t.Context(), jobs[3].ID))
			require.NoError(t, q.Retry(t.Context(), jobs[3].ID))
		},
		"paused": func(t *testing.T, db *DB, q *queue.Queue, jobs []driver.Job) {
			require.NoError(t, q.Pause(t.Context(), queue.ForType(queue.Type[int]("a"))))
		},
		"gone":  exec("DELETE FROM jobs WHERE id = $1"),
		"moved": exec("UPDATE jobs SET hold = 3 WHERE id = $1"),
		"gone, its row taken by another": exec(`
UPDATE jobs SET id = id || '-other' WHERE rowid = (SELECT MAX(rowid) FROM jobs) AND $1 <> ''`),
	} {
		t.Run(name, func(t *testing.T) {
			db, q, req := crowd(t, manyJobs, nil)
			db.engine.candidates.claimed(manyJobs)
			ahead := db.engine.candidates.read(t.Context(), req)
			require.NotNil(t, ahead)
			change(t, db, q, ahead.jobs)
			result, err := db.engine.claim(t.Context(), req, ahead)
			if name == "paused" {
				require.NoError(t, err)
				require.Len(t, result.Jobs, manyJobs/2)
				return
			}
			require.ErrorIs(t, err, errStale)
			var running int
			require.NoError(t, db.engine.reader.Get(&running,
				"SELECT COUNT(*) FROM jobs WHERE state = 'running' AND worker_id = 'w'"))
			require.Zero(t, running, "the claim is undone")
			db.engine.candidates.stale()
			for range claimsInTurn {
				require.Nil(t, db.engine.candidates.read(t.Context(), req))
			}
		})
	}
}
