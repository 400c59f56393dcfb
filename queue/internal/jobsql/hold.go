package jobsql

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The holds of package driver as SQL writes them: no statement has a hold by its number.
const (
	None      = string(rune('0' + driver.HoldNone))
	Scheduled = string(rune('0' + driver.HoldScheduled))
	Limited   = string(rune('0' + driver.HoldLimited))
	Moving    = string(rune('0' + driver.HoldMoving))
)

// holds are the same, by hold.
var holds = map[driver.Hold]string{
	driver.HoldNone: None, driver.HoldScheduled: Scheduled, driver.HoldLimited: Limited, driver.HoldMoving: Moving,
}

// condition selects the jobs of a standing. Each is the condition of a partial index.
func condition(at driver.Standing) string {
	text := "state = '" + string(at.State) + "'"
	switch {
	case at.State == driver.StateQueued:
		text += " AND hold = " + holds[at.Hold]
	case at.State.Finished():
		text += " AND finished_at IS NOT NULL"
	}
	return text
}

// HoldFor returns the hold of a job that becomes queued.
func HoldFor(notBefore, now time.Time, limitKey string) driver.Hold {
	switch {
	case notBefore.After(now):
		return driver.HoldScheduled
	case limitKey != "":
		return driver.HoldLimited
	}
	return driver.HoldNone
}
