package queue

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// options are the optional methods of a driver; nil if it lacks them.
type options struct {
	// now is the time of the database's clock, by which all machines that share it go.
	now    func() time.Time
	locks  driver.LockTimeouter
	writes driver.WriteChecker
	fence  driver.Fencer
	groups driver.GroupInserter
	turns  driver.FinishClaimer
}

func optionsOf(d driver.Driver) options {
	o := options{now: driver.ClockOf(d)}
	o.locks, _ = driver.As[driver.LockTimeouter](d)
	o.writes, _ = driver.As[driver.WriteChecker](d)
	o.fence, _ = driver.As[driver.Fencer](d)
	o.groups, _ = driver.As[driver.GroupInserter](d)
	o.turns, _ = driver.As[driver.FinishClaimer](d)
	return o
}
