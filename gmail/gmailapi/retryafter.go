package gmailapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// maxRetryAfter bounds the wait that an answer can ask for, so that a wrong date does not delay mail for years.
const maxRetryAfter = 24 * time.Hour

// retryAfterText finds the time that Gmail puts into the message of some rate limits instead of into a header.
var retryAfterText = regexp.MustCompile(`Retry after (\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d))`)

// retryAfter returns the wait that the answer asks for: by its Retry-After header, seconds or date (RFC 9110, section
// 10.2.3), or else by its text; 0 if it asks for none or for a time that has passed.
func (a answer) retryAfter(now time.Time) time.Duration {
	header := a.header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return bounded(time.Duration(seconds) * time.Second)
	}
	if at, err := http.ParseTime(header); err == nil {
		return bounded(at.Sub(now))
	}
	if m := retryAfterText.FindStringSubmatch(a.message); m != nil {
		if at, err := time.Parse(time.RFC3339Nano, m[1]); err == nil {
			return bounded(at.Sub(now))
		}
	}
	return 0
}

func bounded(d time.Duration) time.Duration { return max(0, min(d, maxRetryAfter)) }

// untilReset is the time to the next midnight in California, when Google's daily budgets are reset.
func untilReset(now time.Time) time.Duration {
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil { // no zone database on this machine
		pacific = time.FixedZone("PST", -8*60*60)
	}
	year, month, day := now.In(pacific).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, pacific).Sub(now)
}

// isTruncated reports whether the answer broke off, and is not wrong as a whole.
func isTruncated(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input"
}
