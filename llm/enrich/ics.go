package enrich

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"
)

// Span returns when an event begins and ends, in a location where it says no zone, and whether it lasts whole days. An
// event that says no end lasts an hour, or a day. It reports false for one whose start is no time.
func (e *Event) Span(location *time.Location) (begins, ends time.Time, allDay, ok bool) {
	if zone, err := time.LoadLocation(e.Zone); err == nil && e.Zone != "" {
		location = zone
	}
	begins, allDay, ok = timeIn(e.Start, location)
	if !ok {
		return begins, ends, allDay, false
	}
	if ends, _, ok = timeIn(e.End, location); ok && ends.After(begins) {
		return begins, ends, allDay, true
	}
	if allDay {
		return begins, begins.AddDate(0, 0, 1), true, true
	}
	return begins, begins.Add(time.Hour), false, true
}

// timeIn reads a day or a minute.
func timeIn(text string, location *time.Location) (t time.Time, isDay, ok bool) {
	if t, err := time.ParseInLocation(minute, text, location); err == nil {
		return t, false, true
	}
	t, err := time.ParseInLocation(time.DateOnly, text, location)
	return t, true, err == nil
}

// EventsICS returns the appointments of a message that are not canceled as a calendar (RFC 5545), with a note of what
// mail they are from; nil if none stands. It invites nobody: programs for calendars write to the attendees of an event,
// so they are named in its description only. Its UIDs are its own, since a sender chooses those of a calendar, and
// could choose that of another event.
func (e *Enrichment) EventsICS(about string) []byte {
	if !e.Stands(StageCalendar) {
		return nil
	}
	calendar, n := newCalendar(), 0
	for i := range e.Events {
		if e.addEvent(calendar, i, about) {
			n++
		}
	}
	return serialized(calendar, n)
}

// EventICS returns one appointment as [Enrichment.EventsICS] returns all of them; nil if it does not stand.
func (e *Enrichment) EventICS(i int, about string) []byte {
	calendar := newCalendar()
	if i < 0 || i >= len(e.Events) || !e.Stands(StageCalendar) || !e.addEvent(calendar, i, about) {
		return nil
	}
	return serialized(calendar, 1)
}

// EventUID returns the UID of an appointment in a calendar that [Enrichment.EventICS] makes.
func (e *Enrichment) EventUID(i int) string { return e.uid("event", i) }

// addEvent adds an appointment to a calendar, unless it is canceled.
func (e *Enrichment) addEvent(calendar *ics.Calendar, i int, about string) bool {
	event := &e.Events[i]
	begins, ends, allDay, ok := event.Span(time.UTC)
	if event.Canceled || !ok {
		return false
	}
	vevent := calendar.AddEvent(e.EventUID(i))
	vevent.SetDtStampTime(e.ReceivedAt)
	form := func(t time.Time) string { return t.Format("20060102T150405") } // floats: the mail says no zone
	if event.Zone != "" {
		form = func(t time.Time) string { return t.UTC().Format("20060102T150405Z") }
	}
	if allDay {
		vevent.SetAllDayStartAt(begins)
		vevent.SetAllDayEndAt(ends)
	} else {
		vevent.SetProperty(ics.ComponentPropertyDtStart, form(begins))
		vevent.SetProperty(ics.ComponentPropertyDtEnd, form(ends))
	}
	vevent.SetSummary(printable(event.Title))
	if event.Place != "" {
		vevent.SetLocation(printable(event.Place))
	}
	text := about
	if event.Repeats {
		text += "\nIt repeats, and this is the first time of it: the invitation in the mail has the others."
	}
	if len(event.Attendees) > 0 {
		text += "\nWith: " + strings.Join(event.Attendees, ", ")
	}
	vevent.SetDescription(printable(text))
	return true
}

// ItemsICS returns what a message asks its reader to do as a calendar with a VTODO for each, with a note of what mail
// they are from; nil if nothing stands.
func (e *Enrichment) ItemsICS(about string) []byte {
	if !e.Stands(StageImportance) {
		return nil
	}
	calendar := newCalendar()
	for i, item := range e.ActionItems {
		todo := calendar.AddTodo(e.uid("item", i))
		todo.SetDtStampTime(e.ReceivedAt)
		todo.SetSummary(printable(item.Text))
		todo.SetDescription(printable(about))
		todo.SetStatus(ics.ObjectStatusNeedsAction)
		switch due, isDay, ok := timeIn(item.Due, time.UTC); {
		case !ok:
		case isDay:
			todo.SetAllDayDueAt(due)
		default:
			todo.SetProperty(ics.ComponentPropertyDue, due.Format("20060102T150405"))
		}
	}
	return serialized(calendar, len(e.ActionItems))
}

func newCalendar() *ics.Calendar {
	calendar := ics.NewCalendar()
	calendar.SetProductId("-//Postroom//enrich//EN")
	return calendar
}

func serialized(calendar *ics.Calendar, n int) []byte {
	if n == 0 {
		return nil
	}
	return []byte(calendar.Serialize(ics.WithNewLineWindows))
}

// uid is the same each time, so that a program that reads the file again changes what it has.
func (e *Enrichment) uid(what string, i int) string {
	sum := sha256.Sum256([]byte(e.AccountID + "\x00" + e.MessageID + "\x00" + what + strconv.Itoa(i)))
	return hex.EncodeToString(sum[:16]) + "@postroom"
}

// printable returns the text without the characters that RFC 5545 forbids in a TEXT, and those that show it in another
// order than it is written.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, text)
}
