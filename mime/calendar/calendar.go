package calendar

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/mime"
)

// ErrNone reports that the text has no calendar.
var ErrNone = errors.New("no BEGIN:VCALENDAR")

// The bounds of reading.
const (
	maxText      = 1 << 20 // bytes of one calendar
	maxEvents    = 1000
	maxCalendars = 20 // of one message
)

// A Calendar is one iCalendar object.
type Calendar struct {
	// Method is the sender's request (RFC 5546, section 1.4), such as "REQUEST", "REPLY", "CANCEL", "PUBLISH" or
	// "COUNTER", in upper case; empty if there is none.
	Method string
	// Product is the program that made the calendar.
	Product string
	// Events are the meetings and appointments. A recurring event has an entry for the whole series, and an entry with
	// the same UID for each occurrence that differs.
	Events []Event
}

// FromMessage returns the distinct calendars of a message: its parts of type text/calendar, and files whose name ends
// in .ics. It does not look into attached messages. The error joins those of all parts that could not be read; the
// other calendars are returned.
func FromMessage(m *mime.Message) ([]*Calendar, error) {
	var calendars []*Calendar
	var texts []string
	var failures []error
	visit(m.Root, func(p *mime.Part) {
		if !isCalendar(p) || len(texts) >= maxCalendars {
			return
		}
		text := p.Text()
		if slices.Contains(texts, text) {
			return // mail programs send the same invitation as an alternative and as a file
		}
		texts = append(texts, text)
		found, err := ParseAll(text)
		if err != nil {
			failures = append(failures, fmt.Errorf("part %q: %w", p.Path, err))
			return
		}
		for _, c := range found {
			if c.Method == "" {
				c.Method = strings.ToUpper(p.Params["method"])
			}
		}
		calendars = append(calendars, found...)
	})
	return calendars, errors.Join(failures...)
}

func visit(p *mime.Part, f func(*mime.Part)) {
	if p == nil {
		return
	}
	f(p)
	for _, child := range p.Parts {
		visit(child, f)
	}
}

func isCalendar(p *mime.Part) bool {
	switch p.ContentType {
	case "text/calendar", "application/ics", "text/x-vcalendar", "text/ics":
		return true
	}
	return !p.IsMultipart() && p.Message == nil && strings.HasSuffix(strings.ToLower(p.Filename), ".ics")
}

// Parse returns the first of the calendars that [ParseAll] returns.
func Parse(text string) (*Calendar, error) {
	all, err := ParseAll(text)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ParseAll returns the calendars in the text. Neighbors of one method are one calendar: programs write a file of
// holidays as a calendar for each. It returns [ErrNone] if there is none, and an error for a text of more than 1 MiB.
func ParseAll(text string) ([]*Calendar, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("calendar: text has %d bytes, and %d are read at most", len(text), maxText)
	}
	var all []*Calendar
	events := 0
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	for _, root := range parseComponents(text) {
		method := strings.ToUpper(root.text("METHOD"))
		if last := len(all) - 1; last < 0 || all[last].Method != method {
			if len(all) == maxCalendars {
				break
			}
			all = append(all, &Calendar{Method: method, Product: root.text("PRODID")})
		}
		c := all[len(all)-1]
		zones := newZones(root)
		for _, child := range root.children {
			if child.name == "VEVENT" && events < maxEvents {
				events++
				c.Events = append(c.Events, readEvent(child, zones))
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("calendar: %w in %d bytes", ErrNone, len(text))
	}
	return all, nil
}
