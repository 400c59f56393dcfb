package enrich

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/calendar"
)

// A reading is the result of reading the calendars of a message, as a step of the job.
type reading struct {
	Events []Event `json:"events"`
	Fault  string  `json:"fault,omitempty"` // why there is none, for good
}

// readCalendars returns the events of the calendars in a message.
func (s *Service) readCalendars(ctx context.Context, msg *postroom.Message) (reading, error) {
	calendars, err := s.cfg.Calendars(ctx, msg)
	if errors.Is(err, postroom.ErrNotFound) {
		return reading{Fault: bounded(fmt.Sprintf("the calendar cannot be had: %v", err), maxReasoning)}, nil
	}
	if err != nil {
		return reading{}, fmt.Errorf("llm/enrich: read the calendar of message %s: %w", msg.ID, err)
	}
	var r reading
	for _, c := range calendars {
		for i := range c.Events {
			if e := &c.Events[i]; len(r.Events) < maxEvents && !e.Start.IsZero() {
				r.Events = append(r.Events, eventOf(c, e))
			}
		}
	}
	return r, nil
}

func eventOf(c *calendar.Calendar, e *calendar.Event) Event {
	event := Event{
		UID: bounded(e.UID, maxText), Title: bounded(e.Summary, maxText), Place: bounded(e.Location, maxText),
		Repeats: e.IsRecurring(), Canceled: c.Method == "CANCEL" || e.Status == "CANCELLED",
	}
	start, end := e.Start, e.End
	if !start.AllDay && !start.Floating {
		start.Time = inKnownZone(start.Time)
		if !end.AllDay && !end.IsZero() { // a flight ends in another zone, and an end without one is in that of the start
			end.Time, end.Floating = end.In(e.Start.Time.Location()).In(start.Time.Location()), false
		}
	}
	event.Start, event.Zone = momentText(start)
	event.End, _ = momentText(end)
	for _, a := range e.Attendees[:min(len(e.Attendees), maxAttendees)] {
		name := a.Name
		if name == "" {
			name = a.Email
		}
		event.Attendees = append(event.Attendees, bounded(name, maxText))
	}
	return event
}

// inKnownZone returns a time in its zone if that can be found by its name later, and else in UTC: programs describe
// zones of their own in a calendar, such as "Customized Time Zone", or under a name that means another one.
func inKnownZone(t time.Time) time.Time {
	name := t.Location().String()
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return t.UTC()
	}
	_, offset := t.Zone()
	if _, known := t.In(zone).Zone(); known != offset {
		return t.UTC()
	}
	return t.In(zone)
}

// momentText returns a moment of a calendar as events have it, and its zone; empty for one that floats.
func momentText(m calendar.Moment) (text, zone string) {
	switch {
	case m.IsZero():
		return "", ""
	case m.AllDay:
		return m.Time.Format(time.DateOnly), ""
	case m.Floating:
		return m.Time.Format(minute), ""
	}
	return m.Time.Format(minute), bounded(m.Time.Location().String(), maxText)
}
