package jobsql

import (
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// An Instant is an instant that is read from a row. It is zero for an invalid value, or a year outside of 1 to 9999. So
// the rest of an altered row is read and its job runs, and it does not keep other jobs from being listed and claimed.
// [Store.Violations] reports the row.
type Instant struct{ time.Time }

// Scan implements sql.Scanner.
func (i *Instant) Scan(src any) error {
	var at dbtime.Time
	if at.Scan(src) == nil && at.Year() >= 1 && at.Year() <= 9999 {
		i.Time = at.Time
	} else {
		i.Time = time.Time{}
	}
	return nil
}
