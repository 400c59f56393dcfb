package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A Schedule limits when a rule applies, by the clock of the program that decides. The zero Schedule is always on.
type Schedule struct {
	// From and Until are the first and the last day, as 2026-01-31. Empty means no limit.
	From  string `json:"from,omitempty"`
	Until string `json:"until,omitempty"`
	// Times are parts of a day, as 22:00-06:00; one of them is enough. Nil means all day.
	Times []string `json:"times,omitempty"`
	// Weekdays are mon, tue, wed, thu, fri, sat and sun. Nil means all.
	Weekdays []string `json:"weekdays,omitempty"`
	// Zone is the time zone of all of these: a name such as Europe/Berlin or an offset such as +0100. Empty means UTC.
	Zone string `json:"zone,omitempty"`
}

// A calendar is a compiled schedule.
type calendar struct {
	zone        *time.Location
	from, until time.Time // the beginning of the first day and the end of the last one; zero without
	times       []timeSpan
	weekdays    []time.Weekday
}

// compile returns the faults of the schedule.
func (s *Schedule) compile() (*calendar, []fault) {
	var faults []fault
	add := func(err error, hint string) {
		if err != nil {
			faults = append(faults, fault{"schedule", err.Error(), hint})
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
	var err error
	if s.From != "" {
		c.from, err = time.ParseInLocation(time.DateOnly, s.From, c.zone)
		add(dateFault(s.From, err), dateHint)
	}
	if s.Until != "" {
		c.until, err = time.ParseInLocation(time.DateOnly, s.Until, c.zone)
		add(dateFault(s.Until, err), dateHint)
		c.until = c.until.AddDate(0, 0, 1)
	}
	if s.From != "" && s.Until != "" && !c.from.Before(c.until) {
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

// includes reports whether the schedule is on.
func (c *calendar) includes(now time.Time) bool {
	now = now.In(c.zone)
	switch {
	case !c.from.IsZero() && now.Before(c.from), !c.until.IsZero() && !now.Before(c.until):
		return false
	case len(c.weekdays) > 0 && !slices.Contains(c.weekdays, now.Weekday()):
		return false
	}
	return len(c.times) == 0 || slices.ContainsFunc(c.times, func(s timeSpan) bool { return s.includes(now) })
}
