package joblimit

import (
	"sync/atomic"
	"time"
)

// AtOnce is the time of a mark that is due at once, whatever the clock of the claiming machine.
var AtOnce = time.Unix(0, 0)

// Earliest returns the earliest of the non-zero times, or zero.
func Earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// A Clock records the time of the clock that claims use.
type Clock struct{ at atomic.Int64 }

// agree is the tolerated difference between the clocks of concurrent claims.
const agree = time.Second

// PutBack reports whether the clock may have been put back since the latest claim: marks with times of the earlier
// clock would wait too long. It returns true for a first claim.
func (c *Clock) PutBack(now time.Time) bool {
	at := c.at.Load()
	return at == 0 || now.UnixMicro() < at-agree.Microseconds()
}

// Passed records the time of a claim.
func (c *Clock) Passed(now time.Time) { c.at.Store(now.UnixMicro()) }
