package queuetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

var finishCases = []conformanceCase{
	{
		name:        "Finish/completes with a result",
		explanation: "a completed job keeps its result and says when it ended; success costs no attempt record, the job's own row tells of it",
		run: func(s *suite) {
			job := s.started()
			out := completed(job.Lease())
			out.Result = []byte(`{"answer":42}`)
			require.NoError(s, s.finish(out))
			got := s.job(job.ID)
			require.Equal(s, queue.StateCompleted, got.State)
			require.Equal(s, `{"answer":42}`, string(got.Result))
			require.True(s, out.At.UTC().Truncate(time.Microsecond).Equal(got.FinishedAt))
			require.Zero(s, got.Failures+got.Interruptions+got.Crashes)
			attempts, err := s.d.Attempts(s.Context(), job.ID)
			require.NoError(s, err)
			require.Equal(s, []queue.AttemptRecord{{
				JobID: job.ID, Attempt: 1, WorkerID: "w", Kind: queue.KindCompleted, StartedAt: got.StartedAt, FinishedAt: got.FinishedAt,
			}}, attempts)
			var records int
			require.NoError(s, s.d.Reader().Get(&records, "SELECT COUNT(*) FROM job_attempts"))
			require.Zero(s, records)
		},
	},
	{
		name: "Finish/tells two attempts of one job in one batch apart",
		explanation: "a worker that lost a job and claimed it again may report both attempts at once; only the current one " +
			"counts, and the lost one frees no key and leaves no record",
		run: func(s *suite) {
			for _, stale := range []string{queue.KindCompleted, queue.KindInterrupted} {
				key := withKey(queue.WhileUnfinished("k"))
				first := s.started(key)
				s.requeue(first)
				second := s.claim(1)[0]
				lost, current := completed(first.Lease()), failed(second.Lease())
				if stale == queue.KindInterrupted {
					lost.State, lost.Kind, lost.Error = queue.StateQueued, queue.KindInterrupted, "lost"
				}
				current.State, current.NotBefore = queue.StateQueued, time.Now().Add(time.Hour)
				s.write(func(ctx context.Context, tx *queue.Tx) error {
					answers, err := s.d.Finish(ctx, tx, []queue.Outcome{lost, current})
					require.NoError(s, err)
					require.Error(s, answers[0])
					require.NoError(s, answers[1])
					return nil
				})
				require.Equal(s, queue.StateQueued, s.job(first.ID).State)
				require.Equal(s, 2, s.job(first.ID).Failures)
				require.True(s, s.insert(newJob(key))[0].Duplicate, "the key is still the unfinished job's")
				require.NoError(s, s.cancel(first.ID))
			}
		},
	},
	{
		name:        "Finish/counts each way to end apart, and records it",
		explanation: "failures, interruptions and crashes have separate budgets, so each counts only itself",
		run: func(s *suite) {
			job := s.started()
			for i, kind := range []string{queue.KindFailed, queue.KindInterrupted, queue.KindInterrupted, queue.KindCrashed} {
				if i > 0 {
					job = s.claim(1)[0]
				}
				require.NoError(s, s.finish(queue.Outcome{Lease: job.Lease(), State: queue.StateQueued, Kind: kind,
					NotBefore: time.Now(), Error: "error of " + kind, Stack: "stack of " + kind, At: time.Now()}))
			}
			got := s.job(job.ID)
			require.Equal(s, []int{1, 2, 1}, []int{got.Failures, got.Interruptions, got.Crashes})
			require.Equal(s, "error of crashed", got.LastError)
			require.Zero(s, got.FinishedAt)

			attempts, err := s.d.Attempts(s.Context(), job.ID)
			require.NoError(s, err)
			require.Len(s, attempts, 4)
			for i, a := range attempts {
				require.Equal(s, i+1, a.Attempt, "in order")
				require.Equal(s, "w", a.WorkerID)
				require.Equal(s, "error of "+a.Kind, a.Error)
				require.Equal(s, "stack of "+a.Kind, a.Stack)
				require.False(s, a.FinishedAt.Before(a.StartedAt))
			}
		},
	},
	{
		name:        "Finish/answers each outcome for itself",
		explanation: "one outcome whose lease is lost must not keep the others of the batch from being written",
		run: func(s *suite) {
			good, gone := s.started(), s.started()
			require.NoError(s, s.cancel(gone.ID))
			s.write(func(ctx context.Context, tx *queue.Tx) error {
				answers, err := s.d.Finish(ctx, tx, []queue.Outcome{completed(gone.Lease()), completed(good.Lease()), completed(queue.Lease{JobID: "none", Attempt: 1})})
				require.NoError(s, err)
				require.ErrorIs(s, answers[0], queue.ErrNotRunning)
				require.NoError(s, answers[1])
				require.ErrorIs(s, answers[2], queue.ErrJobNotFound)
				return nil
			})
			require.Equal(s, queue.StateCompleted, s.state(good.ID))
			require.Equal(s, queue.StateCanceled, s.state(gone.ID))
		},
	},
	{
		name:        "Fence/refuses a stale lease and says why",
		explanation: "every write of a worker names its attempt: a later attempt means ErrLeaseLost, a job that does not run ErrNotRunning, no job ErrJobNotFound",
		run: func(s *suite) {
			job := s.started()
			old := job.Lease()
			s.requeue(job)
			s.refused(old, queue.ErrNotRunning)

			job = s.claim(1)[0]
			s.refused(old, queue.ErrLeaseLost)
			s.refused(queue.Lease{JobID: job.ID, Attempt: job.Attempt + 1}, queue.ErrLeaseLost)
			s.refused(queue.Lease{JobID: "00000000-0000-7000-8000-000000000000", Attempt: 1}, queue.ErrJobNotFound)

			require.Equal(s, job, *s.job(job.ID), "a refused write changes nothing")
			steps, err := s.d.Steps(s.Context(), job.ID)
			require.NoError(s, err)
			require.Empty(s, steps)

			require.NoError(s, s.finish(completed(job.Lease())))
			s.refused(job.Lease(), queue.ErrNotRunning)
		},
	},
	{
		name:        "Fence/lets the holder pass",
		explanation: "Check and Verify answer nil for the current attempt of a running job",
		run: func(s *suite) {
			job := s.started()
			s.write(func(ctx context.Context, tx *queue.Tx) error { return s.d.Check(ctx, tx, job.Lease()) })
			answers, err := s.d.Verify(s.Context(), []queue.Lease{job.Lease(), {JobID: job.ID, Attempt: 9}})
			require.NoError(s, err)
			require.NoError(s, answers[0])
			require.ErrorIs(s, answers[1], queue.ErrLeaseLost)
		},
	},
	{
		name:        "Finish/frees the key in the same transaction",
		explanation: "whoever completes a job may enqueue its successor under the same key at once",
		run: func(s *suite) {
			key := withKey(queue.WhileUnfinished("k"))
			job, next := s.started(key), newJob(key)
			s.write(func(ctx context.Context, tx *queue.Tx) error {
				answers, err := s.d.Finish(ctx, tx, []queue.Outcome{completed(job.Lease())})
				require.NoError(s, err)
				require.NoError(s, answers[0])
				results, err := s.d.Insert(ctx, tx, []queue.InsertJob{next})
				require.NoError(s, err)
				require.Equal(s, queue.InsertResult{ID: next.ID}, results[0])
				return nil
			})
			require.Equal(s, queue.StateQueued, s.state(next.ID))
		},
	},
}

