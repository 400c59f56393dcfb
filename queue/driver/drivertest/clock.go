package drivertest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// The guarantees of limits if clocks differ, or are put back.
var clockCases = []conformanceCase{
	{
		name:        "Clock/the order of claims holds for the jobs of a limit key, whichever of them has come first",
		explanation: "a machine whose clock is behind enqueues jobs that are due before those that stand ready already",
		run: func(s *suite) {
			s.setLimit(keyK, driver.Limit{MaxRunning: 1})
			now := s.now()
			late, early := newJob(withLimitKey("k")), newJob(withLimitKey("k"))
			s.insertAt(now, late)
			none, _ := s.claimAll(later(), "w", "another")
			require.Empty(s, none)
			s.insertAt(now.Add(-time.Minute), early)
			for _, want := range []driver.InsertJob{early, late} {
				got, _ := s.claimAll(later(), "w")
				require.Equal(s, []string{want.ID}, ids(got))
				s.endAll(got)
			}
		},
	},
	{
		name:        "Clock/put back does not stop what waits for a rate",
		explanation: "when to look at a rate again was set by the clock as it was, and nothing reports that it is put back",
		run: func(s *suite) {
			s.setLimit(ofKey("other"), driver.Limit{Rate: 1, Per: 24 * time.Hour, Burst: 1})
			for _, target := range []driver.Target{typeT, keyK} {
				s.setLimit(target, driver.Limit{Rate: 1, Per: time.Minute, Burst: 1})
				s.insertMany(3, withLimitKey("k"))
				now := later()
				first, _ := s.claimAll(now, "w")
				require.Len(s, first, 1)
				back := now.Add(-20 * time.Minute)
				none, next := s.claimAll(back, "w")
				require.Empty(s, none)
				require.True(s, back.Add(time.Minute).Equal(next), "%v: it is %v, and now %v", target, next, back)
				second, _ := s.claimAll(next, "w")
				require.Len(s, second, 1, target)
				s.setLimit(target, driver.Limit{})
				rest, _ := s.claimAll(now, "w")
				s.endAll(slices.Concat(first, second, rest))
			}
		},
	},
}
