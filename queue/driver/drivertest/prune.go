package drivertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) prune(req driver.PruneRequest) (n int) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		n, err = s.d.Prune(ctx, tx, req)
		return err
	})
	return n
}

func (s *suite) count(table string) (n int) {
	s.Helper()
	require.NoError(s, s.d.Reader().Get(&n, "SELECT COUNT(*) FROM "+s.table(table)))
	return n
}

var pruneCases = []conformanceCase{
	{
		name:        "Finished/lists each type once, with its first end",
		explanation: "who prunes must learn what there may be to prune, and of the oldest of each type",
		run: func(s *suite) {
			began := s.now().Add(-time.Millisecond)
			for _, name := range []string{"b", "a", "b", "c"} {
				s.inState(driver.StateCompleted, ofType(name))
			}
			first := s.job(s.inState(driver.StateFailed, ofType("a")))
			s.inState(driver.StateFailed, ofType("a"))
			s.inState(driver.StateQueued, ofType("d"))
			types, err := s.d.Finished(s.Context(), driver.StateCompleted)
			require.NoError(s, err)
			require.Len(s, types, 3)
			for i, name := range []string{"a", "b", "c"} {
				require.Equal(s, name, types[i].Type)
				require.WithinRange(s, types[i].First, began, s.now())
			}
			types, err = s.d.Finished(s.Context(), driver.StateFailed)
			require.NoError(s, err)
			require.Equal(s, []driver.FinishedType{{Type: "a", First: first.FinishedAt}}, types)
			types, err = s.d.Finished(s.Context(), driver.StateCanceled)
			require.NoError(s, err)
			require.Empty(s, types)
		},
	},
	{
		name:        "Prune/deletes what finished first, with all that belongs to it",
		explanation: "of one state and type, at most so many, in the order in which they finished; nothing else",
		run: func(s *suite) {
			old := s.inState(driver.StateFailed)
			next := s.inState(driver.StateFailed)
			young := s.inState(driver.StateFailed)
			others := []string{
				s.inState(driver.StateCompleted), s.inState(driver.StateFailed, ofType("u")),
				s.inState(driver.StateQueued),
				s.inState(driver.StateRunning, ofType("v")),
			}
			require.Equal(s, 4, s.count("job_attempts"))
			req := driver.PruneRequest{State: driver.StateFailed, Type: "t", FinishedBefore: s.job(young).FinishedAt,
				Limit: 1}
			require.Equal(s, 1, s.prune(req))
			_, err := s.d.Job(s.Context(), old)
			require.ErrorIs(s, err, driver.ErrJobNotFound)
			require.Equal(s, driver.StateFailed, s.state(next))
			req.Limit = 10
			require.Equal(s, 1, s.prune(req), "what finished at that instant stays")
			require.Zero(s, s.prune(req))
			for _, id := range append(others, young) {
				s.job(id)
			}
			require.Equal(s, 2, s.count("job_attempts"))
		},
	},
	{
		name:        "Prune/leaves keys that still hold",
		explanation: "a key forever outlives its job; one of scope period lives for its time, and no longer",
		run: func(s *suite) {
			for _, key := range []driver.Key{forever("f"), forPeriod("p", time.Hour), forPeriod("q", time.Hour)} {
				job := newJob(withKey(key))
				s.insertAt(s.now().Add(-2*time.Hour), job)
				require.NoError(s, s.finish(completed(s.claim(1)[0].Lease())))
			}
			s.insert(newJob(withKey(forPeriod("r", time.Hour))))
			require.Equal(s, 3, s.prune(driver.PruneRequest{State: driver.StateCompleted, Type: "t",
				FinishedBefore: s.now().Add(time.Hour), Limit: 10}))
			first, err := s.d.FirstKeyExpiry(s.Context())
			require.NoError(s, err)
			require.WithinDuration(s, s.now().Add(-time.Hour), first, time.Minute)
			for _, want := range []int{1, 1, 0} {
				s.write(func(ctx context.Context, tx *driver.WriteTx) error {
					n, err := s.d.PruneKeys(ctx, tx, 1)
					require.Equal(s, want, n)
					return err
				})
			}
			require.Equal(s, 2, s.count("job_keys"))
			require.True(s, s.insert(newJob(withKey(forever("f"))))[0].Duplicate)
			require.True(s, s.insert(newJob(withKey(forPeriod("r", time.Hour))))[0].Duplicate)
		},
	},
	{
		name:        "Prune/leaves a key with the type that it belongs to",
		explanation: "a key keeps another type out as long as it holds, whether its job is still there or not",
		run: func(s *suite) {
			for _, key := range []driver.Key{forever("f"), forPeriod("p", time.Hour)} {
				job := newJob(withKey(key))
				s.insert(job)
				require.NoError(s, s.finish(completed(s.claim(1)[0].Lease())))
				require.Equal(s, 1, s.prune(driver.PruneRequest{State: driver.StateCompleted, Type: "t",
					FinishedBefore: s.now().Add(time.Hour), Limit: 10}))
				conflict := driver.InsertResult{ID: job.ID, Duplicate: true, Conflict: true,
					Holder: &driver.KeyHolder{Fingerprint: job.Fingerprint, Type: job.Type}}
				require.Equal(s, conflict, s.insert(newJob(withKey(key), ofType("u")))[0], "another type")
				require.Equal(s, conflict, s.insert(newJob(withKey(key), withPayload(`{"n":2}`)))[0], "another payload")
				require.False(s, s.insert(newJob(withKey(key)))[0].Conflict)
			}
		},
	},
	{
		name:        "Prune/deletes rates that have passed, and no others",
		explanation: "where a rate stands matters until that instant; then it says what no row says",
		run: func(s *suite) {
			first, err := s.d.FirstRate(s.Context())
			require.NoError(s, err)
			require.Zero(s, first)
			hourly := driver.Limit{Rate: 1, Per: time.Hour, Burst: 1}
			s.setLimit(ofPrefix("k"), hourly)
			s.setLimit(typeT, hourly)
			now := later()
			for i, key := range []string{"k1", "k2", "k3"} {
				s.insert(newJob(withLimitKey(key)))
				got, _ := s.claimAll(now.Add(time.Duration(i)*time.Hour), "w")
				require.Len(s, got, 1)
			}
			require.Equal(s, 4, s.count("job_rates"))
			first, err = s.d.FirstRate(s.Context())
			require.NoError(s, err)
			require.Equal(s, now.Add(time.Hour), first)
			for _, want := range []int{1, 1, 0} {
				s.write(func(ctx context.Context, tx *driver.WriteTx) error {
					n, err := s.d.PruneRates(ctx, tx, now.Add(2*time.Hour+time.Microsecond), 1)
					require.Equal(s, want, n)
					return err
				})
			}
			s.insertMany(2, withLimitKey("k3"))
			got, next := s.claimAll(now.Add(2*time.Hour), "w")
			require.Empty(s, got, "what is left still holds")
			require.Equal(s, now.Add(3*time.Hour), next)
			got, _ = s.claimAll(now.Add(3*time.Hour), "w")
			require.Len(s, got, 1)
		},
	},
}