// refused tries every write that names a lease.
func (s *suite) refused(lease queue.Lease, want error) {
	s.Helper()
	require.ErrorIs(s, s.finish(completed(lease)), want, "Finish, completed")
	require.ErrorIs(s, s.finish(failed(lease)), want, "Finish, failed")
	answers, err := s.d.Verify(s.Context(), []queue.Lease{lease})
	require.NoError(s, err)
	require.ErrorIs(s, answers[0], want, "Verify")
	for name, try := range map[string]func(ctx context.Context, tx *queue.Tx) error{
		"Check":     func(ctx context.Context, tx *queue.Tx) error { return s.d.Check(ctx, tx, lease) },
		"StartStep": func(ctx context.Context, tx *queue.Tx) error { return s.d.StartStep(ctx, tx, lease, "step") },
		"SaveCursor": func(ctx context.Context, tx *queue.Tx) error {
			return s.d.SaveCursor(ctx, tx, lease, "step", []byte("1"))
		},
		"FinishStep": func(ctx context.Context, tx *queue.Tx) error {
			return s.d.FinishStep(ctx, tx, lease, queue.StepRecord{Name: "step", StartedAt: tx.Now(), Result: []byte("1")})
		},
	} {
		require.ErrorIs(s, s.d.Write(s.Context(), try), want, name)
	}
}
