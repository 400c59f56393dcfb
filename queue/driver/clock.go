package driver

import "time"

// A Clock is a [Driver] whose database has a clock of its own. Whatever is stored, or compared with what is stored, goes by
// that clock, so that a machine whose own clock is wrong neither delays nor hurries what others see. Without it the clock of
// the machine is taken, as it should be where the database is a file of the machine.
type Clock interface {
	// Now returns the time of the database's clock, without asking it: a driver measures now and then by how much the
	// machine's clock differs, and how fast time passes it knows by itself.
	Now() time.Time
}

// Now returns the time by which the database goes: that of a [Clock], or else the machine's.
func Now(d Driver) time.Time { return ClockOf(d)() }

// ClockOf returns [Now] of the driver, for callers that need it often.
func ClockOf(d Driver) func() time.Time {
	if clock, ok := As[Clock](d); ok {
		return clock.Now
	}
	return time.Now
}
