package drivertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// inState makes a job that stands in the state.
func (s *suite) inState(state driver.State, mods ...func(*driver.InsertJob)) string {
	s.Helper()
	job := newJob(mods...)
	s.insert(job)
	if state == driver.StateQueued {
		return job.ID
	}
	claimed := s.claim(1, job.Type)
	require.Equal(s, []string{job.ID}, ids(claimed))
	switch state {
	case driver.StateCompleted:
		require.NoError(s, s.finish(completed(claimed[0].Lease())))
	case driver.StateFailed:
		require.NoError(s, s.finish(failed(claimed[0].Lease())))
	case driver.StateCanceled:
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
			for state, want := range map[driver.State]error{
				driver.StateRunning: nil, driver.StateCompleted: driver.ErrFinished,
				driver.StateFailed: driver.ErrFinished, driver.StateCanceled: driver.ErrFinished,
				driver.StateQueued: nil,
			} {
				id := s.inState(state)
				err := s.cancel(id)
				if want != nil {
					require.ErrorIs(s, err, want, state)
					require.Equal(s, state, s.state(id))
					continue
				}
				require.NoError(s, err, state)
				require.Equal(s, driver.StateCanceled, s.state(id))
				require.NotZero(s, s.job(id).FinishedAt)
			}
			require.ErrorIs(s, s.cancel("none"), driver.ErrJobNotFound)
			require.Empty(s, s.claim(10), "a canceled job is not claimed")
		},
	},
	{
		name:        "Cancel/takes a scheduled job out of the schedule",
		explanation: "a canceled job must not come back when its time comes",
		run: func(s *suite) {
			job := newJob(dueAt(s.now().Add(time.Hour)))
			s.insert(job)
			require.NoError(s, s.cancel(job.ID))
			result := s.claimAt(s.now().Add(2*time.Hour), "w", 1)
			require.Empty(s, result.Jobs)
			require.Zero(s, result.NextDue)
		},
	},
	{
		name:        "CancelJobs/cancels those in the states",
		explanation: "jobs that have begun or ended since they were listed are left as they are, and so are finished ones",
		run: func(s *suite) {
			held := newJob(withKey(driver.Key{Name: "k", Scope: driver.KeyUnfinished}))
			s.insert(held)
			queued := s.inState(driver.StateQueued, ofType("other"))
			ended := s.inState(driver.StateCompleted, ofType("third"))
			running := s.claim(1, "t")
			require.Equal(s, []string{held.ID}, ids(running))
			cancel := func(states ...driver.State) (canceled []string) {
				s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
					canceled, err = s.d.CancelJobs(ctx, tx, driver.CancelRequest{
						JobIDs: []string{held.ID, queued, ended, "none"}, States: states,
					})
					return err
				})
				return canceled
			}
			require.Equal(s, []string{queued}, cancel(driver.StateQueued))
			require.Equal(s, []string{held.ID}, cancel(driver.States()...))
			require.Equal(s, driver.StateCompleted, s.state(ended))
			require.Empty(s, cancel(driver.StateQueued, driver.StateRunning))
			attempts, err := s.d.Attempts(s.Context(), held.ID)
			require.NoError(s, err)
			require.Len(s, attempts, 1)
			require.Equal(s, driver.KindCanceled, attempts[0].Kind)
			again := newJob(withKey(driver.Key{Name: "k", Scope: driver.KeyUnfinished}))
			require.False(s, s.insert(again)[0].Duplicate, "its key is free")
		},
	},
	{
		name:        "CancelJobs/keeps the reason",
		explanation: "who looks at a canceled job must see why; without a reason its last error stays",
		run: func(s *suite) {
			running, queued, without := s.started(), newJob(ofType("q")), newJob(ofType("q"))
			s.insert(queued, without)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				canceled, err := s.d.CancelJobs(ctx, tx, driver.CancelRequest{
					JobIDs: []string{running.ID, queued.ID, without.ID}, States: driver.States(),
					Reason: func(id string) string {
						if id == without.ID {
							return ""
						}
						return "no \"need\" of " + id
					},
				})
				require.Len(s, canceled, 3)
				return err
			})
			require.Equal(s, `no "need" of `+running.ID, s.job(running.ID).LastError)
			require.Equal(s, `no "need" of `+queued.ID, s.job(queued.ID).LastError)
			require.Empty(s, s.job(without.ID).LastError)
			attempts, err := s.d.Attempts(s.Context(), running.ID)
			require.NoError(s, err)
			require.Equal(s, `no "need" of `+running.ID, attempts[0].Error)
		},
	},
	{
		name:        "Hasten/makes a job due that is to run later",
		explanation: "it is claimed at once, under its limit, and with its budgets as they are; no other job is written",
		run: func(s *suite) {
			s.setLimit(driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
			for name, how := range map[string][]func(*driver.InsertJob){
				"free": {dueAt(s.now().Add(time.Hour))}, "limited": {dueAt(s.now().Add(time.Hour)), withLimitKey("k")},
			} {
				job := newJob(how...)
				s.insert(job)
				require.Empty(s, s.claim(1), name)
				require.NoError(s, s.hasten(job.ID))
				require.NoError(s, s.hasten(job.ID), "twice")
				claimed := s.claim(2)
				require.Equal(s, []string{job.ID}, ids(claimed), name)
				require.NoError(s, s.hasten(job.ID))
				require.Equal(s, driver.StateRunning, s.state(job.ID), "it runs")
				require.NoError(s, s.finish(completed(claimed[0].Lease())))
			}
			for _, state := range []driver.State{driver.StateCompleted, driver.StateFailed, driver.StateCanceled} {
				id := s.inState(state)
				require.NoError(s, s.hasten(id))
				require.Equal(s, state, s.state(id))
			}
			require.NoError(s, s.hasten("none"))
		},
	},
	{
		name:        "Retry/takes failed and canceled jobs",
		explanation: "retry makes them due at once with all budgets unspent; unfinished is ErrNotFinished, completed ErrFinished",
		run: func(s *suite) {
			for state, want := range map[driver.State]error{
				driver.StateRunning: driver.ErrNotFinished, driver.StateCompleted: driver.ErrFinished,
				driver.StateFailed:   nil,
				driver.StateCanceled: nil,
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
				require.Equal(s, driver.StateQueued, job.State)
				require.Zero(s, job.Failures+job.Interruptions+job.Crashes)
				require.Zero(s, job.FinishedAt)
				claimed := s.claim(1)
				require.Equal(s, []string{id}, ids(claimed))
				require.Equal(s, 2, claimed[0].Attempt, "attempts go on: the old lease stays worthless")
			}
			require.ErrorIs(s, s.retry(s.inState(driver.StateQueued)), driver.ErrNotFinished)
			require.ErrorIs(s, s.retry("none"), driver.ErrJobNotFound)
		},
	},
	{
		name:        "Retry/takes its key again",
		explanation: "a retried job holds its key of scope unfinished as a new one would",
		run: func(s *suite) {
			key := withKey(whileUnfinished("k"))
			id := s.inState(driver.StateFailed, key)
			require.NoError(s, s.retry(id))
			require.Equal(s, driver.InsertResult{ID: id, Duplicate: true}, s.insert(newJob(key))[0])
			require.NoError(s, s.cancel(id))
			require.False(s, s.insert(newJob(key))[0].Duplicate)
		},
	},
	{
		name:        "Retry/keeps a key that is forever",
		explanation: "a key forever was never freed, so its job may be retried",
		run: func(s *suite) {
			require.NoError(s, s.retry(s.inState(driver.StateFailed, withKey(forever("k")))))
		},
	},
	{
		name:        "Retry/is refused when another job has its key for ever",
		explanation: "what a key for ever names would happen twice",
		run: func(s *suite) {
			key := withKey(forever("k"))
			id := s.inState(driver.StateFailed, key)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM "+s.table("job_keys"))
				return err
			})
			require.False(s, s.insert(newJob(key))[0].Duplicate)
			require.ErrorIs(s, s.retry(id), driver.ErrKeyConflict)
			require.Equal(s, driver.StateFailed, s.state(id))
		},
	},
	{
		name:        "Retry/is refused while another job has its key, and writes nothing",
		explanation: "two unfinished jobs must never share a key, also when the caller commits in spite of the error",
		run: func(s *suite) {
			key := withKey(whileUnfinished("k"))
			id := s.inState(driver.StateFailed, key)
			holder := s.insert(newJob(key))[0].ID
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				require.ErrorIs(s, s.d.Retry(ctx, tx, id), driver.ErrKeyConflict)
				return nil
			})
			require.Equal(s, driver.StateFailed, s.state(id))
			require.Equal(s, 1, s.job(id).Failures)
			require.NoError(s, s.cancel(holder))
			require.NoError(s, s.retry(id), "the key is free now")
		},
	},
}
