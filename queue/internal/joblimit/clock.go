package joblimit

import (
	"sync/atomic"
	"time"
)

// AtOnce is when a mark falls due that waits for nothing, whatever the clock of the machine that claims says.
var AtOnce = time.Unix(0, 0)

// Earliest returns the first of the times that are not zero, and zero if all are.
func Earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// A Clock knows how far the clock has come that claims go by.
type Clock struct{ at atomic.Int64 }

// agree is how far apart the clocks of claims may be that are made side by side.
const agree = time.Second

// PutBack reports whether the clock may have been put back since the latest claim: what was to be looked at by the clock as it
// was would wait too long. Of a first claim that is not known, so that it may.
func (c *Clock) PutBack(now time.Time) bool {
	at := c.at.Load()
	return at == 0 || now.UnixMicro() < at-agree.Microseconds()
}

// Passed notes the time of a claim that has been made.
func (c *Clock) Passed(now time.Time) { c.at.Store(now.UnixMicro()) }
