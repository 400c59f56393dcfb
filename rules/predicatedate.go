package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dayspan"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// dateParts are the parts of a date, as texts of one width (RFC 5260, section 4.2).
var dateParts = map[string]func(t time.Time) string{
	"year":    func(t time.Time) string { return t.Format("2006") },
	"month":   func(t time.Time) string { return t.Format("01") },
	"day":     func(t time.Time) string { return t.Format("02") },
	"date":    func(t time.Time) string { return t.Format(time.DateOnly) },
	"julian":  julianDay,
	"hour":    func(t time.Time) string { return t.Format("15") },
	"minute":  func(t time.Time) string { return t.Format("04") },
	"second":  func(t time.Time) string { return t.Format("05") },
	"time":    func(t time.Time) string { return t.Format(time.TimeOnly) },
	"iso8601": func(t time.Time) string { return t.Format(time.RFC3339) },
	"std11":   func(t time.Time) string { return t.Format(time.RFC1123Z) },
	"zone":    func(t time.Time) string { return t.Format("-0700") },
	"weekday": func(t time.Time) string { return strconv.Itoa(int(t.Weekday())) },
}

var datePartNames = []string{
	"year", "month", "day", "date", "julian", "hour", "minute", "second", "time", "iso8601", "std11", "zone", "weekday",
}

// julianDay is the modified Julian day: days since 17 November 1858, by the calendar of the date's zone.
func julianDay(t time.Time) string {
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	const secondsPerDay, unixEpoch = 86_400, 40_587
	return strconv.FormatInt(midnight.Unix()/secondsPerDay+unixEpoch, 10)
}

// A dateSource returns the dates of a message that a predicate tests, each in its own zone.
type dateSource func(v *view) []time.Time

func compileDate(k *code, c *Condition) (predicate, *ConditionError) {
	dates, e := k.datesOf(c)
	if e != nil {
		return predicate{}, e
	}
	return datePredicate(c, dates)
}

func compileDateCount(k *code, c *Condition) (predicate, *ConditionError) {
	dates, e := k.datesOf(c)
	if e != nil {
		return predicate{}, e
	}
	return countPredicate(c, func(v *view) int { return len(dates(v)) })
}

// datesOf returns the dates in the header fields that a predicate names.
func (k *code) datesOf(c *Condition) (dateSource, *ConditionError) {
	name := cmp.Or(c.Header, "Date")
	if e := CheckHeader("header", name); e != nil {
		return nil, e
	}
	id, index := k.source(headerSource(name)), c.Index
	return func(v *view) []time.Time {
		var dates []time.Time
		for _, text := range indexed(v.Texts(id), index) {
			if date, ok := dateIn(text); ok {
				dates = append(dates, date)
			}
		}
		return dates
	}, nil
}

// dateIn reads a date field, or the date behind the last semicolon of a field such as Received.
func dateIn(text string) (time.Time, bool) {
	return mime.ParseDate(strings.TrimSpace(text[strings.LastIndexByte(text, ';')+1:]))
}

func compileReceived(_ *code, c *Condition) (predicate, *ConditionError) {
	return datePredicate(c, receivedAt)
}

func compileNow(_ *code, c *Condition) (predicate, *ConditionError) {
	return datePredicate(c, func(v *view) []time.Time { return []time.Time{v.now} })
}

func receivedAt(v *view) []time.Time {
	if v.msg.ReceivedAt.IsZero() {
		return nil
	}
	return []time.Time{v.msg.ReceivedAt}
}

func datePredicate(c *Condition, dates dateSource) (predicate, *ConditionError) {
	part, ok := dateParts[c.Part]
	if !ok {
		return predicate{}, badValue("part", fmt.Sprintf("%q is no part of a date", c.Part),
			suggest.Instead(c.Part, datePartNames, "the parts are"))
	}
	zone, e := zoneOf(c)
	if e != nil {
		return predicate{}, e
	}
	test, e := datePartTest(c)
	if e != nil {
		return predicate{}, e
	}
	inZone := func(t time.Time) string { return part(zone(t)) }
	return predicate{
		test: func(v *view) bool {
			return slices.ContainsFunc(dates(v), func(t time.Time) bool { return test(inZone(t)) })
		},
		explain: func(v *view) string { return foundTexts(lists.Texts(dates(v), inZone)) },
	}, nil
}

// datePartTest compares a part of a date with the values. Numbers may be written without leading zeros, and weekdays
// by name.
func datePartTest(c *Condition) (func(text string) bool, *ConditionError) {
	if c.Compare != "" && c.Match != "" {
		return nil, &ConditionError{Path: "compare", Err: ErrSurplusField, Detail: "match is there already",
			Hint: "write one of the two"}
	}
	values := slices.Clone(c.Alternatives())
	if c.Match == "" || c.Match == Is { // a part of a number is not filled up
		values = lists.Texts(values, func(value string) string { return DatePartValue(c.Part, value) })
	}
	if c.Compare != "" {
		compare, e := compareOf(c)
		return func(text string) bool {
			return slices.ContainsFunc(values, func(value string) bool { return compare(compareParts(text, value)) })
		}, e
	}
	t, e := textTestOf(c, Is)
	if e != nil {
		return nil, e
	}
	m := newMatcher(t.how, lists.Texts(values, strings.ToLower), true)
	if t.how == Regex {
		e = c.eachValue(func(path, value string) *ConditionError {
			re, e := compileRegex(path, value)
			m.patterns = append(m.patterns, re)
			return e
		})
		return m.in, e
	}
	return func(text string) bool { return m.in(strings.ToLower(text)) }, e
}

