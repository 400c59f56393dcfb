// Package timetable reads cron expressions and returns the instants that they name in a time zone.
package timetable

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// A Timetable returns the instants at which a schedule fires.
type Timetable interface {
	// Next returns the first instant after the given one; zero if there is none.
	Next(after time.Time) time.Time
	// Due are the instants from first to now; at most the latest limit of them, in order.
	Due(first, now time.Time, limit int) []time.Time
}

const everyPrefix = "@every "

var cronParser = cron.NewParser(
	cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// New reads the Cron and the Zone of a schedule. It may read a file, for the zone.
func New(expression, zone string) (Timetable, error) {
	location, err := loadZone(zone)
	if err != nil {
		return nil, fmt.Errorf("Zone is %.100q: %w", zone, err) //nolint:staticcheck // the name of a field
	}
	table, err := parse(expression, location)
	if err != nil {
		return nil, fmt.Errorf("Cron is %.100q: %w", expression, err) //nolint:staticcheck // the name of a field
	}
	return table, nil
}

func loadZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errors.New("it differs from machine to machine; name the zone, such as Europe/Berlin")
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w (this machine may lack the time zone database; import time/tzdata into the program)",
			err)
	}
	return location, nil
}

func parse(expression string, zone *time.Location) (Timetable, error) {
	if interval, ok := strings.CutPrefix(expression, everyPrefix); ok {
		return parseEvery(interval)
	}
	if strings.Contains(expression, "TZ=") {
		return nil, errors.New("the time zone goes into Zone")
	}
	parsed, err := cronParser.Parse(expression)
	switch {
	case err != nil && strings.HasPrefix(expression, "@"):
		return nil, fmt.Errorf("%w; there are @hourly, @daily, @weekly, @monthly, @yearly and @every", err)
	case err != nil:
		return nil,
			fmt.Errorf("%w (the fields are minute, hour, day of month, month, day of week, and may begin with one of seconds)",
				err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("not an expression of five or six fields, nor @daily and the like, nor @every and a duration")
	}
	if slices.Contains([]uint64{spec.Second, spec.Minute, spec.Hour, spec.Dom, spec.Month, spec.Dow}, 0) {
		return nil, errors.New("one of its fields names nothing")
	}
	// The wall clock's time is passed as UTC, which has no gaps; gaps are handled here.
	spec.Location = time.UTC
	return &calendar{spec: spec, zone: zone}, nil
}

// Every fires at a fixed interval, counted on from the first instant.
type Every time.Duration

func parseEvery(text string) (Timetable, error) {
	interval, err := time.ParseDuration(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, err
	case interval < time.Second || interval%time.Second != 0:
		return nil, errors.New("the interval must be at least 1s, in whole seconds")
	}
	return Every(interval), nil
}

// Next returns the first whole second that is an interval after the instant.
func (e Every) Next(after time.Time) time.Time {
	return after.Truncate(time.Second).Add(time.Duration(e))
}

// Due returns the latest instants within first and now, at most limit.
func (e Every) Due(first, now time.Time, limit int) []time.Time {
	last := now.Sub(first) / time.Duration(e)
	begin := max(0, last-time.Duration(limit)+1)
	var instants []time.Time
	for i := begin; i <= last; i++ {
		instants = append(instants, first.Add(i*time.Duration(e)))
	}
	return instants
}

// A calendar fires when the clocks of a zone match an expression.
type calendar struct {
	spec *cron.SpecSchedule
	zone *time.Location
}

const allHours = 1<<24 - 1

// Next follows the wall clock if hours are named, and elapsed time if every hour is meant: in the hour that the clocks
// show twice, an hourly schedule fires each time, and a daily one once.
func (c *calendar) Next(after time.Time) time.Time {
	if c.spec.Hour&allHours == allHours {
		return c.nextElapsed(after)
	}
	wall := shift(after, offset(after, c.zone))
	for {
		if wall = c.spec.Next(wall); wall.IsZero() {
			return wall
		}
		// After clocks were set back, it may be an instant that they have shown before.
		if instant := c.instant(wall); instant.After(after) {
			return instant
		}
	}
}

// nextElapsed takes each stretch between two changes of the clocks by itself.
func (c *calendar) nextElapsed(after time.Time) time.Time {
	for stretch := after; ; {
		behind := offset(stretch, c.zone)
		_, end := stretch.In(c.zone).ZoneBounds()
		wall := c.spec.Next(shift(after, behind))
		if wall.IsZero() {
			return wall
		}
		if next := shift(wall, -behind); end.IsZero() || next.Before(end) {
			return next
		}
		stretch, after = end, end.Add(-1)
	}
}

// around is farther than any zone is from UTC, and than its clocks were ever set.
const around = 25 * time.Hour

// instant is when the zone's clocks first show the wall time, or, when they leave it out, when they jump over it.
func (c *calendar) instant(wall time.Time) time.Time {
	before, after := offset(wall.Add(-around), c.zone), offset(wall.Add(around), c.zone)
	for _, o := range []time.Duration{before, after} {
		if t := shift(wall, -o); offset(t, c.zone) == o {
			return t
		}
	}
	jump, _ := shift(wall, -before).In(c.zone).ZoneBounds()
	return jump.UTC()
}

// Due looks back from now in spans that double, so that it costs no more when there was a year to look back on.
func (c *calendar) Due(first, now time.Time, limit int) []time.Time {
	for span := time.Minute; ; span *= 2 {
		from := now.Add(-span)
		whole := !from.After(first)
		if whole {
			from = first.Add(-1)
		}
		var instants []time.Time
		for t := c.Next(from); !t.IsZero() && !t.After(now); t = c.Next(t) {
			instants = append(instants, t)
		}
		if whole || len(instants) >= limit {
			return instants[max(0, len(instants)-limit):]
		}
	}
}

// offset is how far the zone's clocks are ahead of UTC.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

func shift(t time.Time, by time.Duration) time.Time { return t.UTC().Add(by) }
