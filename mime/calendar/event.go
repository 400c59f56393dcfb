package calendar

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An Event is a meeting or an appointment (VEVENT, RFC 5545, section 3.6.1).
type Event struct {
	// UID identifies the event permanently; UID and RecurrenceID identify one occurrence. Sequence grows with each
	// change. Of two versions, the one with the higher Sequence counts, and with equal Sequences the one with the later
	// Stamp.
	UID      string
	Sequence int
	Stamp    time.Time // when the sender made this version; zero if unknown
	// RecurrenceID is the original start of the occurrence that this entry is about; the zero Moment if the entry is
	// about the whole event.
	RecurrenceID Moment

	Summary     string
	Description string
	Location    string
	// Status is "TENTATIVE", "CONFIRMED" or "CANCELLED", in upper case; empty if not given.
	Status string
	// Conference is the link to join by, from the fields of the usual programs, otherwise from Location and Description;
	// empty if there is none. The sender chose the link: show it, do not follow it.
	Conference string
	URL        string

	Organizer Person
	Attendees []Attendee

	// End is after the last moment of the event; for an all-day event, it is the day after the last. If the calendar
	// gives only a duration, End is Start plus the duration.
	Start Moment
	End   Moment

	// Rules are the recurrence rules (RFC 5545, section 3.3.10) as text, such as "FREQ=WEEKLY;BYDAY=MO". Added are dates
	// in addition to the rules, and Excluded are exceptions from them.
	Rules    []string
	Added    []Moment
	Excluded []Moment

	// Free reports that the event does not block its time (TRANSP, RFC 5545, section 3.8.2.7).
	Free bool
}

// IsRecurring reports whether the event takes place more than once.
func (e *Event) IsRecurring() bool { return len(e.Rules) > 0 || len(e.Added) > 0 }

// A Person is an organizer or attendee.
type Person struct {
	Email string // empty if the address is not an email address
	Name  string
	// SentBy is the person who acts for this one; empty if there is none.
	SentBy string
}

// An Attendee is an invited person, room or group.
type Attendee struct {
	Person
	// Participation is the answer (PARTSTAT, RFC 5545, section 3.2.12): "NEEDS-ACTION", which is the default,
	// "ACCEPTED", "DECLINED", "TENTATIVE", "DELEGATED" or another word in upper case.
	Participation string
	// Role is "REQ-PARTICIPANT", which is the default, "CHAIR", "OPT-PARTICIPANT", "NON-PARTICIPANT" or another word in
	// upper case.
	Role string
	// Kind is "INDIVIDUAL", which is the default, "GROUP", "RESOURCE", "ROOM" or another word in upper case.
	Kind string
	// RSVP reports that the organizer wants an answer.
	RSVP bool
}

func readEvent(c *component, zones *zones) Event {
	e := Event{
		UID:         line(c.text("UID")),
		Summary:     line(c.text("SUMMARY")),
		Description: c.text("DESCRIPTION"),
		Location:    line(c.text("LOCATION")),
		Status:      strings.ToUpper(line(c.text("STATUS"))),
		URL:         line(c.text("URL")),
		Free:        strings.EqualFold(c.text("TRANSP"), "TRANSPARENT"),
	}
	e.Sequence, _ = strconv.Atoi(c.text("SEQUENCE"))
	for _, p := range c.properties {
		e.add(p, zones)
	}
	e.end(c)
	e.Conference = conference(c, &e)
	return e
}

func (e *Event) add(p property, zones *zones) {
	switch p.name {
	case "DTSTAMP":
		e.Stamp = zones.moment(p, p.value).Time
	case "RECURRENCE-ID":
		e.RecurrenceID = zones.moment(p, p.value)
	case "DTSTART":
		e.Start = zones.moment(p, p.value)
	case "DTEND":
		e.End = zones.moment(p, p.value)
	case "RRULE":
		e.Rules = append(e.Rules, line(p.value))
	case "RDATE":
		e.Added = append(e.Added, zones.moments(p)...)
	case "EXDATE":
		e.Excluded = append(e.Excluded, zones.moments(p)...)
	case "ORGANIZER":
		e.Organizer = readPerson(p)
	case "ATTENDEE":
		e.Attendees = append(e.Attendees, Attendee{
			Person:        readPerson(p),
			Participation: word(p, "PARTSTAT", "NEEDS-ACTION"),
			Role:          word(p, "ROLE", "REQ-PARTICIPANT"),
			Kind:          word(p, "CUTYPE", "INDIVIDUAL"),
			RSVP:          strings.EqualFold(p.parameter("RSVP"), "TRUE"),
		})
	}
}

func word(p property, name, otherwise string) string {
	if value := strings.ToUpper(strings.TrimSpace(line(p.parameter(name)))); value != "" {
		return value
	}
	return otherwise
}

// end sets the end of an event that gives none (RFC 5545, section 3.6.1).
func (e *Event) end(c *component) {
	if !e.End.IsZero() || e.Start.IsZero() {
		return
	}
	e.End = e.Start
	switch d, ok := parseDuration(c.text("DURATION")); {
	case ok:
		e.End = e.Start.add(d)
	case e.Start.AllDay:
		e.End = e.Start.add(duration{days: 1})
	}
}

// readPerson reads a calendar address.
//
// QUIRK: the scheme is in any case, or missing, and Exchange writes people without an address. Sample:
// outlook-invitation.
func readPerson(p property) Person {
	return Person{Email: address(p.value, p.parameter("EMAIL")), Name: strings.Trim(line(p.parameter("CN")), `"' `),
		SentBy: address(p.parameter("SENT-BY"), "")}
}

func address(uri, otherwise string) string {
	uri = strings.TrimSpace(line(uri))
	const scheme = "mailto:"
	if len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme) {
		uri = uri[len(scheme):]
	}
	if at := strings.IndexByte(uri, '@'); at <= 0 || strings.ContainsAny(uri, " <>/") {
		return line(otherwise)
	}
	return uri
}

// line puts text on one line.
func line(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}

// conferenceFields are the fields with links to join by, in order of preference: RFC 7986, section 5.11, then those
// of programs.
var conferenceFields = []string{
	"CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL", "X-MICROSOFT-ONLINEMEETINGEXTERNALLINK",
	"X-MICROSOFT-ONLINEMEETINGCONFLINK", "X-ZOOM-JOIN-URL",
}

// conferenceLink matches the links to join by of the usual services.
var conferenceLink = regexp.MustCompile(
	`https://(?:meet\.google\.com/[a-z-]+|[a-z0-9.-]*\bzoom\.us/(?:j|my|w)/[^\s<>"]+|` +
		`teams\.(?:microsoft|live)\.com/(?:l/meetup-join|meet)/[^\s<>"]+|[a-z0-9.-]+\.webex\.com/[^\s<>"]+|meet\.jit\.si/[^\s<>"]+|` +
		`whereby\.com/[^\s<>"]+|global\.gotomeeting\.com/join/[^\s<>"]+)`)

func conference(c *component, e *Event) string {
	for _, name := range conferenceFields {
		if link := line(c.text(name)); strings.HasPrefix(link, "https://") {
			return link
		}
	}
	for _, text := range []string{e.URL, e.Location, e.Description} {
		if link := conferenceLink.FindString(text); link != "" {
			return strings.TrimRight(link, ".,;)")
		}
	}
	return ""
}
