package queueadmin_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func of(user string) *queue.Options { return &queue.Options{UserID: user} }

// rowsOf counts the rows of the tables that jobs have.
func rowsOf(t require.TestingT, q *queue.Queue) map[string]int {
	counts := map[string]int{}
	for _, table := range []string{"jobs", "job_steps", "job_signals", "job_attempts", "job_logs", "job_keys"} {
		var n int
		require.NoError(t, q.DB().Reader().Get(&n, "SELECT COUNT(*) FROM "+table))
		counts[table] = n
	}
	return counts
}

// Seed 001: ON DELETE CASCADE of auth.users.
func TestDeleteUserEndsAndRemovesAllOfOneUser(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		require.NoError(t, q.SetLimit(ctx, queue.ForKey("k"), queue.Limit{MaxRunning: 1}))
		others := enqueue(t, q, &queue.Options{UserID: "bob", Key: queue.Forever("bob's")})
		nobody := enqueue(t, q, nil)
		set(t, q, queue.Schedule{Name: "ada's", Cron: "@daily", Job: ping.New(1, of("ada"))})
		set(t, q, queue.Schedule{Name: "bob's", Cron: "@daily", Job: ping.New(1, of("bob"))})
		before := rowsOf(t, q)

		enqueue(t, q, &queue.Options{UserID: "ada", Priority: 9, MaxAttempts: 1})
		claimed, err := q.Claim(ctx, "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.NoError(t, finishStep(ctx, claimed[0], "step", 1))
		require.NoError(t, claimed[0].Fail(ctx, errBroken))
		running := enqueue(t, q, &queue.Options{UserID: "ada", Priority: 9, Key: queue.Forever("ada's")})
		claimed, err = q.Claim(ctx, "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.Equal(t, running, claimed[0].Job.ID)
		for range 3 {
			enqueue(t, q, &queue.Options{UserID: "ada", LimitKey: "k"})
		}

		var progress []queueadmin.DeletedUser
		done, err := queueadmin.DeleteUser(ctx, q, "ada", &queueadmin.DeleteUserConfig{Batch: 2,
			Progress: func(done queueadmin.DeletedUser) { progress = append(progress, done) }})
		require.NoError(t, err)
		require.Equal(t, queueadmin.DeletedUser{Schedules: 1, Canceled: 4, Jobs: 5}, done)
		require.Equal(t, []int{0, 2, 4, 5}, jobsIn(progress))
		require.Equal(t, before, rowsOf(t, q), "also the key for ever is gone")
		require.ErrorIs(t, claimed[0].Complete(ctx, nil), queue.ErrJobNotFound, "what ran may write nothing")
		require.Equal(t, queue.StateQueued, job(t, q, others).State)
		require.Equal(t, queue.StateQueued, job(t, q, nobody).State)
		schedules, err := q.Schedules(ctx)
		require.NoError(t, err)
		require.Len(t, schedules, 1)
		require.Equal(t, "bob's", schedules[0].Name)
		violations, err := queueadmin.Verify(ctx, q)
		require.NoError(t, err)
		require.Empty(t, violations)

		done, err = queueadmin.DeleteUser(ctx, q, "ada", nil)
		require.NoError(t, err)
		require.Zero(t, done)
	})
}

func jobsIn(progress []queueadmin.DeletedUser) (jobs []int) {
	for _, p := range progress {
		jobs = append(jobs, p.Jobs)
	}
	return jobs
}

func TestDeleteUserEndsAHandlerThatRuns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		began, ended := make(chan struct{}), make(chan error, 1)
		stop := start(t, q, nil, func(ctx context.Context, _ *queue.Work[int]) error {
			close(began)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil
		})
		enqueue(t, q, of("ada"))
		<-began
		done, err := queueadmin.DeleteUser(t.Context(), q, "ada", nil)
		require.NoError(t, err)
		require.Equal(t, queueadmin.DeletedUser{Canceled: 1, Jobs: 1}, done)
		require.ErrorIs(t, <-ended, queue.ErrCanceled)
		require.NoError(t, stop())
		require.Zero(t, count(t, q))
	})
}

