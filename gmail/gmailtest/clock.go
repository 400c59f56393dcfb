package gmailtest

import (
	"sync"
	"time"
)

// A Clock stands still until it is moved. It is for [Config.Now] and is safe for concurrent use. [NewClock] makes one.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock makes a clock that shows the given time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move moves the clock forward, or back if d is negative.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A shiftedClock shifts another clock by the requests of Config.Control.
type shiftedClock struct {
	base  func() time.Time
	mu    sync.Mutex
	shift time.Duration
}

func (c *shiftedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Add(c.shift)
}

// maxShift bounds the shift of the clock, so that no sum of times overflows.
const maxShift = 100 * 365 * 24 * time.Hour

// move moves the clock forward by d, or back if d is negative. It reports whether it could.
func (c *shiftedClock) move(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Abs() > maxShift || (c.shift+d).Abs() > maxShift {
		return false
	}
	c.shift += d
	return true
}
