package driver

import "time"

// A Clock is a [Driver] whose database has a clock of its own. The queue uses that clock for every stored instant and
// for comparisons with it, so that a machine with a wrong clock does not affect others. Without a Clock the queue uses
// the machine's clock, which is right if the database is a file of the machine.
type Clock interface {
	// Now returns the time of the database's clock without a query: a driver measures the difference to the machine's
	// clock from time to time, and advances by the monotonic clock.
	Now() time.Time
}

// Now returns the time of the database's clock if the driver is a [Clock], otherwise the machine's time.
func Now(d Driver) time.Time { return ClockOf(d)() }

// ClockOf returns [Now] of the driver, for callers that need it often.
func ClockOf(d Driver) func() time.Time {
	if clock, ok := As[Clock](d); ok {
		return clock.Now
	}
	return time.Now
}
