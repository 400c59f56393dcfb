package drivertest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var finishCases = []conformanceCase{
	{
		name:        "Finish/completes with a result",
		explanation: "a completed job keeps its result and says when it ended; success costs no attempt record, the job's own row has it all",
		run: func(s *suite) {
			job := s.started()
			out := completed(job.Lease())
			out.Result = []byte(`{"answer":42}`)
			require.NoError(s, s.finish(out))
			got := s.job(job.ID)
			require.Equal(s, driver.StateCompleted, got.State)
			require.Equal(s, `{"answer":42}`, string(got.Result))
			require.True(s, out.At.UTC().Truncate(time.Microsecond).Equal(got.FinishedAt))
			require.Zero(s, got.Failures+got.Interruptions+got.Crashes)
			attempts, err := s.d.Attempts(s.Context(), job.ID)
			require.NoError(s, err)
			require.Equal(s, []driver.AttemptRecord{{
				JobID: job.ID, Attempt: 1, WorkerID: "w", Kind: driver.KindCompleted, StartedAt: got.StartedAt,
				FinishedAt: got.FinishedAt,
			}}, attempts)
			var records int
			require.NoError(s, s.d.Reader().Get(&records, "SELECT COUNT(*) FROM "+s.table("job_attempts")))
			require.Zero(s, records)
		},
	},
	{
		name: "Finish/distinguishes two attempts of one job in one batch",
		explanation: "a worker that lost a job and claimed it again may report both attempts at once; only the current one " +
			"counts, and the lost one frees no key and leaves no record",
		run: func(s *suite) {
			for _, stale := range []string{driver.KindCompleted, driver.KindInterrupted} {
				key := withKey(whileUnfinished("k"))
				first := s.started(key)
				s.requeue(first)
				second := s.claim(1)[0]
				lost, current := completed(first.Lease()), failed(second.Lease())
				if stale == driver.KindInterrupted {
					lost.State, lost.Kind, lost.Error = driver.StateQueued, driver.KindInterrupted, "lost"
				}
				current.State, current.NotBefore = driver.StateQueued, s.now().Add(time.Hour)
				s.write(func(ctx context.Context, tx *driver.WriteTx) error {
					answers, err := s.d.Finish(ctx, tx, []driver.Outcome{lost, current})
					require.NoError(s, err)
					require.Error(s, answers[0])
					require.NoError(s, answers[1])
					return nil
				})
				require.Equal(s, driver.StateQueued, s.job(first.ID).State)
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
			for i, kind := range []string{driver.KindFailed, driver.KindInterrupted, driver.KindInterrupted,
				driver.KindCrashed} {
				if i > 0 {
					job = s.claim(1)[0]
				}
				require.NoError(s, s.finish(driver.Outcome{Lease: job.Lease(), State: driver.StateQueued, Kind: kind,
					NotBefore: s.now(), Error: "error of " + kind, Stack: "stack of " + kind, At: s.now()}))
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
		name:        "Finish/cancels with a reason",
		explanation: "a handler may find its job pointless: it ends canceled, frees what it held, and counts as no failure",
		run: func(s *suite) {
			key := withKey(whileUnfinished("k"))
			job := s.started(key)
			require.NoError(s, s.finish(driver.Outcome{Lease: job.Lease(), State: driver.StateCanceled,
				Kind: driver.KindCanceled, Error: "gone", At: s.now()}))
			got := s.job(job.ID)
			require.Equal(s, driver.StateCanceled, got.State)
			require.Equal(s, "gone", got.LastError)
			require.NotZero(s, got.FinishedAt)
			require.Equal(s, []int{0, 0, 0}, []int{got.Failures, got.Interruptions, got.Crashes})
			require.Equal(s, []string{driver.KindCanceled}, s.history(job.ID))
			require.False(s, s.insert(newJob(key))[0].Duplicate, "its key is free")
		},
	},
	{
		name:        "Finish/answers each outcome for itself",
		explanation: "one outcome whose lease is lost must not keep the others of the batch from being written",
		run: func(s *suite) {
			good, gone := s.started(), s.started()
			require.NoError(s, s.cancel(gone.ID))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				answers, err := s.d.Finish(ctx, tx, []driver.Outcome{completed(gone.Lease()), completed(good.Lease()),
					completed(driver.Lease{JobID: "none", Attempt: 1})})
				require.NoError(s, err)
				require.ErrorIs(s, answers[0], driver.ErrNotRunning)
				require.NoError(s, answers[1])
				require.ErrorIs(s, answers[2], driver.ErrJobNotFound)
				return nil
			})
			require.Equal(s, driver.StateCompleted, s.state(good.ID))
			require.Equal(s, driver.StateCanceled, s.state(gone.ID))
		},
	},
	{
		name: "Finish/ends many plain jobs in one batch",
		explanation: "an engine may write what ends alike by one statement: each keeps its own attempt, result and instant, and one that is " +
			"not held keeps no other from being written",
		run: func(s *suite) {
			s.endManyPlain(nil)
			s.endManyPlain(func(lost driver.Job) { require.NoError(s, s.cancel(lost.ID)) })
			s.endManyPlain(func(lost driver.Job) {
				s.requeue(lost)
				require.Len(s, s.claim(1), 1)
			})
		},
	},
	{
		name:        "Fence/refuses a stale lease and says why",
		explanation: "every write of a worker names its attempt: a later attempt means ErrLeaseLost, a job that does not run ErrNotRunning, no job ErrJobNotFound",
		run: func(s *suite) {
			job := s.started()
			old := job.Lease()
			s.requeue(job)
			s.refused(old, driver.ErrNotRunning)

			job = s.claim(1)[0]
			s.refused(old, driver.ErrLeaseLost)
			s.refused(driver.Lease{JobID: job.ID, Attempt: job.Attempt + 1}, driver.ErrLeaseLost)
			s.refused(driver.Lease{JobID: "00000000-0000-7000-8000-000000000000", Attempt: 1}, driver.ErrJobNotFound)

			require.Equal(s, job, *s.job(job.ID), "a refused write changes nothing")
			steps, err := s.d.Steps(s.Context(), job.ID)
			require.NoError(s, err)
			require.Empty(s, steps)

			require.NoError(s, s.finish(completed(job.Lease())))
			s.refused(job.Lease(), driver.ErrNotRunning)
		},
	},
	{
		name:        "Fence/lets the holder pass",
		explanation: "Check and Verify answer nil for the current attempt of a running job",
		run: func(s *suite) {
			job := s.started()
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.LockLease(ctx, tx, job.Lease()) })
			answers, err := s.d.CheckLeases(s.Context(), []driver.Lease{job.Lease(), {JobID: job.ID, Attempt: 9}})
			require.NoError(s, err)
			require.NoError(s, answers[0])
			require.ErrorIs(s, answers[1], driver.ErrLeaseLost)
		},
	},
	{
		name:        "Fence/answers many leases in order",
		explanation: "a heartbeat asks for all leases of a process at once: held, taken over, ended and unknown ones, and one job twice",
		run: func(s *suite) {
			held, ended := s.started(), s.started()
			require.NoError(s, s.finish(completed(ended.Lease())))
			answers, err := s.d.CheckLeases(s.Context(), []driver.Lease{
				{JobID: "nobody's", Attempt: 1}, held.Lease(), ended.Lease(), {JobID: held.ID, Attempt: 2},
				held.Lease(),
			})
			require.NoError(s, err)
			require.Len(s, answers, 5)
			for i, want := range []error{driver.ErrJobNotFound, nil, driver.ErrNotRunning, driver.ErrLeaseLost, nil} {
				require.ErrorIs(s, answers[i], want)
			}
			answers, err = s.d.CheckLeases(s.Context(), nil)
			require.NoError(s, err)
			require.Empty(s, answers)
		},
	},
	{
		name:        "Finish/frees the key in the same transaction",
		explanation: "whoever completes a job may enqueue its successor under the same key at once",
		run: func(s *suite) {
			key := withKey(whileUnfinished("k"))
			job, next := s.started(key), newJob(key)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				answers, err := s.d.Finish(ctx, tx, []driver.Outcome{completed(job.Lease())})
				require.NoError(s, err)
				require.NoError(s, answers[0])
				results, err := s.d.Insert(ctx, tx, []driver.InsertJob{next})
				require.NoError(s, err)
				require.Equal(s, driver.InsertResult{ID: next.ID}, results[0])
				return nil
			})
			require.Equal(s, driver.StateQueued, s.state(next.ID))
		},
	},
	{
		name:        "SetResult/replaces the result of a job that the transaction has completed",
		explanation: "a result that is known only after the handler's writes is stored with the completion, or not at all",
		run: func(s *suite) {
			for name, first := range map[string]string{"none before": "", "another before": "1"} {
				for _, plain := range []bool{true, false} {
					job, other := s.started(), s.started()
					out := completed(job.Lease())
					out.Result, out.Plain = []byte(first), plain
					set := func(ctx context.Context, tx *driver.WriteTx) error {
						answers, err := s.d.Finish(ctx, tx, []driver.Outcome{out, completed(other.Lease())})
						require.NoError(s, errors.Join(err, errors.Join(answers...)))
						return s.d.SetResult(ctx, tx, job.ID, []byte(`{"second":"ü"}`))
					}
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						require.NoError(s, set(ctx, tx))
						return errUser
					})
					require.ErrorIs(s, err, errUser)
					require.Empty(s, s.job(job.ID).Result, name)
					s.write(set)
					require.JSONEq(s, `{"second":"ü"}`, string(s.job(job.ID).Result), name)
					require.Empty(s, s.job(other.ID).Result, name)
				}
			}
		},
	},
}

