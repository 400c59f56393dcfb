package drivertest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) removeFinished(ids ...string) (removed []string) {
	s.Helper()
	return s.remove(driver.RemoveRequest{JobIDs: ids, States: finishedStates(), Keys: true})
}

func finishedStates() []driver.State {
	return []driver.State{driver.StateCompleted, driver.StateFailed, driver.StateCanceled}
}

func (s *suite) remove(req driver.RemoveRequest) (removed []string) {
	s.Helper()
	r, ok := driver.As[driver.Remover](s.d)
	if !ok {
		s.Skip("the driver implements no driver.Remover: queueadmin.DeleteUser refuses it")
	}
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		removed, err = r.RemoveFinished(ctx, tx, req)
		return err
	})
	return removed
}

var removeCases = []conformanceCase{
	{
		name:        "RemoveFinished/deletes what has finished, with its rows and its keys",
		explanation: "nothing of a removed job stays, and its key is free; another job that has taken a key of the same name keeps it",
		run: func(s *suite) {
			once := s.inState(driver.StateCompleted, withKey(forever("once")))
			freed := s.inState(driver.StateFailed, withKey(whileUnfinished("freed")))
			steps := s.started()
			s.finishStep(steps.Lease(), "step", `1`)
			require.NoError(s, s.cancel(steps.ID))
			kept := s.inState(driver.StateCompleted)
			s.insert(newJob(withKey(whileUnfinished("freed"))))
			require.ElementsMatch(s, []string{once, freed, steps.ID}, s.removeFinished(once, freed, steps.ID, "none"))
			require.Zero(s, s.count("job_steps"))
			require.Zero(s, s.count("job_attempts"))
			require.Equal(s, 2, s.count("jobs"))
			require.Equal(s, driver.StateCompleted, s.state(kept))
			require.Equal(s, 1, s.count("job_keys"), "that of the queued job")
			again := s.insert(newJob(withKey(whileUnfinished("freed"))), newJob(withKey(forever("once"))))
			require.True(s, again[0].Duplicate)
			require.False(s, again[1].Duplicate)
			require.Empty(s, s.removeFinished())
		},
	},
	{
		name:        "RemoveFinished/leaves the keys unless they are asked for, and other states",
		explanation: "a key that outlives its job keeps what it names from happening twice",
		run: func(s *suite) {
			once := s.inState(driver.StateCompleted, withKey(forever("once")))
			failed := s.inState(driver.StateFailed)
			require.Equal(s, []string{once}, s.remove(driver.RemoveRequest{
				JobIDs: []string{once, failed}, States: []driver.State{driver.StateCompleted},
			}))
			require.Equal(s, driver.StateFailed, s.state(failed))
			require.True(s, s.insert(newJob(withKey(forever("once"))))[0].Duplicate)
			r, _ := driver.As[driver.Remover](s.d)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := r.RemoveFinished(ctx, tx, driver.RemoveRequest{
					JobIDs: []string{failed}, States: []driver.State{driver.StateQueued},
				})
				require.ErrorIs(s, err, driver.ErrUnknownStanding)
				return nil
			})
		},
	},
	{
		name:        "RemoveFinished/leaves what is queued, runs or is being moved",
		explanation: "a job that may run must not vanish, and a move counts on the rows that it holds",
		run: func(s *suite) {
			running, queued := s.started(), newJob(ofType("later"))
			s.insert(queued)
			require.Empty(s, s.removeFinished(running.ID, queued.ID))
			moving := s.inState(driver.StateCompleted)
			s.movable()
			require.Contains(s, s.hold(100), moving)
			require.Empty(s, s.removeFinished(moving))
			require.Equal(s, 3, s.count("jobs"))
		},
	},
}
