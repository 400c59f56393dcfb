package drivertest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// starts claims the jobs that may start, and advances to the time in the result, until n jobs have started or there is
// nothing to wait for. It returns the time of each start.
func (s *suite) starts(now time.Time, n int, types ...string) (at []time.Time) {
	s.Helper()
	for range 100 * n {
		jobs, next := s.claimAll(now, "w", types...)
		for i := range jobs {
			require.True(s, now.Equal(jobs[i].StartedAt))
			at = append(at, now)
		}
		s.endAll(jobs)
		if len(at) >= n || next.IsZero() {
			return at
		}
		require.True(s, next.After(now), "NextDue is %v at %v: nobody must look again at once, and in vain", next, now)
		now = next
	}
	return at
}

var rateCases = []conformanceCase{
	{
		name:        "Rate/starts are even, and NextDue is the time of each",
		explanation: "one start every Per ÷ Rate, not a microsecond before; a burst only after a quiet time",
		run: func(s *suite) {
			now := later()
			for _, target := range []driver.Target{ofTypes("rated"), ofKey("r"), ofPrefix("r")} {
				now = now.Add(time.Hour)
				s.setLimit(target, driver.Limit{Rate: 3, Per: time.Second, Burst: 2})
				s.insertMany(6, ofType("rated"), withLimitKey("r"))
				third := 333_334 * time.Microsecond // a second does not divide by three; never more than the rate
				want := []time.Duration{0, 0, third, 2 * third, 3 * third, 4 * third}
				at := s.starts(now, 6, "rated")
				require.Len(s, at, 6, target)
				for i := range at {
					require.Equal(s, want[i], at[i].Sub(now), "%v: start %d", target, i)
				}
				got, next := s.claimAll(now.Add(10*time.Second), "w", "rated")
				require.Empty(s, got)
				require.Zero(s, next, "%v: nothing waits", target)
				s.setLimit(target, driver.Limit{})
			}
		},
	},
	{
		name:        "Rate/a microsecond too early is too early",
		explanation: "the rate holds at every instant",
		run: func(s *suite) {
			s.setLimit(ofKey("r"), driver.Limit{Rate: 1, Per: time.Minute, Burst: 1})
			s.insertMany(2, withLimitKey("r"))
			now := later()
			first, next := s.claimAll(now, "w")
			require.Len(s, first, 1)
			require.True(s, now.Add(time.Minute).Equal(next), "it is %v", next)
			none, _ := s.claimAll(next.Add(-time.Microsecond), "w")
			require.Empty(s, none)
			second, _ := s.claimAll(next, "w")
			require.Len(s, second, 1)
		},
	},
	{
		name:        "Rate/each key has its own, and the rate of the type holds besides",
		explanation: "a job needs capacity under every limit that is about it",
		run: func(s *suite) {
			s.setLimit(ofPrefix("r"), driver.Limit{Rate: 1, Per: time.Minute, Burst: 1})
			s.setLimit(typeT, driver.Limit{Rate: 3, Per: time.Hour, Burst: 3})
			for _, key := range []string{"r1", "r2"} {
				s.insertMany(3, withLimitKey(key))
			}
			now := later()
			got, next := s.claimAll(now, "w")
			require.Equal(s, map[string]int{"r1": 1, "r2": 1}, byKey(got))
			require.True(s, now.Add(time.Minute).Equal(next))
			got, _ = s.claimAll(next, "w")
			require.Len(s, got, 1, "the type's third")
			got, next = s.claimAll(now.Add(20*time.Minute-time.Microsecond), "w")
			require.Empty(s, got)
			require.True(s, now.Add(20*time.Minute).Equal(next), "it is %v", next)
			got, _ = s.claimAll(next, "w")
			require.Len(s, got, 1)
		},
	},
	{
		name:        "Rate/counts starts and MaxRunning what runs, both at once",
		explanation: "neither lifts the other",
		run: func(s *suite) {
			s.setLimit(keyK, driver.Limit{MaxRunning: 1, Rate: 60, Per: time.Minute, Burst: 5})
			s.insertMany(3, withLimitKey("k"))
			now := later()
			got, next := s.claimAll(now, "w")
			require.Len(s, got, 1)
			require.Zero(s, next, "an end is waited for, not a time")
			s.endAll(got)
			got, _ = s.claimAll(now, "w")
			require.Len(s, got, 1)
		},
	},
	{
		name:        "Rate/a raised rate and a clock put back do not stop anything for long",
		explanation: "where a rate stands is never further ahead than the burst of today's limit",
		run: func(s *suite) {
			for _, target := range []driver.Target{typeT, keyK} {
				now := later()
				s.setLimit(target, driver.Limit{Rate: 1, Per: 24 * time.Hour, Burst: 1})
				s.insertMany(3, withLimitKey("k"))
				got, _ := s.claimAll(now, "w")
				require.Len(s, got, 1)
				s.setLimit(target, driver.Limit{Rate: 60, Per: time.Minute, Burst: 1})
				none, next := s.claimAll(now, "w")
				require.Empty(s, none)
				require.True(s, now.Add(time.Second).Equal(next), "%v: it is %v", target, next)
				more, _ := s.claimAll(next, "w")
				require.Len(s, more, 1)

				back := now.Add(-20 * time.Minute)
				s.insertMany(1, withLimitKey("k"))
				s.claimAll(back, "w")
				last, _ := s.claimAll(back.Add(time.Second), "w")
				require.Len(s, last, 1, target)
				s.setLimit(target, driver.Limit{})
				rest, _ := s.claimAll(now, "w")
				s.endAll(slices.Concat(got, more, last, rest))
			}
		},
	},
	{
		name:        "Rate/a type without jobs is nothing to wait for",
		explanation: "a limit that keeps nothing back wakes nobody",
		run: func(s *suite) {
			s.setLimit(typeT, driver.Limit{Rate: 1, Per: time.Minute, Burst: 1})
			s.setLimit(keyK, driver.Limit{Rate: 1, Per: time.Minute, Burst: 1})
			got, next := s.claimAll(later(), "w")
			require.Empty(s, got)
			require.Zero(s, next)
		},
	},
}
