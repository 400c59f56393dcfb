package rules

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	SizeHint = "write a number and B, KB, MB or GB, as in 1MB (1 KB is 1024 bytes)"
	ageHint  = "write a number and h, d, w or y, as in 7d"
)

var sizeUnits = map[string]float64{"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}

// ParseSize reads a number of bytes: 500KB, 1.5 MB.
func ParseSize(s string) (int64, error) {
	number, unit := quantity(s)
	n, err := strconv.ParseFloat(number, 64)
	factor, ok := sizeUnits[unit]
	if err != nil || !ok || n*factor > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return int64(n * factor), nil
}

var ageUnits = map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	"y": 365 * 24 * time.Hour}

// maxAge keeps a duration of years from overflowing.
const maxAge = 200 * 365 * 24 * time.Hour

// parseAge reads a duration in units that calendars do not stretch: 12h, 7d, 2w, 1y (365 days).
func parseAge(s string) (time.Duration, error) {
	number, unit := quantity(s)
	n, err := strconv.ParseUint(number, 10, 32)
	factor, ok := ageUnits[unit]
	if err != nil || !ok || time.Duration(n) > maxAge/factor {
		return 0, fmt.Errorf("%q is no age", s)
	}
	return time.Duration(n) * factor, nil
}

var numberAndUnit = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$`)

func quantity(s string) (number, unit string) {
	parts := numberAndUnit.FindStringSubmatch(strings.ToLower(s))
	if parts == nil {
		return "", ""
	}
	return parts[1], parts[2]
}
