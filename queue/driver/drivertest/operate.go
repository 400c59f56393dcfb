package drivertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) auditor() driver.Auditor {
	s.Helper()
	a, ok := driver.As[driver.Auditor](s.d)
	if !ok {
		s.Skip("the driver implements no driver.Auditor: queueadmin's Verify, Explain and CheckProgram refuse it")
	}
	return a
}

// stand inserts a job for each standing, and returns the ids by the standings' names.
func (s *suite) stand() map[string]string {
	s.Helper()
	byName := make(map[string]string)
	for _, state := range []driver.State{driver.StateCompleted, driver.StateFailed, driver.StateCanceled} {
		byName[string(state)] = s.inState(state)
	}
	byName["running"], byName["moving"] = s.started().ID, s.held().ID
	later, limited, ready := newJob(dueAt(s.now().Add(time.Hour))), newJob(withLimitKey("k")), newJob()
	s.setLimit(ofKey("k"), driver.Limit{MaxRunning: 1})
	s.insert(later, limited, ready)
	byName["scheduled"], byName["limited"], byName["ready"] = later.ID, limited.ID, ready.ID
	byName["waiting"] = s.graph("first 0, t 1, first>t cancel").jobs["t"][0]
	return byName
}

// refusesToAsk checks that what reads refuses the state, and holds that no job has.
func (s *suite) refusesToAsk(state driver.State) {
	s.Helper()
	f := driver.Filter{States: []driver.State{driver.StateQueued, state}, Limit: 1}
	_, err := s.d.Jobs(s.Context(), f)
	require.ErrorIs(s, err, driver.ErrUnknownStanding)
	_, err = s.d.JobIDs(s.Context(), f)
	require.ErrorIs(s, err, driver.ErrUnknownStanding)
	_, err = s.d.Counts(s.Context(), f)
	require.ErrorIs(s, err, driver.ErrUnknownStanding)
	_, err = s.d.Finished(s.Context(), state)
	require.ErrorIs(s, err, driver.ErrUnknownStanding)
	a := s.auditor()
	for _, at := range []driver.Standing{
		{State: state}, {State: driver.StateQueued, Hold: 7}, {State: driver.StateRunning, Hold: driver.HoldScheduled},
		{},
	} {
		_, err = a.TypesAt(s.Context(), at)
		require.ErrorIs(s, err, driver.ErrUnknownStanding)
		_, err = a.JobsAt(s.Context(), at, "t", 1)
		require.ErrorIs(s, err, driver.ErrUnknownStanding)
	}
}

