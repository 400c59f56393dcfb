package queueadmin_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func TestExplainSaysWhichNodeAJobWaitsFor(t *testing.T) {
	const step queue.Type[int] = "step"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		id, err := flow.Enqueue(t.Context(), q, flow.Batch(step.New(1, nil), step.New(2, nil)).Then(step.New(3, nil)))
		require.NoError(t, err)
		var ids []string
		for _, node := range []string{flow.BatchNode, flow.ThenNode} {
			for job, err := range flow.Jobs(t.Context(), q, id, node) {
				require.NoError(t, err)
				ids = append(ids, job.ID)
			}
		}
		require.NoError(t, q.Cancel(t.Context(), ids[0]))
		e, err := queueadmin.Explain(t.Context(), q, ids[2])
		require.NoError(t, err)
		require.Equal(t, queueadmin.CauseFlow, e.Reasons[0].Cause)
		require.Equal(t, "it waits for node batch of its flow: 1 of 2 jobs have not ended", e.Reasons[0].Text)
		require.NotContains(t, e.String(), "next free worker")

		// The job of a canceled node alone is retried: nothing opens that.
		require.NoError(t, q.Cancel(t.Context(), ids[1]))
		_, err = q.Claim(t.Context(), "w", []string{string(step)}, 1) // cancels it
		require.NoError(t, err)
		require.NoError(t, q.Retry(t.Context(), ids[2]))
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE job_flows SET updated_at = $1", dbtime.Of(time.Now().Add(-time.Hour)))
			return err
		}))
		e, err = queueadmin.Explain(t.Context(), q, ids[2])
		require.NoError(t, err)
		require.Equal(t, "it waits for node batch of its flow: that has been canceled; retry the flow", e.Reasons[0].Text)
		findings, err := queueadmin.Doctor(t.Context(), q)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(findings), "stands still")

		// It does so when very many others have come and gone.
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `
INSERT INTO job_flows (id, name, state, nodes, ended, created_at, updated_at, finished_at)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
SELECT 'later-' || i, 'later', 'completed', 0, 0, created_at, updated_at, updated_at
FROM n
CROSS JOIN job_flows`)
			return err
		}))
		findings, err = queueadmin.Doctor(t.Context(), q)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(findings), "stands still")

		// The advice helps.
		require.NoError(t, flow.Retry(t.Context(), q, id))
		for range 2 {
			claimed, err := q.Claim(t.Context(), "w", []string{string(step)}, 2)
			require.NoError(t, err)
			for _, a := range claimed {
				require.NoError(t, a.Complete(t.Context(), nil))
			}
		}
		f, err := flow.Get(t.Context(), q, id)
		require.NoError(t, err)
		require.Equal(t, flow.Completed, f.State)
	})
}

func TestVerifyCountsTheJobsOfFlows(t *testing.T) {
	const step queue.Type[int] = "step"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		_, err = flow.Enqueue(t.Context(), q, flow.Batch(step.New(1, nil), step.New(2, nil)).Then(step.New(3, nil)))
		require.NoError(t, err)
		found, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, found)
		for change, rule := range map[string]string{
			"UPDATE job_nodes SET total = 3 WHERE name = 'batch'": "counted the ends of its jobs",
			"UPDATE job_edges SET passed = 2":                     "waits for those before it",
			"UPDATE job_flows SET nodes = 7":                      "counted its nodes",
			"UPDATE job_flows SET state = 'canceled'":             "is canceled only if",
			"UPDATE jobs SET node = 'none' WHERE hold = 4":        "is released when that opens",
		} {
			require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, change)
				return err
			}), change)
			found, err := queueadmin.Verify(t.Context(), q)
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(found), rule, change)
		}
	})
}

// Handlers of a flow read the results of the jobs before them.
func TestTheJobsOfAFlowAreDeletedOnceItHasEnded(t *testing.T) {
	const step queue.Type[int] = "step"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		id, err := flow.Enqueue(t.Context(), q, flow.Batch(step.New(1, nil), step.New(2, nil)).Then(step.New(3, nil)))
		require.NoError(t, err)
		other := enqueue(t, q, nil)
		require.NoError(t, q.Cancel(t.Context(), other))
		var ids []string
		for job, err := range flow.Jobs(t.Context(), q, id, flow.BatchNode) {
			require.NoError(t, err)
			ids = append(ids, job.ID)
		}
		claimed, err := q.Claim(t.Context(), "w", []string{string(step)}, 1)
		require.NoError(t, err)
		require.NoError(t, claimed[0].Complete(t.Context(), nil))
		done, err := queueadmin.Delete(t.Context(), q, queueadmin.Selection{Filter: queue.Filter{All: true}}, nil)
		require.NoError(t, err)
		require.Equal(t, queueadmin.BulkResult{Selected: 2, Changed: 1}, done)
		_, err = q.Job(t.Context(), other)
		require.ErrorIs(t, err, queue.ErrJobNotFound)
		require.Equal(t, queue.StateCompleted, job(t, q, claimed[0].Job.ID).State)

		require.NoError(t, flow.Cancel(t.Context(), q, id))
		done, err = queueadmin.Delete(t.Context(), q, queueadmin.Selection{Filter: queue.Filter{All: true}}, nil)
		require.NoError(t, err)
		require.Equal(t, 3, done.Changed)
	})
}
