// Package joblimit is the arithmetic of limits, which is the same on every engine.
package joblimit

import (
	"math"
	"time"
)

// Unlimited is the room of what has no limit.
const Unlimited = math.MaxInt32

// Coalesced is how the limit keys of jobs begin that coalesce: the queue's own. Of each, one job runs at once; that limit is
// a row like others, which stands from the first such job on.
const Coalesced = "coalesce:"

// A Limit bounds what runs at once and what starts in a time; a zero field does not.
type Limit struct {
	Paused     bool
	MaxRunning int
	Rate       int // starts in each Period
	Period     time.Duration
	Burst      int // starts at once, at least 1 with a Rate
}

// Bounded reports whether the limit keeps anything from running.
func (l Limit) Bounded() bool { return l.Paused || l.MaxRunning > 0 || l.Rate > 0 }

// Room is how many may start now, with so many running, and when the rate, if it is what forbids more, will allow one more;
// zero when it is not. Arrival is where the rate stands; it and now are whole microseconds, as they are stored.
func (l Limit) Room(running int, arrival, now time.Time) (room int, again time.Time) {
	room = Unlimited
	if l.Paused {
		return 0, time.Time{}
	}
	if l.MaxRunning > 0 {
		room = max(0, l.MaxRunning-running)
	}
	if l.Rate > 0 {
		arrival = l.Settle(arrival, now)
		if allowed := l.allowed(arrival, now); allowed < room {
			room = allowed
			if allowed < l.Burst {
				again = arrival.Add(-time.Duration(l.Burst-1-allowed) * l.interval())
			}
		}
	}
	return room, again
}

// interval is rounded up to what is stored, so that no rate is exceeded by rounding.
func (l Limit) interval() time.Duration {
	n := int64(l.Rate)
	return time.Duration((l.Period.Microseconds()+n-1)/n) * time.Microsecond
}

// allowed is the generic cell rate algorithm: a start is allowed while the theoretical arrival time is not further ahead
// than the burst permits.
func (l Limit) allowed(arrival, now time.Time) int {
	ahead := max(0, arrival.Sub(now))
	slack := time.Duration(l.Burst-1)*l.interval() - ahead
	if slack < 0 {
		return 0
	}
	return int(slack/l.interval()) + 1
}

// Settle is where the rate really stands: no further ahead than a whole burst puts it. It is so once the rate has been
// raised, or a clock put back.
func (l Limit) Settle(arrival, now time.Time) time.Time {
	if l.Rate == 0 {
		return arrival
	}
	if last := now.Add(time.Duration(l.Burst) * l.interval()); arrival.After(last) {
		return last
	}
	return arrival
}

// Arrive is where the rate stands after n starts.
func (l Limit) Arrive(arrival, now time.Time, n int) time.Time {
	if arrival = l.Settle(arrival, now); arrival.Before(now) {
		arrival = now
	}
	return arrival.Add(time.Duration(n) * l.interval())
}
