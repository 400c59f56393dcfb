package queuetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// inState makes a job that stands in the state.
func (s *suite) inState(state queue.State, mods ...func(*queue.InsertJob)) string {
	s.Helper()
	job := newJob(mods...)
	s.insert(job)
	if state == queue.StateQueued {
		return job.ID
	}
	claimed := s.claim(1, job.Type)
	require.Equal(s, []string{job.ID}, ids(claimed))
	switch state {
	case queue.StateCompleted:
		require.NoError(s, s.finish(completed(claimed[0].Lease())))
	case queue.StateFailed:
		require.NoError(s, s.finish(failed(claimed[0].Lease())))
	case queue.StateCanceled:
		require.NoError(s, s.cancel(job.ID))
	}
	require.Equal(s, state, s.state(job.ID))
	return job.ID
}

var cancelCases = []conformanceCase{
	{
		name:        "Cancel/ends what is not finished",
		explanation: "cancel takes queued and running jobs; others are ErrFinished and stay as they are",
		run: func(s *suite) {
			for state, want := range map[queue.State]error{
				queue.StateRunning: nil, queue.StateCompleted: queue.ErrFinished,
				queue.StateFailed: queue.ErrFinished, queue.StateCanceled: queue.ErrFinished, queue.StateQueued: nil,
			} {
				id := s.inState(state)
				err := s.cancel(id)
				if want != nil {
					require.ErrorIs(s, err, want, state)
					require.Equal(s, state, s.state(id))
					continue
				}
				require.NoError(s, err, state)
				require.Equal(s, queue.StateCanceled, s.state(id))
				require.NotZero(s, s.job(id).FinishedAt)
			}
			require.ErrorIs(s, s.cancel("none"), queue.ErrJobNotFound)
			require.Empty(s, s.claim(10), "a canceled job is not claimed")
		},
	},
	{
		name:        "Cancel/takes a scheduled job out of the schedule",
		explanation: "a canceled job must not come back when its time comes",
		run: func(s *suite) {
			job := newJob(dueAt(time.Now().Add(time.Hour)))
			s.insert(job)
			require.NoError(s, s.cancel(job.ID))
			result := s.claimAt(time.Now().Add(2*time.Hour), "w", 1)
			require.Empty(s, result.Jobs)
			require.Zero(s, result.NextDue)
		},
	},
	{
		name:        "Retry/takes failed and canceled jobs",
		explanation: "retry makes them due at once with all budgets unspent; unfinished is ErrNotFinished, completed ErrFinished",
		run: func(s *suite) {
			for state, want := range map[queue.State]error{
				queue.StateRunning: queue.ErrNotFinished, queue.StateCompleted: queue.ErrFinished, queue.StateFailed: nil,
				queue.StateCanceled: nil,
			} {
				id := s.inState(state)
				err := s.retry(id)
				if want != nil {
					require.ErrorIs(s, err, want, state)
					require.Equal(s, state, s.state(id))
					continue
				}
				require.NoError(s, err, state)
				job := s.job(id)
				require.Equal(s, queue.StateQueued, job.State)
				require.Zero(s, job.Failures+job.Interruptions+job.Crashes)
				require.Zero(s, job.FinishedAt)
				claimed := s.claim(1)
				require.Equal(s, []string{id}, ids(claimed))
				require.Equal(s, 2, claimed[0].Attempt, "attempts go on: the old lease stays worthless")
			}
			require.ErrorIs(s, s.retry(s.inState(queue.StateQueued)), queue.ErrNotFinished)
			require.ErrorIs(s, s.retry("none"), queue.ErrJobNotFound)
		},
	},
	{
		name:        "Retry/takes its key again",
		explanation: "a retried job holds its key of scope unfinished as a new one would",
		run: func(s *suite) {
			key := withKey(queue.WhileUnfinished("k"))
			id := s.inState(queue.StateFailed, key)
			require.NoError(s, s.retry(id))
			require.Equal(s, queue.InsertResult{ID: id, Duplicate: true}, s.insert(newJob(key))[0])
			require.NoError(s, s.cancel(id))
			require.False(s, s.insert(newJob(key))[0].Duplicate)
		},
	},
	{
		name:        "Retry/keeps a key that is forever",
		explanation: "a key forever was never freed, so its job may be retried",
		run: func(s *suite) {
			require.NoError(s, s.retry(s.inState(queue.StateFailed, withKey(queue.Forever("k")))))
		},
	},
	{
		name:        "Retry/is refused when another job has its key for ever",
		explanation: "what a key for ever names would happen twice",
		run: func(s *suite) {
			key := withKey(queue.Forever("k"))
			id := s.inState(queue.StateFailed, key)
			s.write(func(ctx context.Context, tx *queue.Tx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM job_keys")
				return err
			})
			require.False(s, s.insert(newJob(key))[0].Duplicate)
			require.ErrorIs(s, s.retry(id), queue.ErrKeyConflict)
			require.Equal(s, queue.StateFailed, s.state(id))
		},
	},
	{
		name:        "Retry/is refused while another job has its key, and writes nothing",
		explanation: "two unfinished jobs must never share a key, also when the caller commits in spite of the error",
		run: func(s *suite) {
			key := withKey(queue.WhileUnfinished("k"))
			id := s.inState(queue.StateFailed, key)
			holder := s.insert(newJob(key))[0].ID
			s.write(func(ctx context.Context, tx *queue.Tx) error {
				require.ErrorIs(s, s.d.Retry(ctx, tx, id), queue.ErrKeyConflict)
				return nil
			})
			require.Equal(s, queue.StateFailed, s.state(id))
			require.Equal(s, 1, s.job(id).Failures)
			require.NoError(s, s.cancel(holder))
			require.NoError(s, s.retry(id), "the key is free now")
		},
	},
}
