package enrich_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/mime/calendar"
)

func TestWhenAnEventIs(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := func(zone *time.Location, day, hour int) time.Time {
		return time.Date(2026, 3, day, hour, 0, 0, 0, zone)
	}
	const two, four = "2026-03-06T14:00", "2026-03-06T16:00"
	for name, of := range map[string]struct {
		event        enrich.Event
		begins, ends time.Time
		allDay       bool
	}{
		"a zone": {enrich.Event{Start: two, End: four, Zone: "Europe/Berlin"}, at(berlin, 6, 14),
			at(berlin, 6, 16), false},
		"no zone": {enrich.Event{Start: two}, at(time.UTC, 6, 14), at(time.UTC, 6, 15), false},
		"an unknown zone": {enrich.Event{Start: two, Zone: "Mars"}, at(time.UTC, 6, 14), at(time.UTC, 6, 15),
			false},
		"an end before it": {enrich.Event{Start: four, End: two}, at(time.UTC, 6, 16), at(time.UTC, 6, 17), false},
		"a day":            {enrich.Event{Start: "2026-03-06"}, at(time.UTC, 6, 0), at(time.UTC, 7, 0), true},
		"days": {enrich.Event{Start: "2026-03-06", End: "2026-03-09"}, at(time.UTC, 6, 0), at(time.UTC, 9, 0),
			true},
	} {
		begins, ends, allDay, ok := of.event.Span(time.UTC)
		require.True(t, ok, name)
		require.True(t, of.begins.Equal(begins), "%s: %v", name, begins)
		require.True(t, of.ends.Equal(ends), "%s: %v", name, ends)
		require.Equal(t, of.allDay, allDay, name)
	}
	_, _, _, ok := (&enrich.Event{Start: "soon"}).Span(time.UTC) //nolint:dogsled // there are none
	require.False(t, ok)
}

// What stands becomes a calendar that invites nobody, whose texts, which are of senders, add nothing to it.
func TestWhatStandsBecomesACalendar(t *testing.T) {
	sure := enrich.Told{By: enrich.ByModel, Confidence: 0.9}
	e := &enrich.Enrichment{AccountID: account, MessageID: "m", ReceivedAt: received, CalendarTold: sure,
		ImportanceTold: sure,
		Events: []enrich.Event{
			{UID: "of-another-event", Title: "Tea\r\nEND:VEVENT\r\nATTENDEE:mailto:eve@bad.example", Start: "2026-03-06T14:00",
				End: "2026-03-06T16:00", Zone: "Europe/Berlin", Place: "Room; 1, \u202eback", Attendees: []string{"Ada", "Ben"}},
			{Title: "Off", Start: "2026-03-07", Canceled: true},
			{Title: "Fair", Start: "2026-03-08", End: "2026-03-10"},
			{Title: "Call", Start: "2026-03-08T09:30"},
		},
		ActionItems: []enrich.ActionItem{{Text: "Pay", Due: "2026-03-05"}, {Text: "Call", Due: "2026-03-05T12:00"},
			{Text: "Think"}},
	}
	text := string(e.EventsICS("From a mail of ada@example.com: Tea"))
	require.Equal(t, text, string(e.EventsICS("From a mail of ada@example.com: Tea")))
	calendar, err := ics.ParseCalendar(strings.NewReader(text))
	require.NoError(t, err, text)
	require.Len(t, calendar.Components, 3)
	events := calendar.Events()
	get := func(i int, name ics.ComponentProperty) string { return events[i].GetProperty(name).Value }
	require.Equal(t, []string{"20260306T130000Z", "20260306T150000Z"},
		[]string{get(0, ics.ComponentPropertyDtStart), get(0, ics.ComponentPropertyDtEnd)})
	require.Equal(t, []string{"20260308", "20260310"},
		[]string{get(1, ics.ComponentPropertyDtStart), get(1, ics.ComponentPropertyDtEnd)})
	require.Equal(t, "20260308T093000", get(2, ics.ComponentPropertyDtStart), "it says no zone")
	require.Equal(t, "Room; 1, back", get(0, ics.ComponentPropertyLocation))
	require.Contains(t, get(0, ics.ComponentPropertyDescription), "With: Ada, Ben")
	require.NotContains(t, text, "of-another-event")
	require.NotContains(t, text, "METHOD")
	require.NotRegexp(t, `(?m)^(ATTENDEE|ORGANIZER)`, text)

	items, err := ics.ParseCalendar(strings.NewReader(string(e.ItemsICS("From a mail"))))
	require.NoError(t, err)
	require.Len(t, items.Components, 3)
	due := func(i int) string { return items.Todos()[i].GetProperty(ics.ComponentPropertyDue).Value }
	require.Equal(t, []string{"20260305", "20260305T120000"}, []string{due(0), due(1)})
	require.Nil(t, items.Todos()[2].GetProperty(ics.ComponentPropertyDue))

	e.Unsure = []enrich.Stage{enrich.StageCalendar, enrich.StageImportance}
	require.Nil(t, e.EventsICS(""))
	require.Nil(t, e.ItemsICS(""))
	require.Nil(t, (&enrich.Enrichment{CalendarTold: sure, ImportanceTold: sure}).EventsICS(""))
}

const oneICS = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Postroom//enrich//EN
BEGIN:VEVENT
UID:%s
DTSTAMP:20260304T090000Z
DTSTART:20260306T130000Z
DTEND:20260306T150000Z
SUMMARY:Tea\nEND:VEVENT
LOCATION:Room\; 1\, second floor
DESCRIPTION:From a mail of Ada <ada@example.com>:
  Tea\nhttps://mail.google.com/mail/?authuser=you%%40example.org#all/18c1\nW
 ith: Ada\, Ben
END:VEVENT
END:VCALENDAR
`

// One appointment is a calendar of its own, as programs that import it expect, with the UID that it has among others.
func TestOneAppointmentBecomesACalendar(t *testing.T) {
	e := &enrich.Enrichment{AccountID: account, MessageID: "m", ReceivedAt: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC),
		CalendarTold: enrich.Told{By: enrich.ByModel, Confidence: 0.9}, Events: []enrich.Event{
			{Title: "Off", Start: "2026-03-07", Canceled: true},
			{Title: "Tea\r\nEND:VEVENT", Start: "2026-03-06T14:00", End: "2026-03-06T16:00", Zone: "Europe/Berlin",
				Place: "Room; 1, second floor", Attendees: []string{"Ada", "Ben"}},
		}}
	const about = "From a mail of Ada <ada@example.com>: Tea\nhttps://mail.google.com/mail/?authuser=you%40example.org#all/18c1"
	text := string(e.EventICS(1, about))
	require.Equal(t, strings.ReplaceAll(fmt.Sprintf(oneICS, e.EventUID(1)), "\n", "\r\n"), text)
	read, err := calendar.Parse(text)
	require.NoError(t, err)
	require.Len(t, read.Events, 1)
	require.Equal(t, "Tea END:VEVENT", strings.Join(strings.Fields(read.Events[0].Summary), " "))
	require.Equal(t, e.EventUID(1), read.Events[0].UID)
	require.Contains(t, string(e.EventsICS(about)), "UID:"+e.EventUID(1))
	e.Events[1].Repeats = true
	require.Contains(t, strings.ReplaceAll(string(e.EventICS(1, about)), "\r\n ", ""), "It repeats")
	for _, i := range []int{-1, 0, 2} {
		require.Nil(t, e.EventICS(i, about))
	}
	e.Unsure = []enrich.Stage{enrich.StageCalendar}
	require.Nil(t, e.EventICS(1, about))
}
