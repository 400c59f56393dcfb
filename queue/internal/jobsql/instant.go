package jobsql

import (
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// An Instant is one as it is read from a row. The zero time also stands for what is no instant, or one of no year from 1 to
// 9999: the rest of a row that somebody has altered is read, and its job runs, so that it keeps no other job from being listed
// and claimed. [Store.Violations] names the row.
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
