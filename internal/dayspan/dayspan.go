// Package dayspan handles time spans by wall clock, such as 22:00 to 06:00, which belong to the day on which they
// begin.
package dayspan

import "time"

// A Span is the time from one time of day to another, up to 24 hours. If To is not after From, it ends on the next day.
type Span struct{ From, To time.Duration }

// On returns the begin and the end of the span that begins the given number of days after the day of t, in the zone
// of t. If the clock skips a time, it is the instant right after; if the clock shows it twice, it is one of the two.
func (s Span) On(t time.Time, days int) (from, to time.Time) {
	from = onClock(t, days, s.From)
	if midnight := onClock(t, days, 0); from.Before(midnight) { // the clock skips midnight
		from = midnight
	}
	if s.To <= s.From {
		days++
	}
	return from, onClock(t, days, s.To)
}

func onClock(t time.Time, days int, at time.Duration) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, int(at/time.Hour), int(at%time.Hour/time.Minute), 0,
		0, t.Location())
}

// Day returns the day that is the given number of days after that of t, as noon UTC, which no clock skips.
func Day(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, 12, 0, 0, 0, time.UTC)
}