func TestDeleteUserLeavesWhatAMoveHolds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		require.NoError(t, q.Cancel(ctx, enqueue(t, q, of("ada"))))
		require.NoError(t, driver.Write(ctx, db.Driver(), func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := db.Driver().(driver.MoveSource).HoldJobs(ctx, tx, 10)
			return err
		}))
		enqueue(t, q, of("ada"))
		done, err := queueadmin.DeleteUser(ctx, q, "ada", nil)
		require.ErrorIs(t, err, queueadmin.ErrBeingMoved)
		require.ErrorContains(t, err, "1 jobs are left")
		require.Equal(t, 1, done.Jobs)
		require.Equal(t, 1, count(t, q))
	})
}

func TestDeleteUserRefusesWhatNamesNoUser(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		enqueue(t, q, nil)
		_, err := queueadmin.DeleteUser(ctx, q, "", nil)
		require.ErrorContains(t, err, "the user id is empty")
		_, err = queueadmin.DeleteUser(ctx, q, "ada", &queueadmin.DeleteUserConfig{Batch: -1})
		require.ErrorContains(t, err, "DeleteUserConfig.Batch is -1; it must be within 1 and 5000")
		_, err = queueadmin.DeleteUser(ctx, nil, "ada", nil)
		require.ErrorContains(t, err, "the Queue is nil")
		require.Equal(t, 1, count(t, q))

		set(t, q, queue.Schedule{Name: "s", Cron: "@daily", Job: ping.New(1, of("ada"))})
		set(t, q, daily(queue.CatchUpOnce))
		execute(t, q, "UPDATE job_schedules SET options_json = '[]' WHERE name = 'daily'")
		enqueue(t, q, of("ada"))
		done, err := queueadmin.DeleteUser(ctx, q, "ada", nil)
		require.ErrorContains(t, err, `schedule "daily": its options cannot be read, so its user is not known`)
		require.Equal(t, queueadmin.DeletedUser{Schedules: 1, Canceled: 1, Jobs: 1}, done, "the rest is done")
	})
}

// Whatever users have, and wherever it is interrupted: nothing of the user stays, and all of the others.
func TestDeleteUserGoesOnAfterAnInterruption(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		rapid.Check(t, func(t *rapid.T) {
			users := []string{"ada", "bob", ""}
			left := map[string]int{}
			for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
				user := rapid.SampledFrom(users).Draw(t, "user")
				opts := of(user)
				if rapid.Bool().Draw(t, "keyed") {
					opts.Key = queue.Forever(rapid.StringMatching(`[a-z]{12}`).Draw(t, "key") + strconv.Itoa(i))
				}
				enqueued, err := q.Enqueue(context.Background(), ping.New(1, opts))
				require.NoError(t, err)
				if rapid.Bool().Draw(t, "canceled") {
					require.NoError(t, q.Cancel(context.Background(), enqueued.ID))
				}
				left[user]++
			}
			ctx, cancel := context.WithCancel(context.Background())
			calls, after := 0, rapid.IntRange(1, 6).Draw(t, "batches")
			_, err := queueadmin.DeleteUser(ctx, q, "ada", &queueadmin.DeleteUserConfig{Batch: 2,
				Progress: func(queueadmin.DeletedUser) {
					if calls++; calls == after {
						cancel()
					}
				}})
			cancel()
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
			for _, user := range []string{"ada", "bob"} {
				counts, err := q.Counts(context.Background(), queue.Filter{UserID: user})
				require.NoError(t, err)
				if user == "bob" {
					require.Equal(t, left[user], total(counts))
				}
				_, err = queueadmin.DeleteUser(context.Background(), q, user, nil)
				require.NoError(t, err)
			}
			counts, err := q.Counts(context.Background(), queue.Filter{})
			require.NoError(t, err)
			require.Equal(t, left[""], total(counts))
			_, err = q.CancelAll(context.Background(), queue.Filter{All: true})
			require.NoError(t, err)
			require.NoError(t, db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM jobs")
				if err == nil {
					_, err = tx.ExecContext(ctx, "DELETE FROM job_keys")
				}
				return err
			}))
		})
	})
}

func total(counts map[queue.State]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
