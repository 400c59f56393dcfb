package tasks

import (
	"strings"
	"unicode"

	ics "github.com/arran4/golang-ical"
)

// ICS returns the task as a calendar with one VTODO (RFC 5545, section 3.6.2). Its UID is the id of the task, so that a
// program that reads it again changes what it has.
func (t *Task) ICS() []byte {
	calendar := ics.NewCalendar()
	calendar.SetProductId("-//Postroom//tasks//EN")
	todo := calendar.AddTodo(t.ID)
	todo.SetDtStampTime(t.CreatedAt)
	todo.SetCreatedTime(t.CreatedAt)
	todo.SetSummary(printable(t.Title))
	if t.Notes != "" {
		todo.SetDescription(printable(t.Notes))
	}
	if !t.Due.IsZero() {
		todo.SetDueAt(t.Due)
	}
	todo.SetStatus(ics.ObjectStatusNeedsAction)
	if !t.Open() {
		todo.SetStatus(ics.ObjectStatusCompleted)
		todo.SetCompletedAt(t.ClosedAt)
	}
	return []byte(calendar.Serialize(ics.WithNewLineWindows))
}

// printable returns the text without control characters but line feeds, which RFC 5545 forbids in a TEXT.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
