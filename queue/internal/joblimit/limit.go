package joblimit

import (
	"math"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Unlimited is the capacity without a limit.
const Unlimited = math.MaxInt32

// A Limit is the limit of a type, a limit key or a prefix of keys. A zero field sets no bound.
type Limit struct {
	driver.Limit

	Paused bool
}

// Free returns the number of jobs that may start now, with the given number running. If the rate permits none, it also
// returns when the rate permits one; otherwise zero. arrival is the state of the rate. arrival and now are whole
// microseconds, as they are stored.
func (l Limit) Free(running int, arrival, now time.Time) (free int, again time.Time) {
	free = Unlimited
	if l.Paused {
		return 0, time.Time{}
	}
	if l.MaxRunning > 0 {
		free = max(0, l.MaxRunning-running)
	}
	if l.Rate > 0 {
		arrival = l.Settle(arrival, now)
		if allowed := l.allowed(arrival, now); allowed < free {
			free = allowed
			if allowed < l.Burst {
				again = arrival.Add(-time.Duration(l.Burst-1-allowed) * l.interval())
			}
		}
	}
	return free, again
}

// NextStart returns when the rate permits the next start, regardless of other bounds. It is zero if the rate permits
// one now, or if there is no rate.
func (l Limit) NextStart(arrival, now time.Time) time.Time {
	rate := Limit{Limit: driver.Limit{Rate: l.Rate, Per: l.Per, Burst: l.Burst}}
	if free, again := rate.Free(0, arrival, now); free == 0 {
		return again
	}
	return time.Time{}
}

// interval is rounded up to the stored precision, so that rounding never exceeds a rate.
func (l Limit) interval() time.Duration {
	n := int64(l.Rate)
	return time.Duration((l.Per.Microseconds()+n-1)/n) * time.Microsecond
}

// allowed implements the generic cell rate algorithm: a start is permitted while the theoretical arrival time is not
// further ahead than the burst permits.
func (l Limit) allowed(arrival, now time.Time) int {
	ahead := max(0, arrival.Sub(now))
	slack := time.Duration(l.Burst-1)*l.interval() - ahead
	if slack < 0 {
		return 0
	}
	return int(slack/l.interval()) + 1
}

// Settle returns the valid state of the rate: at most a whole burst ahead. It is further ahead after the rate was
// raised, or a clock was put back.
func (l Limit) Settle(arrival, now time.Time) time.Time {
	if l.Rate == 0 {
		return arrival
	}
	if last := now.Add(time.Duration(l.Burst) * l.interval()); arrival.After(last) {
		return last
	}
	return arrival
}

// Arrive returns the state of the rate after n starts.
func (l Limit) Arrive(arrival, now time.Time, n int) time.Time {
	if arrival = l.Settle(arrival, now); arrival.Before(now) {
		arrival = now
	}
	return arrival.Add(time.Duration(n) * l.interval())
}
