// Package when reads the times of digests.
package when

import (
	"fmt"
	"strings"
	"time"
)

// A Time is when there is a digest.
type Time struct {
	Weekly       bool
	Day          time.Weekday // if Weekly
	Hour, Minute int
}

// Parse parses a time of day, such as "07:00", or one of a weekday, such as "Mon 07:00".
func Parse(s string) (t Time, err error) {
	bad := fmt.Errorf("when: %q is no time of a digest; write one such as %q or %q", s, "07:00", "Mon 07:00")
	words := strings.Fields(s)
	if len(words) == 2 {
		t.Weekly, err = true, bad
		for d := time.Sunday; d <= time.Saturday; d++ {
			if strings.EqualFold(words[0], d.String()[:3]) {
				t.Day, err = d, nil
			}
		}
		if err != nil {
			return Time{}, err
		}
		words = words[1:]
	}
	if len(words) != 1 {
		return Time{}, bad
	}
	at, err := time.Parse("15:04", words[0])
	if err != nil || len(words[0]) != len("15:04") {
		return Time{}, bad
	}
	t.Hour, t.Minute = at.Hour(), at.Minute()
	return t, nil
}

// Cron returns the time as a schedule of package queue has it.
func (t Time) Cron() string {
	day := "*"
	if t.Weekly {
		day = strings.ToUpper(t.Day.String()[:3])
	}
	return fmt.Sprintf("%d %d * * %s", t.Minute, t.Hour, day)
}

// Period is the time between two digests.
func (t Time) Period() time.Duration {
	if t.Weekly {
		return 7 * 24 * time.Hour
	}
	return 24 * time.Hour
}
