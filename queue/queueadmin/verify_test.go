package queueadmin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func TestVerifyFindsWhatIsBroken(t *testing.T) {
	for name, c := range map[string]struct{ damage, rule string }{
		"state": {"UPDATE jobs SET state = 'asleep'", "a job's state is one of the five"},
		"running, no start": {"UPDATE jobs SET state = 'running'",
			"a running job names its worker, its start and its attempt, and has not finished"},
		"finished, no time": {"UPDATE jobs SET state = 'failed'",
			"a job has finished exactly when it is completed, failed or canceled"},
		"held": {"UPDATE jobs SET hold = 7", "only a queued job is held back"},
		"waits for nothing": {"UPDATE jobs SET hold = 2, limit_key = NULL",
			"only a job with a limit key waits for one"},
		"counts": {"UPDATE jobs SET failures = 9",
			"attempts that ended badly are no more than all attempts"},
		"step":   {"UPDATE job_steps SET attempt = 5", "a step is of a job and of an attempt that was made"},
		"signal": {"UPDATE job_signals SET attempt = 5", "a signal is of a job, and of an attempt that was made"},
		"signal's number": {"UPDATE job_signals SET number = 2",
			"the signals of a name are numbered, and answered in their order"},
		"lost key": {"DELETE FROM job_keys WHERE scope = 'unfinished'",
			"a key that is kept while its job is unfinished is there as long as the job is"},
		"lost for ever": {"DELETE FROM job_keys WHERE scope = 'forever'", "a job with a key for ever has taken it"},
		"kept key": {"UPDATE jobs SET state = 'canceled', finished_at = created_at",
			"a key that is kept while its job is unfinished is free when the job has finished"},
		"forgotten": {"DELETE FROM job_heads",
			"a limit key with waiting jobs has something running, or is to be examined"},
		"passed over": {"UPDATE job_heads SET priority = priority - 1",
			"claims find each job that waits for a limit key"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				require.NoError(t, queue.Migrate(t.Context(), db))
				q := on(t, db, nil)
				enqueue(t, q, &queue.Options{Key: queue.WhileUnfinished("a"), Priority: 1})
				enqueue(t, q, &queue.Options{Key: queue.Forever("b")})
				enqueue(t, q, &queue.Options{LimitKey: "l"})
				jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
				require.NoError(t, err)
				require.NoError(t, finishStep(t.Context(), jobs[0], "s", 1))
				require.NoError(t, q.Signal(t.Context(), jobs[0].Job.ID, "s", 1))
				require.NoError(t, jobs[0].Fail(t.Context(), queue.RetryAfter(errDatabase, 1)))
				require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("m"), queue.Limit{MaxRunning: 1}))
				enqueue(t, q, &queue.Options{LimitKey: "m"})

				found, err := queueadmin.Verify(t.Context(), q)
				require.NoError(t, err)
				require.Empty(t, found)

				require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, c.damage)
					return err
				}))
				found, err = queueadmin.Verify(t.Context(), q)
				require.NoError(t, err)
				rules := make([]string, len(found))
				for i := range found {
					rules[i] = found[i].Rule
				}
				require.Contains(t, rules, c.rule)
			})
		})
	}
}