var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// DatePartValue returns the part of a date as text.
func DatePartValue(part, value string) string {
	switch part {
	case "weekday":
		if day := slices.Index(weekdayNames, strings.ToLower(value)); day >= 0 {
			return strconv.Itoa(day)
		}
	case "month", "day", "hour", "minute", "second":
		if len(value) == 1 && value[0] >= '0' && value[0] <= '9' {
			return "0" + value
		}
	}
	return value
}

// compareParts compares numbers as such, and other parts as texts, which have one width.
func compareParts(text, value string) int {
	a, errA := strconv.ParseInt(text, 10, 64)
	b, errB := strconv.ParseInt(value, 10, 64)
	if errA == nil && errB == nil {
		return int(min(max(a-b, -1), 1))
	}
	return strings.Compare(strings.ToLower(text), strings.ToLower(value))
}

var offset = regexp.MustCompile(`^([+-])(\d{2}):?(\d{2})$`)

// zoneOf returns the function that moves a date to the zone of the predicate.
func zoneOf(c *Condition) (func(time.Time) time.Time, *ConditionError) {
	zone, err := parseZone(c.Zone)
	if err != nil {
		return nil, badValue("zone", err.Error(), "write a name such as Europe/Berlin, an offset such as +0100, or original")
	}
	if zone == nil {
		return func(t time.Time) time.Time { return t }, nil
	}
	return func(t time.Time) time.Time { return t.In(zone) }, nil
}

// parseZone returns nil for the zone "original".
func parseZone(name string) (*time.Location, error) {
	if parts := offset.FindStringSubmatch(name); parts != nil {
		hours, _ := strconv.Atoi(parts[2])
		minutes, _ := strconv.Atoi(parts[3])
		seconds := hours*3600 + minutes*60
		if parts[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(name, seconds), nil
	}
	switch name {
	case "original":
		return nil, nil
	case "":
		return time.UTC, nil
	case "Local":
		return nil, fmt.Errorf("zone %q is that of whichever machine this is", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	return zone, nil
}

func compileTimeOfDay(_ *code, c *Condition) (predicate, *ConditionError) {
	zone, e := zoneOf(c)
	if e != nil {
		return predicate{}, e
	}
	var spans []timeSpan
	if e := c.eachValue(func(path, value string) *ConditionError {
		span, err := parseTimeSpan(value)
		spans = append(spans, span)
		if err != nil {
			return badValue(path, err.Error(), timeSpanHint)
		}
		return nil
	}); e != nil {
		return predicate{}, e
	}
	return predicate{
		test: func(v *view) bool {
			return slices.ContainsFunc(receivedAt(v), func(t time.Time) bool {
				return slices.ContainsFunc(spans, func(s timeSpan) bool { return s.includes(zone(t)) })
			})
		},
		explain: func(v *view) string {
			return foundTexts(lists.Texts(receivedAt(v), func(t time.Time) string { return zone(t).Format("15:04") }))
		},
	}, nil
}

// A timeSpan is a part of each day, in minutes since midnight; it may go over midnight. The end is not part of it.
type timeSpan struct{ from, to int }

var timeSpanForm = regexp.MustCompile(`^(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})$`)

func parseTimeSpan(text string) (timeSpan, error) {
	found := timeSpanForm.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return timeSpan{}, fmt.Errorf("%q is no part of a day", text)
	}
	minutes := make([]int, 0, 2)
	for i := 1; i < len(found); i += 2 {
		hour, _ := strconv.Atoi(found[i])
		minute, _ := strconv.Atoi(found[i+1])
		if hour > 24 || minute > 59 || hour == 24 && minute > 0 {
			return timeSpan{}, fmt.Errorf("%q has no such time", text)
		}
		minutes = append(minutes, hour*60+minute)
	}
	if minutes[0] == minutes[1] {
		return timeSpan{}, fmt.Errorf("%q is empty", text)
	}
	return timeSpan{minutes[0], minutes[1]}, nil
}

func (s timeSpan) span() dayspan.Span {
	return dayspan.Span{From: time.Duration(s.from) * time.Minute, To: time.Duration(s.to) * time.Minute}
}

func (s timeSpan) includes(t time.Time) bool {
	minute := t.Hour()*60 + t.Minute()
	if s.from < s.to {
		return s.from <= minute && minute < s.to
	}
	return minute >= s.from || minute < s.to
}

func compileWeekday(_ *code, c *Condition) (predicate, *ConditionError) {
	if e := c.eachValue(func(path, value string) *ConditionError {
		if !contains(weekdayNames, strings.ToLower(value)) {
			return badValue(path, fmt.Sprintf("%q is no day", value), "the days are "+strings.Join(weekdayNames, ", "))
		}
		return nil
	}); e != nil {
		return predicate{}, e
	}
	as := *c
	as.Part = "weekday"
	return datePredicate(&as, receivedAt)
}

// IsDatePart reports whether a date has the part.
func IsDatePart(name string) bool {
	_, ok := dateParts[name]
	return ok
}
