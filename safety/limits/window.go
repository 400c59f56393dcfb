package limits

import (
	"fmt"
	"strconv"
	"time"
)

// maxWindow is ten years of 365 days.
const maxWindow = 3650 * 24 * time.Hour

// ParseWindow parses a time span such as the period of a [Cap]: a whole number and a unit, m (minutes), h (hours), d
// (days of 24 hours) or w (weeks), as in "24h" and "7d". It is above zero and at most 3650 days.
func ParseWindow(s string) (time.Duration, error) {
	bad := fmt.Errorf(
		"safety: window %q: write a whole number from 1 and a unit m, h, d or w, as 24h or 7d; at most 3650d", s)
	if len(s) < 2 {
		return 0, bad
	}
	var unit time.Duration
	switch s[len(s)-1] {
	case 'm':
		unit = time.Minute
	case 'h':
		unit = time.Hour
	case 'd':
		unit = 24 * time.Hour
	case 'w':
		unit = 7 * 24 * time.Hour
	default:
		return 0, bad
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 32)
	if err != nil || n == 0 || n > uint64(maxWindow/unit) {
		return 0, bad
	}
	return time.Duration(n) * unit, nil
}
