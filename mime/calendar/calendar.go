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
	// Method is the sender's request (RFC 5546, section 1.4), such as "REQUEST", "REPLY", "CANCEL", "PUBLISH" or "COUNTER", in
	// upper case; empty if there is none.
	Method string
	// Product is the program that made the calendar.
	Product string
	// Events are the meetings and appointments. A recurring event has an entry for the whole series, and an entry with the same
	// UID for each occurrence that differs.
	Events []Event
}

// FromMessage returns the distinct calendars of a message: its parts of type text/calendar, and files whose name ends in .ics. It
// does not look into attached messages. The error joins those of all parts that could not be read; the other calendars are
// returned.
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
		c, err := Parse(text)
		if err != nil {
			failures = append(failures, fmt.Errorf("part %q: %w", p.Path, err))
			return
		}
		if c.Method == "" {
			c.Method = strings.ToUpper(p.Params["method"])
		}
		calendars = append(calendars, c)
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

// Parse returns the first calendar in the text. It returns [ErrNone] if there is none, and an error for a text of more than 1
// MiB.
func Parse(text string) (*Calendar, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("calendar: text has %d bytes, and %d are read at most", len(text), maxText)
	}
	root := parseComponents(text)
	if root == nil {
		return nil, fmt.Errorf("calendar: %w in %d bytes", ErrNone, len(text))
	}
	c := &Calendar{Method: strings.ToUpper(root.text("METHOD")), Product: root.text("PRODID")}
	zones := newZones(root)
	for _, child := range root.children {
		if child.name == "VEVENT" && len(c.Events) < maxEvents {
			c.Events = append(c.Events, readEvent(child, zones))
		}
	}
	return c, nil
}
