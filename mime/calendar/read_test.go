package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/calendar"
)

// one reads an event of the lines.
func one(t *testing.T, lines string) calendar.Event {
	t.Helper()
	c, err := calendar.Parse("BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + lines + "\nEND:VEVENT\nEND:VCALENDAR\n")
	require.NoError(t, err)
	require.Len(t, c.Events, 1)
	return c.Events[0]
}

func TestDates(t *testing.T) {
	for value, want := range map[string]string{
		"20260301T123456Z": "2026-03-01T12:34:56Z", "20260301T1234Z": "2026-03-01T12:34:00Z", "20260301T240000Z": "2026-03-02T00:00:00Z",
		"20260301T125960Z": "2026-03-01T13:00:00Z", "20260301t123456z": "2026-03-01T12:34:56Z", "99991231T235959Z": "9999-12-31T23:59:59Z",
		"20260301T250000Z": "", "20260301T126000Z": "", "20260301T123461Z": "", "20260230T123456Z": "", "00000301T123456Z": "",
		"99991231T240000Z": "", "tomorrow": "",
	} {
		start := one(t, "DTSTART:"+value).Start
		require.Equal(t, want == "", start.IsZero(), value)
		if want != "" {
			require.Equal(t, want, start.Time.Format(time.RFC3339), value)
		}
	}
}

// The end that a duration gives; a bad one leaves that of the start.
func TestDurations(t *testing.T) {
	for duration, want := range map[string]string{
		"P1D": "2026-03-02T10:00:00Z", "P2W": "2026-03-15T10:00:00Z", "PT90M": "2026-03-01T11:30:00Z", "+P1DT2H3M4S": "2026-03-02T12:03:04Z", "pt1s": "2026-03-01T10:00:01Z",
		"-P1D": "2026-03-01T10:00:00Z", "P": "2026-03-01T10:00:00Z", "PT": "2026-03-01T10:00:00Z", "1 hour": "2026-03-01T10:00:00Z",
	} {
		require.Equal(t, want, one(t, "DTSTART:20260301T100000Z\nDURATION:"+duration).End.Time.Format(time.RFC3339), duration)
	}
	require.Equal(t, 9999, one(t, "DTSTART:99991231T100000Z\nDURATION:P9999W").End.Time.Year(),
		"no year that cannot be written")
}

func TestRecurring(t *testing.T) {
	for lines, want := range map[string]bool{
		"DTSTART:20260301T100000Z": false, "RRULE:FREQ=DAILY": true, "RDATE:20260302T100000Z/PT1H,20260303T100000Z": true, "EXDATE:20260302T100000Z": false,
	} {
		e := one(t, lines)
		require.Equal(t, want, e.IsRecurring(), lines)
	}
}

// Lines are folded by a blank or a tab; what is no property is left out, and a component ends those within it.
func TestComponents(t *testing.T) {
	require.Equal(t, "Lunch at ten", one(t, "SUMMARY:Lunch\r\n  at\r\n\t ten").Summary)
	require.Equal(t, "Lunch", one(t, "SUMMARY:Lunch\n\nno property\nUID:1").Summary)
	require.Equal(t, "a:b", one(t, `SUMMARY;X="y:z;w":a:b`).Summary)
	c, err := calendar.Parse("\n folded into nothing\nBEGIN:VEVENT\nUID:before\nEND:VEVENT\nMETHOD:x\n" +
		"begin:vcalendar\nPRODID:p\nBEGIN:VEVENT\nUID:1\nBEGIN:VALARM\nUID:inner\nEND:VEVENT\nEND:OTHER\nBEGIN:VEVENT\nUID:2\nEND:VEVENT\nEND:VCALENDAR\n" +
		"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:3\nEND:VEVENT\nEND:VCALENDAR\n")
	require.NoError(t, err)
	require.Equal(t, "p", c.Product)
	require.Empty(t, c.Method)
	var ids []string
	for _, e := range c.Events {
		ids = append(ids, e.UID)
	}
	require.Equal(t, []string{"1", "2", "3"}, ids, "calendars of one method are one")
	c, err = calendar.Parse("BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:VEVENT\nEND:VEVENT\n", 1001))
	require.NoError(t, err)
	require.Len(t, c.Events, 1000)
	c, err = calendar.Parse("BEGIN:VCALENDAR\n" + strings.Repeat("X:y\n", 50_000) + "BEGIN:VEVENT\nUID:1\n")
	require.NoError(t, err)
	require.Empty(t, c.Events[0].UID, "properties beyond the bound")
	require.Len(t, one(t, "SUMMARY:"+strings.Repeat("x", 40<<10)).Summary, 32<<10-len("SUMMARY:"))
}

func TestPartsThatAreCalendars(t *testing.T) {
	for header, want := range map[string]int{
		"Content-Type: text/calendar": 1, "Content-Type: text/x-vcalendar": 1, "Content-Type: text/ics": 1, "Content-Type: application/ics": 1,
		"Content-Type: text/plain; name=a.ics": 1, "Content-Type: application/octet-stream; name=A.ICS": 1, "Content-Type: text/plain": 0,
		"Content-Type: text/plain; name=ics": 0, "Content-Type: message/rfc822; name=a.ics": 0,
	} {
		m, err := mime.ParseBytes([]byte(header+"\n\n"+event), nil)
		require.NoError(t, err)
		calendars, err := calendar.FromMessage(m)
		require.NoError(t, err, header)
		require.Len(t, calendars, want, header)
	}
	var raw strings.Builder
	raw.WriteString("Content-Type: multipart/mixed; boundary=b\n\n")
	for i := range 30 {
		fmt.Fprintf(&raw,
			"--b\nContent-Type: text/calendar; method=cancel\n\nBEGIN:VCALENDAR\nMETHOD:reply\nPRODID:%d\nEND:VCALENDAR\n", i)
	}
	m, err := mime.ParseBytes([]byte(raw.String()), nil)
	require.NoError(t, err)
	calendars, err := calendar.FromMessage(m)
	require.NoError(t, err)
	require.Len(t, calendars, 20)
	require.Equal(t, "REPLY", calendars[0].Method, "the calendar's own word counts")
}
