package joblimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
)

// limits are all that may stand, with any of their parts.
var limits = rapid.Custom(func(t *rapid.T) joblimit.Limit {
	var l joblimit.Limit
	if rapid.Bool().Draw(t, "rated") {
		l = rates.Draw(t, "rate")
	}
	l.MaxRunning = rapid.IntRange(0, 50).Draw(t, "most")
	l.Paused = rapid.IntRange(0, 9).Draw(t, "paused") == 0
	return l
})

// stored is what is kept of a limit between the claims: the rate, and the jobs that run.
type stored struct {
	limit   joblimit.Limit
	arrival time.Time
	running int
}

// Claims that take of a key what its bounds allow never have more run, or start, than the limit alone would let. What a
// claim has taken counts for the next one as it was left.
func TestClaimsKeepLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, now := stored{limit: limits.Draw(t, "limit")}, epoch
		b := &bucket{limit: key.limit}
		for range rapid.IntRange(1, 20).Draw(t, "claims") {
			now = now.Add(aWhileOf(t, key.limit))
			s := joblimit.NewUsages(driver.TargetKey, now)
			one := s.Add(joblimit.Usage{Name: "k", Limit: key.limit, Arrival: key.arrival, Running: key.running})
			free, _ := key.limit.Free(key.running, key.arrival, now)
			require.Equal(t, free, one.Left())

			asked := rapid.IntRange(0, 60).Draw(t, "asked")
			bounds := joblimit.Bounds{Type: joblimit.NewCapacity(asked), Key: &one.Capacity}
			taken := 0
			for bounds.Take() {
				taken++
			}
			require.Equal(t, min(asked, free), taken)
			require.Equal(t, free-taken, one.Left())
			s.Start("k", taken)
			require.Equal(t, key.running+taken, one.Running)
			checkAgainOf(t, s, one, free-taken)

			before := key
			key.running += taken
			for _, moved := range s.Moved() {
				key.arrival = moved.Arrival
			}
			require.Equal(t, one.Arrival, key.arrival, "what has moved is stored")
			if taken == 0 {
				require.Equal(t, before.limit.Settle(before.arrival, now), key.arrival)
			}
			checkStarts(t, b, key, now, taken)
			key.running -= rapid.IntRange(0, key.running).Draw(t, "ended")
		}
	})
}

func aWhileOf(t *rapid.T, l joblimit.Limit) time.Duration {
	if l.Rate == 0 {
		return time.Second
	}
	return aWhile(t, l)
}

// checkAgainOf: what has no capacity left is looked at again when a rate gives some, and only then.
func checkAgainOf(t *rapid.T, s *joblimit.Usages, one *joblimit.Usage, left int) {
	free, want := one.Limit.Free(one.Running, one.Arrival, s.Now())
	if one.Limit.MaxRunning > 0 || one.Limit.Rate > 0 {
		require.Equal(t, left, free)
	}
	if free > 0 {
		want = time.Time{}
	}
	require.Equal(t, want, s.Again(one))
	if !want.IsZero() {
		then, _ := one.Limit.Free(one.Running, one.Arrival, want)
		require.Equal(t, 1, then)
	}
}

func checkStarts(t *rapid.T, b *bucket, key stored, now time.Time, taken int) {
	if key.limit.Paused {
		require.Zero(t, taken)
	}
	if key.limit.MaxRunning > 0 {
		require.LessOrEqual(t, key.running, key.limit.MaxRunning)
	}
	if b.now = now; taken > 0 {
		b.starts = append(b.starts, start{now, taken})
	}
	if key.limit.Rate > 0 {
		require.LessOrEqual(t, b.within(key.limit.Per), key.limit.Rate+key.limit.Burst-1)
	}
}

// A clock that has been put back leaves a rate ahead of where it can be: that is set right when it is read.
func TestWhatIsReadIsSettledAndStored(t *testing.T) {
	limit := joblimit.Limit{Limit: driver.Limit{Rate: 1, Per: time.Second, Burst: 2}}
	s := joblimit.NewUsages(driver.TargetKey, epoch)
	s.Add(joblimit.Usage{Name: "b", Limit: limit, Arrival: epoch.Add(time.Hour)})
	s.Add(joblimit.Usage{Name: "a", Limit: limit, Arrival: epoch.Add(time.Minute)})
	s.Add(joblimit.Usage{Name: "right", Limit: limit, Arrival: epoch.Add(time.Second)})
	require.Equal(t, 3, s.Len())
	var names []string
	for _, moved := range s.Moved() {
		names = append(names, moved.Name)
		require.Equal(t, epoch.Add(2*time.Second), moved.Arrival)
		require.Zero(t, moved.Left())
		require.Equal(t, epoch.Add(time.Second), s.Again(moved))
	}
	require.Equal(t, []string{"a", "b"}, names,
		"in one order, so that two that write the same do not wait for each other")
	require.Equal(t, 1, s.Of("right").Left())
}

func TestNothingIsReadOfTheStandingsThatAreNotThere(t *testing.T) {
	var none *joblimit.Usages
	none.Start("k", 1)
	require.Nil(t, none.Of("k"))
	require.Empty(t, none.Moved())
	s := joblimit.NewUsages(driver.TargetType, epoch)
	s.Start("k", 1)
	require.Nil(t, s.Of("k"))
	require.Empty(t, s.Moved())
	require.Equal(t, driver.TargetType, s.Kind())
}

func TestALimitTellsWhenItsRateAllowsTheNextStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := limits.Draw(t, "limit")
		arrival := epoch.Add(micros(rapid.Int64Range(-1e12, 1e12).Draw(t, "arrival")))
		next := l.NextStart(arrival, epoch)
		rate := joblimit.Limit{Limit: driver.Limit{Rate: l.Rate, Per: l.Per, Burst: l.Burst}}
		free, again := rate.Free(0, arrival, epoch)
		switch {
		case l.Rate == 0 || free > 0:
			require.Zero(t, next)
		default:
			require.Equal(t, again, next, "whatever runs, and paused or not")
			require.True(t, next.After(epoch))
		}
	})
}
