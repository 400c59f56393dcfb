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

// A steadyClock is the machine's clock, except when that was just set by a lot. It goes on as before then, by the monotonic
// clock: a slip that is soon put right has fired no schedule, expired no job and deleted nothing. All processes on the file see
// the same clock being set, and one that begins meanwhile has only the machine's to go by.
type steadyClock struct {
	machine machine
	anchor  atomic.Pointer[anchor]
	mu      sync.Mutex // held to change the anchor
}

// A machine has the clocks that a steadyClock goes by.
type machine struct {
	// now is what the clock shows, and how much time has passed by the monotonic clock.
	now func() (time.Time, time.Duration)
	// uptime is how long the machine has been up, the time it has slept included; false where that cannot be found out.
	uptime func() (time.Duration, bool)
}

// An anchor is an instant at which the machine's clock was believed.
type anchor struct {
	wall   time.Time
	passed time.Duration
	uptime time.Duration
	known  bool // the uptime is

	leap  time.Duration // by how much the clock was set since, and is not believed yet; else zero
	since time.Duration // when that was seen, by the monotonic clock
}

const (
	// leapLimit is by how much the clock may be set to be believed at once.
	leapLimit = 10 * time.Minute
	// leapHold is how long it must stand otherwise.
	leapHold = 5 * time.Minute
	// slip is by how much the clock may be set for nothing to have happened: the sum of several must not become a leap.
	slip = time.Second
)

var _ driver.Clock = (*engine)(nil)

// Now implements [driver.Clock]. It is the machine's clock; one that is set by ten minutes or more while the database is open
// is believed after five, unless the machine has slept.
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

// leapAt is by how much the clock was set since.
func (a *anchor) leapAt(wall time.Time, passed time.Duration) time.Duration {
	return wall.Sub(a.wall) - (passed - a.passed)
}

// slept is how long the machine has slept since the anchor: the monotonic clock has stood still then.
func (c *steadyClock) slept(a *anchor, passed time.Duration) time.Duration {
	up, ok := c.machine.uptime()
	if !ok || !a.known {
		return 0
	}
	return max(0, up-a.uptime-(passed-a.passed))
}

// settle believes the machine's clock.
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

// uptime reads what Linux says of itself.
func uptime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	return time.Duration(seconds * float64(time.Second)), err == nil
}
