package sqlite

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A steadyClock is the machine's clock, unless that was just set by a lot. Then it continues by the monotonic clock: a
// mistake that is corrected soon fires no schedule, expires no job and deletes nothing. All processes on the file
// observe the change of the clock; a process that starts meanwhile has only the machine's clock.
type steadyClock struct {
	machine machine
	anchor  atomic.Pointer[anchor]
	mu      sync.Mutex // held to change the anchor
}

// A machine has the clocks that a steadyClock uses.
type machine struct {
	// now returns the time of the clock, and the time that has passed by the monotonic clock.
	now func() (time.Time, time.Duration)
	// uptime returns how long the machine has been up, including sleep; false if unknown.
	uptime func() (time.Duration, bool)
}

// An anchor is an instant at which the machine's clock was trusted.
type anchor struct {
	wall   time.Time
	passed time.Duration
	uptime time.Duration
	known  bool // the uptime is

	leap  time.Duration // a change of the clock that is not trusted yet; zero if there is none
	since time.Duration // when that was seen, by the monotonic clock
}

const (
	// leapLimit is the change of the clock from which it is not trusted at once.
	leapLimit = 10 * time.Minute
	// leapHold is how long such a change must persist.
	leapHold = 5 * time.Minute
	// slip is the change of the clock that is ignored: the sum of several must not become a leap.
	slip = time.Second
)

var _ driver.Clock = (*engine)(nil)

// Now implements [driver.Clock]. It returns the machine's time. If the clock is set by ten minutes or more while the
// database is open, Now accepts the change after five minutes, or at once if the machine has slept.
func (db *engine) Now() time.Time { return db.steady.now() }

func newSteadyClock(m machine) *steadyClock {
	c := &steadyClock{machine: m}
	c.settle(m.now())
	return c
}

func (c *steadyClock) now() time.Time {
	wall, passed := c.machine.now()
	if a := c.anchor.Load(); a.leap == 0 && a.leapAt(wall, passed).Abs() < slip {
		return wall
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.anchor.Load()
	leap := a.leapAt(wall, passed)
	switch {
	case (leap - c.slept(a, passed)).Abs() < leapLimit:
		return c.settle(wall, passed)
	case (leap - a.leap).Abs() >= slip: // set anew
		held := *a
		held.leap, held.since = leap, passed
		c.anchor.Store(&held)
	case passed-a.since >= leapHold:
		return c.settle(wall, passed)
	}
	return a.wall.Add(passed - a.passed)
}

// leapAt returns the change of the clock since the anchor.
func (a *anchor) leapAt(wall time.Time, passed time.Duration) time.Duration {
	return wall.Sub(a.wall) - (passed - a.passed)
}

// slept returns how long the machine has slept since the anchor: the monotonic clock stops during sleep.
func (c *steadyClock) slept(a *anchor, passed time.Duration) time.Duration {
	up, ok := c.machine.uptime()
	if !ok || !a.known {
		return 0
	}
	return max(0, up-a.uptime-(passed-a.passed))
}

// settle accepts the machine's clock.
func (c *steadyClock) settle(wall time.Time, passed time.Duration) time.Time {
	up, ok := c.machine.uptime()
	c.anchor.Store(&anchor{wall: wall, passed: passed, uptime: up, known: ok})
	return wall
}

// thisMachine has the system's clocks.
func thisMachine() machine {
	began := time.Now()
	return machine{
		now: func() (time.Time, time.Duration) {
			now := time.Now()
			return now.Round(0), now.Sub(began)
		},
		uptime: uptime,
	}
}

// uptime reads Linux's uptime.
func uptime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	return time.Duration(seconds * float64(time.Second)), err == nil
}
