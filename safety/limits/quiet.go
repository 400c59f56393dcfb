package limits

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dayspan"
)

// Quiet are hours in which only the listed actions are carried out. All others, including those that people have
// approved, wait until the hours end. Undos do not wait. The zero Quiet has no such hours.
type Quiet struct {
	// Spans are the hours. Default none.
	Spans []QuietSpan
	// Zone is the time zone of the hours. Default nil: UTC.
	Zone *time.Location
	// May lists the actions that are carried out during quiet hours. Default none.
	May []postroom.ActionType
}

// A QuietSpan is a span of time on some days, by the clock of the zone.
type QuietSpan struct {
	// Days are the days on which the span begins. Default none: every day.
	Days []time.Weekday
	// From and To are times since midnight, whole minutes up to 24 hours. If To is not after From, the span ends on the
	// next day.
	From, To time.Duration
}

const day = 24 * time.Hour

// ParseQuietSpan parses the text form of a span: the days, separated by commas, unless it is every day, and two times.
//
//	22:00-07:00
//	Sat,Sun 00:00-24:00
func ParseQuietSpan(s string) (q QuietSpan, err error) {
	bad := fmt.Errorf("safety: quiet hours %q: write the days, if not every day, and two times, as in %q", s,
		"Sat,Sun 22:00-07:00")
	words := strings.Fields(s)
	if len(words) == 2 {
		for name := range strings.SplitSeq(words[0], ",") {
			d, ok := weekday(name)
			if !ok {
				return q, bad
			}
			q.Days = append(q.Days, d)
		}
		words = words[1:]
	}
	if len(words) != 1 {
		return q, bad
	}
	from, to, _ := strings.Cut(words[0], "-")
	var okFrom, okTo bool
	q.From, okFrom = clockTime(from)
	q.To, okTo = clockTime(to)
	if !okFrom || !okTo || q.validate() != nil {
		return q, bad
	}
	return q, nil
}

func weekday(name string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(name, d.String()[:3]) {
			return d, true
		}
	}
	return 0, false
}

func clockTime(s string) (time.Duration, bool) {
	if s == "24:00" {
		return day, true
	}
	t, err := time.Parse("15:04", s)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err == nil && len(s) == len("15:04")
}

func (q *QuietSpan) validate() error {
	for _, t := range []time.Duration{q.From, q.To} {
		if t < 0 || t > day || t%time.Minute != 0 {
			return fmt.Errorf("has the time %v; give whole minutes since midnight, up to 24h", t)
		}
	}
	if q.From == day || q.From == q.To {
		return fmt.Errorf("goes from %v to %v, which is no time; for a whole day give 0 and 24h", q.From, q.To)
	}
	for _, d := range q.Days {
		if d < time.Sunday || d > time.Saturday {
			return fmt.Errorf("has the day %d, which is no weekday", int(d))
		}
	}
	return nil
}

// end returns when the span that contains t ends, and whether there is one. t is in the zone of the hours.
func (q *QuietSpan) end(t time.Time) (time.Time, bool) {
	for _, began := range []int{-1, 0} {
		if len(q.Days) > 0 && !slices.Contains(q.Days, dayspan.Day(t, began).Weekday()) {
			continue
		}
		if from, to := (dayspan.Span{From: q.From, To: q.To}).On(t, began); !t.Before(from) && t.Before(to) {
			return to, true
		}
	}
	return t, false
}

// until returns when the quiet hours that contain now end; zero if there are none.
func (q *Quiet) until(now time.Time) time.Time {
	t, in := now.In(q.zone()), false
	for again := true; again && t.Before(now.Add(8*day)); {
		again = false
		for i := range q.Spans {
			if end, ok := q.Spans[i].end(t); ok {
				t, in, again = end, true, true
			}
		}
	}
	if !in {
		return time.Time{}
	}
	return t
}

// MarshalText returns the zone and the hours, for the record of the settings.
func (q Quiet) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%v in %s, except %v", q.Spans, q.zone(), q.May), nil
}

func (q *Quiet) zone() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}

// Hold returns a [*postroom.HeldError] if the action must wait for the end of the quiet hours.
func (q *Quiet) Hold(action postroom.ActionType, now time.Time) error {
	if len(q.Spans) == 0 || slices.Contains(q.May, action) {
		return nil
	}
	until := q.until(now)
	if until.IsZero() {
		return nil
	}
	return &postroom.HeldError{Reason: "these are quiet hours", Until: until}
}

// Validate returns an error that names the field of the policy if the hours are none.
func (q *Quiet) Validate(kinds *postroom.Kinds) error {
	for i := range q.Spans {
		if err := q.Spans[i].validate(); err != nil {
			return fmt.Errorf("gate: Policy.Quiet.Spans[%d] %w", i, err)
		}
	}
	for i, t := range q.May {
		if !kinds.Knows(t) {
			return fmt.Errorf("gate: Policy.Quiet.May[%d] is %q, which is no action; the actions are %v", i, string(t),
				kinds.Types())
		}
	}
	utc := Quiet{Spans: q.Spans}
	monday := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	if end := utc.until(monday); end.Sub(monday) >= 7*day {
		return errors.New(
			"gate: Policy.Quiet.Spans cover the whole week, so that nothing would ever be done; use a stop for that")
	}
	return nil
}