// refused tries every write that takes a lease.
func (s *suite) refused(lease driver.Lease, want error) {
	s.Helper()
	require.ErrorIs(s, s.finish(completed(lease)), want, "Finish, completed")
	require.ErrorIs(s, s.finish(failed(lease)), want, "Finish, failed")
	answers, err := s.d.CheckLeases(s.Context(), []driver.Lease{lease})
	require.NoError(s, err)
	require.ErrorIs(s, answers[0], want, "Verify")
	for name, try := range map[string]func(ctx context.Context, tx *driver.WriteTx) error{
		"Check": func(ctx context.Context, tx *driver.WriteTx) error { return s.d.LockLease(ctx, tx, lease) },
		"StartStep": func(ctx context.Context, tx *driver.WriteTx) error {
			return s.d.StartStep(ctx, tx, lease,
				"step")
		},
		"SaveCursor": func(ctx context.Context, tx *driver.WriteTx) error {
			return s.d.SaveCursor(ctx, tx, lease, "step", []byte("1"))
		},
		"FinishStep": func(ctx context.Context, tx *driver.WriteTx) error {
			return s.d.FinishStep(ctx, tx, lease, driver.StepRecord{Name: "step", StartedAt: tx.Now(),
				Result: []byte("1")})
		},
	} {
		require.ErrorIs(s, driver.Write(s.Context(), s.d, try), want, name)
	}
}

