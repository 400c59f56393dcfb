package jobsql

import (
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The holds of package driver as SQL writes them: no statement has a hold by its number.
const (
	None      = string(rune('0' + driver.HoldNone))
	Scheduled = string(rune('0' + driver.HoldScheduled))
	Limited   = string(rune('0' + driver.HoldLimited))
	Moving    = string(rune('0' + driver.HoldMoving))
	Waiting   = string(rune('0' + driver.HoldWaiting))
)

// condition selects the jobs of a standing of the table. Each is the condition of a partial index.
func condition(at driver.Standing) string {
	text := "state = '" + string(at.State) + "'"
	switch {
	case at.State == driver.StateQueued:
		text += " AND hold = " + strconv.Itoa(int(at.Hold))
	case at.State.Finished():
		text += " AND finished_at IS NOT NULL"
	}
	return text
}

// everyHold lists the holds as SQL does.
func everyHold() string {
	var numbers []string
	for _, at := range driver.Standings() {
		if at.State == driver.StateQueued {
			numbers = append(numbers, strconv.Itoa(int(at.Hold)))
		}
	}
	return strings.Join(numbers, ", ")
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
