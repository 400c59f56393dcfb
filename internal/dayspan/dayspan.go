// Package dayspan is about parts of days by the clock on the wall, such as 22:00 to 06:00, which belong to the day on which they begin.
package dayspan

import "time"

// A Span goes from a time since midnight to another, up to 24 hours. If To is not after From, it ends on the next day.
type Span struct{ From, To time.Duration }

// On returns when the span begins and ends that begins so many days after the day of t, in the zone of t. Where the clock leaps over a
// time, it is right after; where it shows one twice, it is one of the two.
func (s Span) On(t time.Time, days int) (from, to time.Time) {
	from = onClock(t, days, s.From)
	if midnight := onClock(t, days, 0); from.Before(midnight) { // the clock leaps at midnight
		from = midnight
	}
	if s.To <= s.From {
		days++
	}
	return from, onClock(t, days, s.To)
}

func onClock(t time.Time, days int, at time.Duration) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, int(at/time.Hour), int(at%time.Hour/time.Minute), 0, 0, t.Location())
}

// Day returns the day that is so many days after that of t, as noon UTC, where no clock leaps.
func Day(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, 12, 0, 0, 0, time.UTC)
}