// endManyPlain ends runs of jobs that end alike and some that do not; spoil, unless nil, takes a lease away before.
func (s *suite) endManyPlain(spoil func(lost driver.Job)) {
	s.Helper()
	const many, lost = 80, 20
	jobs := make([]driver.InsertJob, many)
	for i := range jobs {
		jobs[i] = newJob()
	}
	s.insert(jobs...)
	claimed := s.claim(many)
	require.Len(s, claimed, many)
	s.requeue(claimed[30])
	claimed[30] = s.claim(1)[0]

	outcomes := make([]driver.Outcome, many)
	at := s.now().UTC().Truncate(time.Microsecond)
	for i := range claimed {
		outcomes[i] = completed(claimed[i].Lease())
		outcomes[i].Plain, outcomes[i].At = true, at.Add(time.Duration(i/40)*time.Millisecond)
	}
	outcomes[70].Result = []byte(`{"answer":42}`)
	if spoil != nil {
		spoil(claimed[lost])
	}
	before := s.job(claimed[lost].ID)
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		answers, err := s.d.Finish(ctx, tx, outcomes)
		require.NoError(s, err)
		require.Len(s, answers, many)
		for i, answer := range answers {
			require.Equal(s, spoil != nil && i == lost, answer != nil, "%d: %v", i, answer)
		}
		return nil
	})
	for i := range outcomes {
		got := s.job(claimed[i].ID)
		if spoil != nil && i == lost {
			require.Equal(s, before, got)
			continue
		}
		require.Equal(s, driver.StateCompleted, got.State)
		require.Equal(s, claimed[i].Attempt, got.Attempt)
		require.True(s, outcomes[i].At.Equal(got.FinishedAt), "%d: %v", i, got.FinishedAt)
		require.Equal(s, string(outcomes[i].Result), string(got.Result))
	}
}
