package publichttp

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter reads a Retry-After field (RFC 9110, section 10.2.3), seconds or a date, as a delay of at most limit; 0 if
// it is neither, or has passed.
func RetryAfter(field string, now time.Time, limit time.Duration) time.Duration {
	if seconds, err := strconv.ParseUint(field, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, limit)
	}
	if at, err := http.ParseTime(field); err == nil {
		return max(0, min(at.Sub(now), limit))
	}
	return 0
}
