package joblimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
)

// The bounds of what may be set, in microseconds and in starts.
const (
	shortest, longest = 1_000, 366 * 24 * 3600 * 1_000_000
	most              = 1_000_000_000
)

// rates are all limits that may be set, those at the bounds among them.
var rates = rapid.Custom(func(t *rapid.T) joblimit.Limit {
	per := rapid.OneOf(
		rapid.SampledFrom([]int64{shortest, 1_000_000, 60_000_000, longest}), rapid.Int64Range(shortest, longest),
	).Draw(t, "per")
	upTo := int(min(per, most)) // at most one a microsecond
	rate := rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(1, upTo), rapid.Just(upTo)).Draw(t, "rate")
	burst := rapid.OneOf(rapid.Just(1), rapid.Just(rate), rapid.IntRange(1, rate)).Draw(t, "burst")
	return joblimit.Limit{Limit: driver.Limit{Rate: rate, Per: micros(per), Burst: burst}}
})

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// interval is one start's share of the period, rounded up to a microsecond.
func interval(l joblimit.Limit) time.Duration {
	share := l.Per / time.Duration(l.Rate)
	if share*time.Duration(l.Rate) < l.Per || share%time.Microsecond != 0 {
		share = share.Truncate(time.Microsecond) + time.Microsecond
	}
	return share
}

// aWhile is a time that matters to the limit: none, a part of an interval, exactly one, some, or a whole period.
func aWhile(t *rapid.T, l joblimit.Limit) time.Duration {
	one := interval(l).Microseconds()
	return micros(rapid.OneOf(
		rapid.Just[int64](0), rapid.Int64Range(0, one), rapid.Just(one), rapid.Int64Range(0, 5*one),
		rapid.Just(l.Per.Microseconds()),
	).Draw(t, "while"))
}

var epoch = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// A bucket is a limit under way, and all starts that it has allowed.
type bucket struct {
	limit   joblimit.Limit
	arrival time.Time
	now     time.Time
	starts  []start
}

type start struct {
	at time.Time
	n  int
}

func (b *bucket) free() int {
	free, _ := b.limit.Free(0, b.arrival, b.now)
	return free
}

func (b *bucket) start(n int) {
	b.arrival = b.limit.Arrive(b.arrival, b.now, n)
	b.starts = append(b.starts, start{b.now, n})
}

// within counts the starts of the time of the given length that ends now, its beginning excluded.
func (b *bucket) within(length time.Duration) (n int) {
	for _, s := range b.starts {
		if s.at.After(b.now.Add(-length)) {
			n += s.n
		}
	}
	return n
}

func TestRatesAreNotExceededAndFullyUsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &bucket{limit: rates.Draw(t, "limit"), now: epoch}
		one := interval(b.limit)
		quiet := true // nothing has started, or all of it is used up again
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pause := aWhile(t, b.limit)
			b.now = b.now.Add(pause)
			free, again := b.limit.Free(0, b.arrival, b.now)
			require.LessOrEqual(t, free, b.limit.Burst)
			if quiet = quiet || pause >= time.Duration(b.limit.Burst)*one; quiet {
				require.Equal(t, b.limit.Burst, free, "after a quiet time the whole burst may start")
			}
			checkAgain(t, b, free, again)

			n := rapid.IntRange(0, min(free, 1000)).Draw(t, "starts")
			if rapid.Bool().Draw(t, "all") {
				n = free
			}
			if n > 0 {
				b.start(n)
				require.Equal(t, free-n, b.free(), "a start takes one place")
			}
			quiet = quiet && n == 0
			// From any start on, those of the burst and then one in each interval.
			require.LessOrEqual(t, b.within(b.limit.Per), b.limit.Rate+b.limit.Burst-1)
			length := aWhile(t, b.limit) + time.Microsecond
			require.LessOrEqual(t, b.within(length), b.limit.Burst+int((length-time.Microsecond)/one))
		}
	})
}

// checkAgain: where less than the burst may start, one more may at the instant that is returned, and not before.
func checkAgain(t *rapid.T, b *bucket, free int, again time.Time) {
	if free == b.limit.Burst {
		require.Zero(t, again)
		return
	}
	require.True(t, again.After(b.now))
	require.LessOrEqual(t, again.Sub(b.now), interval(b.limit))
	then, _ := b.limit.Free(0, b.arrival, again)
	require.Equal(t, free+1, then)
	before, _ := b.limit.Free(0, b.arrival, again.Add(-time.Microsecond))
	require.Equal(t, free, before)
}

// Whoever starts all that is free, whenever something is, gets the whole rate.
func TestARateIsReachedInTheLongRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &bucket{limit: rates.Draw(t, "limit"), now: epoch}
		total := 0
		for i := range 100 {
			if i > 0 {
				_, b.now = b.limit.Free(0, b.arrival, b.now)
			}
			free := b.free()
			require.Positive(t, free)
			b.start(free)
			total += free
		}
		require.Equal(t, b.limit.Burst+int(b.now.Sub(epoch)/interval(b.limit)), total)
	})
}

// A clock that is set back, and a limit that is raised, leave nothing waiting for longer than the limit itself would
// have it.
func TestARateSettlesWhatLiesTooFarAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rates.Draw(t, "limit")
		arrival := epoch.Add(micros(rapid.Int64Range(-1e15, 1e15).Draw(t, "arrival")))
		settled := l.Settle(arrival, epoch)
		require.False(t, settled.After(arrival))
		require.False(t, settled.After(epoch.Add(time.Duration(l.Burst)*interval(l))))
		require.Equal(t, settled, l.Settle(settled, epoch), "once is enough")
		if !arrival.After(epoch) {
			require.Equal(t, arrival, settled)
		}
		before, again := l.Free(0, arrival, epoch)
		after, same := l.Free(0, settled, epoch)
		require.Equal(t, []any{before, again}, []any{after, same})
		whole, _ := l.Free(0, settled, epoch.Add(time.Duration(l.Burst)*interval(l)))
		require.Equal(t, l.Burst, whole)
	})
}

func TestWhatIsFreeIsTheLeastThatAnyBoundLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &bucket{limit: rates.Draw(t, "limit"), now: epoch}
		b.start(rapid.IntRange(0, b.limit.Burst).Draw(t, "started"))
		rated, ratedAgain := b.limit.Free(0, b.arrival, b.now)
		running := rapid.IntRange(0, 100).Draw(t, "running")

		both := b.limit
		both.MaxRunning = rapid.IntRange(1, 100).Draw(t, "most")
		unused := max(0, both.MaxRunning-running)
		free, again := both.Free(running, b.arrival, b.now)
		require.Equal(t, min(unused, rated), free)
		if rated < unused {
			require.Equal(t, ratedAgain, again)
		} else {
			require.Zero(t, again, "that the rate lets one more start would not help")
		}

		both.Paused = true
		free, again = both.Free(running, b.arrival, b.now)
		require.Zero(t, free)
		require.Zero(t, again)

		var none joblimit.Limit
		free, again = none.Free(running, b.arrival, b.now)
		require.Equal(t, joblimit.Unlimited, free)
		require.Zero(t, again)
		require.Equal(t, b.arrival, none.Settle(b.arrival, b.now))
	})
}
