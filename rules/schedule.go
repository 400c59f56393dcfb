package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dayspan"
	"github.com/postroom-go/postroom/internal/suggest"
)

// A Schedule limits when a rule applies, by the clock of the program that decides. The zero Schedule is always on.
//
// Times that go over midnight belong to the day on which they begin: 22:00-06:00 on fri is on from Friday at 22:00 to
// Saturday at 06:00, and not on Friday at 02:00. From, Until and Weekdays are about that day, as the quiet hours of
// package safety are.
type Schedule struct {
	// From and Until are the first and the last day, as 2026-01-31. Empty means no limit.
	From  string `json:"from,omitempty"`
	Until string `json:"until,omitempty"`
	// Times are parts of a day, as 22:00-06:00; one of them is enough. Nil means all day.
	Times []string `json:"times,omitempty"`
	// Weekdays are mon, tue, wed, thu, fri, sat and sun. Nil means all.
	Weekdays []string `json:"weekdays,omitempty"`
	// LabelOnlyUntil is the last day, as 2026-01-31, on which the rule only gives its labels: apply_label is done as
	// always, move only labels, and its other actions are left out. So one sees what a new rule finds before it moves
	// anything. Empty means that the rule does all of its actions from the start.
	LabelOnlyUntil string `json:"label_only_until,omitempty"`
	// Zone is the time zone of all of these: a name such as Europe/Berlin or an offset such as +0100. Empty means UTC.
	Zone string `json:"zone,omitempty"`
}

// A calendar is a compiled schedule.
type calendar struct {
	zone        *time.Location
	from, until time.Time // noon UTC of the first day and of the last one; zero without
	labelOnly   time.Time // that of the last day on which the rule only labels
	times       []timeSpan
	weekdays    []time.Weekday
}

// compile returns the faults of the schedule.
func (s *Schedule) compile() (*calendar, []Fault) {
	var faults []Fault
	add := func(err error, hint string) {
		if err != nil {
			faults = append(faults, Fault{"schedule", err.Error(), hint})
		}
	}
	c := &calendar{zone: time.UTC}
	if zone, err := parseZone(s.Zone); zone != nil {
		c.zone = zone
	} else if err == nil {
		add(fmt.Errorf("zone %q is that of a message", s.Zone), zoneHint)
	} else {
		add(err, zoneHint)
	}
	for _, d := range []struct {
		text string
		into *time.Time
	}{{s.From, &c.from}, {s.Until, &c.until}, {s.LabelOnlyUntil, &c.labelOnly}} {
		if d.text != "" {
			first, err := time.Parse(time.DateOnly, d.text)
			add(dateFault(d.text, err), dateHint)
			*d.into = dayspan.Day(first, 0)
		}
	}
	if s.From != "" && s.Until != "" && c.until.Before(c.from) {
		add(fmt.Errorf("it ends on %s, before it begins", s.Until), "")
	}
	for _, text := range s.Times {
		span, err := parseTimeSpan(text)
		add(err, timeSpanHint)
		c.times = append(c.times, span)
	}
	for _, name := range s.Weekdays {
		day := slices.Index(weekdayNames, strings.ToLower(name))
		if day < 0 {
			add(fmt.Errorf("%q is no day", name), suggest.Instead(name, weekdayNames, "the days are"))
		}
		c.weekdays = append(c.weekdays, time.Weekday(day))
	}
	return c, faults
}

func dateFault(text string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is no date", text)
}

const (
	zoneHint     = "write a name such as Europe/Berlin or an offset such as +0100"
	dateHint     = "write year, month and day, as in 2026-01-31"
	timeSpanHint = "write from-to, as in 22:00-06:00"
)

// includes reports whether the schedule is active. Only times continue into the next day.
func (c *calendar) includes(now time.Time) bool {
	now = now.In(c.zone)
	if len(c.times) == 0 {
		return c.allows(dayspan.Day(now, 0))
	}
	for _, began := range []int{-1, 0} {
		if c.allows(dayspan.Day(now, began)) && slices.ContainsFunc(c.times, func(s timeSpan) bool {
			from, to := s.span().On(now, began)
			return !now.Before(from) && now.Before(to)
		}) {
			return true
		}
	}
	return false
}

// allows reports whether a day is one of the schedule's.
func (c *calendar) allows(day time.Time) bool {
	return (c.from.IsZero() || !day.Before(c.from)) && (c.until.IsZero() || !day.After(c.until)) &&
		(len(c.weekdays) == 0 || slices.Contains(c.weekdays, day.Weekday()))
}

// LabelOnlyEnds returns when the rule begins to do all of its actions, if it begins with its labels only; zero
// otherwise. See [Schedule].
func (r *Rule) LabelOnlyEnds() time.Time {
	c, _ := r.Schedule.compile()
	if c.labelOnly.IsZero() {
		return time.Time{}
	}
	year, month, day := c.labelOnly.Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, c.zone)
}

// labelActions are those of the rule while it only labels.
func (r *Rule) labelActions() (list []RuleAction) {
	for _, a := range r.Actions() {
		if label, ok := a.Parameters[postroom.ParamLabel]; ok && (a.Type == postroom.ApplyLabel || a.Type == postroom.Move) {
			list = append(list, RuleAction{postroom.ApplyLabel, postroom.Parameters{postroom.ParamLabel: label}})
		}
	}
	return list
}

// Permits returns all that the rule may do: its actions and, if it begins with its labels only, those of that time.
func (r *Rule) Permits() []RuleAction {
	if r.Schedule.LabelOnlyUntil == "" {
		return r.Actions()
	}
	return append(r.Actions(), r.labelActions()...)
}

// labelOnlyFaults are those of a rule that cannot begin with its labels only.
func (r *Rule) labelOnlyFaults() []Fault {
	if r.Schedule.LabelOnlyUntil == "" || len(r.labelActions()) > 0 {
		return nil
	}
	return []Fault{{"schedule", "the rule has no label that it could begin with",
		"leave label_only_until out, or let the rule move or apply_label"}}
}