var operateCases = []conformanceCase{
	{
		name:        "Standing/every job stands in one place of the table",
		explanation: "each job is found by TypesAt and JobsAt in its own standing, and nowhere else, and StandingOf names it",
		run: func(s *suite) {
			a := s.auditor()
			byName := s.stand()
			for _, at := range driver.Standings() {
				types, err := a.TypesAt(s.Context(), at)
				require.NoError(s, err)
				require.Len(s, types, 1, at.Name)
				require.Equal(s, s.job(byName[at.Name]).NotBefore, types[0].Due)
				types[0].Due = time.Time{}
				require.Equal(s, driver.TypeSummary{Type: "t", Jobs: 1, First: byName[at.Name]}, types[0], at.Name)
				found, err := a.JobsAt(s.Context(), at, "t", 10)
				require.NoError(s, err)
				require.Equal(s, []string{byName[at.Name]}, found, at.Name)
				found, err = a.JobsAt(s.Context(), at, "other", 10)
				require.NoError(s, err)
				require.Empty(s, found)
				got, err := a.StandingOf(s.Context(), byName[at.Name])
				require.NoError(s, err)
				require.Equal(s, at, got)
			}
			_, err := a.StandingOf(s.Context(), "none")
			require.ErrorIs(s, err, driver.ErrJobNotFound)
		},
	},
	{
		name:        "Standing/what is not in the table is refused",
		explanation: "a state, a hold or an end without a name would be a job that no claim, list or count finds; it must not reach the database, and the transaction goes on",
		run: func(s *suite) {
			job := s.started()
			asleep := driver.State("asleep")
			s.refusesToAsk(asleep)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				for _, out := range []driver.Outcome{
					{State: asleep, Kind: driver.KindFailed}, {State: driver.StateRunning, Kind: driver.KindFailed},
					{State: driver.StateFailed, Kind: "bored"}, {State: driver.StateQueued, Kind: driver.KindCompleted,
						Plain: true},
					{State: driver.StateCompleted, Kind: driver.KindReleased}, {},
				} {
					out.Lease, out.At = job.Lease(), s.now()
					_, err := s.d.Finish(ctx, tx, []driver.Outcome{out})
					require.ErrorIs(s, err, driver.ErrUnknownStanding, "%q %q", out.State, out.Kind)
					if d, ok := s.d.(driver.FinishClaimer); ok {
						_, _, err = d.FinishAndClaim(ctx, tx, []driver.Outcome{out}, driver.ClaimRequest{})
						require.ErrorIs(s, err, driver.ErrUnknownStanding, "%q %q", out.State, out.Kind)
					}
				}
				_, err := s.d.Prune(ctx, tx, driver.PruneRequest{State: driver.StateQueued, Type: "t",
					FinishedBefore: s.now(), Limit: 1})
				require.ErrorIs(s, err, driver.ErrUnknownStanding)
				answers, err := s.d.Finish(ctx, tx, []driver.Outcome{completed(job.Lease())})
				require.Equal(s, []error{nil}, answers)
				return err
			})
			require.Equal(s, driver.StateCompleted, s.state(job.ID))
		},
	},
	{
		name:        "Violations/there are none",
		explanation: "what a driver writes keeps to its own rules, wherever the jobs stand",
		run: func(s *suite) {
			s.stand()
			found, err := s.auditor().Violations(s.Context())
			require.NoError(s, err)
			require.Empty(s, found)
		},
	},
	{
		name:        "LimitsOn/lists what bears on a job",
		explanation: "the limits of its type and of all types come first, then that of its key, then those of prefixes, the longest first",
		run: func(s *suite) {
			job := newJob(withLimitKey("gmail:ada"))
			s.setLimit(ofTypes("t"), driver.Limit{MaxRunning: 3})
			s.setLimit(ofTypes("other"), driver.Limit{MaxRunning: 3})
			s.setLimit(ofKey("gmail:ada"), driver.Limit{Rate: 1, Per: time.Hour, Burst: 1})
			s.setLimit(ofPrefix("gm"), driver.Limit{MaxRunning: 7})
			s.setLimit(ofPrefix("gmail:"), driver.Limit{MaxRunning: 2})
			s.insert(job)
			require.Len(s, s.claim(1), 1)
			s.setPaused(ofPrefix("gm"), true)
			uses, err := s.auditor().LimitsOn(s.Context(), s.job(job.ID), s.now())
			require.NoError(s, err)
			require.Len(s, uses, 4)
			for i, want := range []driver.Target{ofTypes("t"), ofKey("gmail:ada"), ofPrefix("gmail:"), ofPrefix("gm")} {
				require.Equal(s, want, uses[i].Target)
				require.Equal(s, i == 3, uses[i].Paused)
				require.Equal(s, 1, uses[i].Running)
			}
			require.Equal(s, driver.Limit{Rate: 1, Per: time.Hour, Burst: 1}, uses[1].Limit)
			require.WithinDuration(s, s.now().Add(time.Hour), uses[1].Again, time.Minute)
			require.Zero(s, uses[0].Again)
		},
	},
	{
		name:        "KeyUses/counts what runs and what waits",
		explanation: "of each limit key, and no others",
		run: func(s *suite) {
			s.setLimit(ofPrefix("gmail:"), driver.Limit{MaxRunning: 1})
			s.insert(newJob(withLimitKey("gmail:ada")), newJob(withLimitKey("gmail:ada")), newJob())
			s.setPaused(ofKey("gmail:bob"), true)
			s.insert(newJob(withLimitKey("gmail:bob")))
			require.Len(s, s.claim(4), 2)
			uses, err := s.auditor().KeyUses(s.Context(), 10)
			require.NoError(s, err)
			require.Equal(s, []driver.KeyUse{{Key: "gmail:ada", Running: 1, Waiting: 1}, {Key: "gmail:bob", Waiting: 1}},
				uses)
		},
	},
	{
		name:        "LongestRunning/begins with the oldest",
		explanation: "by when they have started, without jobs that do not run",
		run: func(s *suite) {
			s.insert(newJob(), newJob(), newJob())
			first := s.claim(1)[0]
			second := s.claim(1)[0]
			running, err := s.auditor().LongestRunning(s.Context(), 10)
			require.NoError(s, err)
			require.Len(s, running, 2)
			for i, want := range []driver.Job{first, second} {
				require.Equal(s, driver.RunningJob{ID: want.ID, Type: want.Type, Attempt: 1, WorkerID: want.WorkerID,
					StartedAt: running[i].StartedAt}, running[i])
				require.WithinDuration(s, want.StartedAt, running[i].StartedAt, 0)
			}
			running, err = s.auditor().LongestRunning(s.Context(), 1)
			require.NoError(s, err)
			require.Equal(s, first.ID, running[0].ID)
		},
	},
	{
		name:        "CountAhead/counts what is claimed first",
		explanation: "ready jobs of the type with a higher priority, or that come first by due time and id, up to the limit",
		run: func(s *suite) {
			s.insert(newJob())
			last := newJob()
			s.insert(last, newJob(withPriority(1)), newJob(), newJob(ofType("u"), withPriority(1)))
			for limit, want := range map[int]int{10: 2, 1: 1} {
				n, err := s.auditor().CountAhead(s.Context(), s.job(last.ID), limit)
				require.NoError(s, err)
				require.Equal(s, want, n)
			}
		},
	},
	{
		name:        "PromoteScheduled/makes due what waits for its time",
		explanation: "queued jobs that are not due become so now; others stay as they are",
		run: func(s *suite) {
			p, ok := driver.As[driver.Promoter](s.d)
			if !ok {
				s.Skip("the driver implements no driver.Promoter: queuetest.PromoteScheduled refuses it")
			}
			later := newJob(dueAt(s.now().Add(time.Hour)))
			canceled := newJob(dueAt(s.now().Add(time.Hour)))
			s.insert(later, canceled, newJob())
			require.NoError(s, s.cancel(canceled.ID))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				n, err := p.PromoteScheduled(ctx, tx)
				require.Equal(s, 1, n)
				return err
			})
			require.Len(s, s.claim(10), 2)
		},
	},
	{
		name:        "CheckTables/there are all",
		explanation: "after queue.Migrate nothing is missing",
		run: func(s *suite) {
			c, ok := driver.As[driver.TableChecker](s.d)
			if !ok {
				s.Skip("the driver implements no driver.TableChecker")
			}
			require.NoError(s, c.CheckTables(s.Context()))
		},
	},
}
