package queueadmin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func explain(t *testing.T, q *queue.Queue, id string) *queueadmin.Explanation {
	t.Helper()
	e, err := queueadmin.Explain(t.Context(), q, id)
	require.NoError(t, err)
	return e
}

func causes(e *queueadmin.Explanation) []queueadmin.Cause {
	causes := make([]queueadmin.Cause, len(e.Reasons))
	for i, r := range e.Reasons {
		causes[i] = r.Cause
	}
	return causes
}

func execute(t *testing.T, q *queue.Queue, statement string) {
	t.Helper()
	require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}))
}

func TestExplain(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour).Truncate(time.Second)
	claim := func(t *testing.T, q *queue.Queue) *queue.Attempt {
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		return jobs[0]
	}
	for name, c := range map[string]struct {
		// given returns the job to be explained.
		given  func(t *testing.T, q *queue.Queue) string
		causes []queueadmin.Cause
		text   string
	}{
		"scheduled": {func(t *testing.T, q *queue.Queue) string {
			return enqueue(t, q, &queue.Options{NotBefore: tomorrow})
		}, []queueadmin.Cause{queueadmin.CauseScheduled}, "it is scheduled for later (until " +
			tomorrow.UTC().Format(time.RFC3339) + ")"},
		"waits for its retry": {func(t *testing.T, q *queue.Queue) string {
			id := enqueue(t, q, nil)
			j := claim(t, q)
			require.NoError(t, j.Fail(t.Context(), errDatabase))
			return id
		}, []queueadmin.Cause{queueadmin.CauseRetry}, "attempt 1 ended with: database is away"},
		"runs": {func(t *testing.T, q *queue.Queue) string {
			enqueue(t, q, nil)
			return claim(t, q).Job.ID
		}, []queueadmin.Cause{queueadmin.CauseRunning}, "it runs: attempt 1, on w, since "},
		"failed": {func(t *testing.T, q *queue.Queue) string {
			enqueue(t, q, nil)
			j := claim(t, q)
			require.NoError(t, j.Fail(t.Context(), queue.Fatal(errDatabase)))
			return j.Job.ID
		}, []queueadmin.Cause{queueadmin.CauseFinished},
			"after 1 failures (of 5), 0 interruptions and 0 crashes: database is away"},
		"canceled": {func(t *testing.T, q *queue.Queue) string {
			id := enqueue(t, q, nil)
			require.NoError(t, q.Cancel(t.Context(), id))
			return id
		}, []queueadmin.Cause{queueadmin.CauseFinished}, "it has been canceled"},
		"type paused": {func(t *testing.T, q *queue.Queue) string {
			execute(t, q,
				"INSERT INTO job_limits (kind, name, paused, updated_at) VALUES ('type', 'ping', TRUE, '2026-01-01T00:00:00.000000Z')")
			return enqueue(t, q, nil)
		}, []queueadmin.Cause{queueadmin.CausePaused}, "type ping: paused"},
		"all paused": {func(t *testing.T, q *queue.Queue) string {
			execute(t, q,
				"INSERT INTO job_limits (kind, name, paused, updated_at) VALUES ('type', '*', TRUE, '2026-01-01T00:00:00.000000Z')")
			return enqueue(t, q, nil)
		}, []queueadmin.Cause{queueadmin.CausePaused}, "all types: paused"},
		"type full": {func(t *testing.T, q *queue.Queue) string {
			execute(t, q,
				"INSERT INTO job_limits (kind, name, paused, max_running, updated_at) VALUES ('type', 'ping', FALSE, 1, '2026-01-01T00:00:00.000000Z')")
			enqueue(t, q, nil)
			claim(t, q)
			return enqueue(t, q, nil)
		}, []queueadmin.Cause{queueadmin.CauseTypeLimit}, "type ping: 1 of at most 1 run"},
		"key full": {func(t *testing.T, q *queue.Queue) string {
			execute(t, q,
				"INSERT INTO job_limits (kind, name, paused, max_running, updated_at) VALUES ('prefix', 'gmail:', FALSE, 1, '2026-01-01T00:00:00.000000Z')")
			enqueue(t, q, &queue.Options{LimitKey: "gmail:ada"})
			claim(t, q)
			return enqueue(t, q, &queue.Options{LimitKey: "gmail:ada"})
		}, []queueadmin.Cause{queueadmin.CauseKeyLimit}, "limit key gmail:ada: 1 of at most 1 run"},
		"key paused": {func(t *testing.T, q *queue.Queue) string {
			require.NoError(t, q.Pause(t.Context(), queue.ForKey("k")))
			return enqueue(t, q, &queue.Options{LimitKey: "k"})
		}, []queueadmin.Cause{queueadmin.CausePaused}, "limit key k: paused"},
		"prefix paused": {func(t *testing.T, q *queue.Queue) string {
			require.NoError(t, q.Pause(t.Context(), queue.ForKeyPrefix("gmail:")))
			return enqueue(t, q, &queue.Options{LimitKey: "gmail:ada"})
		}, []queueadmin.Cause{queueadmin.CausePaused}, "limit key gmail:ada: paused"},
		"rate": {func(t *testing.T, q *queue.Queue) string {
			require.NoError(t, q.SetLimit(t.Context(), queue.ForType(ping), queue.Limit{Rate: 1, Per: time.Hour}))
			enqueue(t, q, nil)
			claim(t, q)
			return enqueue(t, q, nil)
		}, []queueadmin.Cause{queueadmin.CauseTypeLimit}, "type ping: at most 1 start in 1h0m0s (until "},
		"expired": {func(t *testing.T, q *queue.Queue) string {
			id := enqueue(t, q, &queue.Options{ExpiresAt: tomorrow})
			execute(t, q, "UPDATE jobs SET expires_at = '2026-01-01T00:00:00.000000Z'")
			return id
		}, []queueadmin.Cause{queueadmin.CauseExpired}, "it expired at 2026-01-01T00:00:00Z and will be canceled"},
		"behind": {func(t *testing.T, q *queue.Queue) string {
			enqueue(t, q, &queue.Options{Priority: 1})
			id := enqueue(t, q, nil)
			enqueue(t, q, nil)
			return id
		}, []queueadmin.Cause{queueadmin.CauseBehind}, "1 job of its type is ahead of it"},
		"behind others of its limit key": {func(t *testing.T, q *queue.Queue) string {
			require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 1}))
			enqueue(t, q, &queue.Options{LimitKey: "k"})
			enqueue(t, q, &queue.Options{LimitKey: "k"})
			return enqueue(t, q, &queue.Options{LimitKey: "k"})
		}, []queueadmin.Cause{queueadmin.CauseBehind}, "2 jobs of its type are ahead of it"},
		"next": {func(t *testing.T, q *queue.Queue) string {
			return enqueue(t, q, nil)
		}, []queueadmin.Cause{queueadmin.CauseNextInLine}, "the next free worker takes it"},
		"moving": {func(t *testing.T, q *queue.Queue) string {
			id := enqueue(t, q, nil)
			execute(t, q, "UPDATE jobs SET hold = 3")
			return id
		}, []queueadmin.Cause{queueadmin.CauseMoving}, "call it again"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				require.NoError(t, queue.Migrate(t.Context(), db))
				q := on(t, db, nil)
				_, err := db.Driver().Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: "w", First: true,
					Types: []string{string(ping)}, Now: time.Now()})
				require.NoError(t, err)
				e := explain(t, q, c.given(t, q))
				require.Equal(t, c.causes, causes(e), e.String())
				require.Contains(t, e.String(), c.text)
			})
		})
	}
}

func TestExplainMissesWorkers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db, nil)
		id := enqueue(t, q, nil)
		register := func(workerID string, types ...string) {
			_, err := db.Driver().Heartbeat(t.Context(), driver.HeartbeatRequest{WorkerID: workerID, First: true,
				Types: types, Now: time.Now()})
			require.NoError(t, err)
		}
		register("move:1")
		require.Equal(t, []queueadmin.Cause{queueadmin.CauseNoWorker}, causes(explain(t, q, id)), "a move runs no jobs")
		register("w", "other")
		e := explain(t, q, id)
		require.Equal(t, []queueadmin.Cause{queueadmin.CauseUnhandled}, causes(e))
		require.Contains(t, e.String(), "1 processes run jobs, and none of them has a handler for ping")

		_, err := queueadmin.Explain(t.Context(), q, "none")
		require.ErrorIs(t, err, queue.ErrJobNotFound)
	})
}
