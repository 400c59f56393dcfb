// Package joblimit is the arithmetic of limits, which is the same on every engine.
package joblimit

import (
	"math"
	"strings"
	"time"
)

// Unlimited is the room of what has no limit.
const Unlimited = math.MaxInt32

// A Limit bounds what runs at once and what starts in a time; a zero field does not.
type Limit struct {
	Paused     bool
	MaxRunning int
	Rate       int // starts in each Period
	Period     time.Duration
	Burst      int // starts at once, at least 1 with a Rate
}

// Coalesced is how the limit keys of jobs begin that coalesce: the queue's own.
const Coalesced = "coalesce:"

// For is l, the stored limit that matches the key, unless the key is one of the queue's own: of those one job runs at once.
func (l Limit) For(key string) Limit {
	if strings.HasPrefix(key, Coalesced) {
		return Limit{MaxRunning: 1}
	}
	return l
}

// Room is how many may start now, with so many running or admitted, and when to look again if a rate is what forbids more;
// zero when it is not. Arrival is where the rate stands.
func (l Limit) Room(running int, arrival, now time.Time) (room int, again time.Time) {
	room = Unlimited
	if l.Paused {
		return 0, time.Time{}
	}
	if l.MaxRunning > 0 {
		room = max(0, l.MaxRunning-running)
	}
	if l.Rate > 0 {
		allowed := l.allowed(arrival, now)
		if allowed < room {
			room = allowed
			again = l.Next(arrival.Add(time.Duration(allowed)*l.interval()), now)
		}
	}
	return room, again
}

func (l Limit) interval() time.Duration { return max(1, l.Period/time.Duration(l.Rate)) }

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

// Arrive is where the rate stands after n starts.
func (l Limit) Arrive(arrival, now time.Time, n int) time.Time {
	if arrival.Before(now) {
		arrival = now
	}
	return arrival.Add(time.Duration(n) * l.interval())
}

// Next is when the next start is allowed.
func (l Limit) Next(arrival, now time.Time) time.Time {
	next := arrival.Add(-time.Duration(l.Burst-1) * l.interval())
	if next.Before(now) {
		return now
	}
	return next
}
