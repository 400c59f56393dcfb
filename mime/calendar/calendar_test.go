package calendar_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/calendar"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// What each sample says stands beside it.
func TestParseSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ics")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			c, err := calendar.Parse(string(raw))
			require.NoError(t, err)
			got, err := json.MarshalIndent(c, "", "  ")
			require.NoError(t, err)
			golden := strings.TrimSuffix(file, ".ics") + ".json"
			if *update {
				require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "run the tests with -update to write the file, then read it")
			require.Equal(t, string(want), string(got)+"\n")
		})
	}
}

// Every tolerance names the samples that need it.
func TestQuirksHaveSamples(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	found := 0
	for _, source := range sources {
		code, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, quirk := range regexp.MustCompile(
			`// QUIRK:(?:[^\n]*\n//)*?[^\n]*Samples?: ([a-z, -]+)\.\n`).FindAllSubmatch(code, -1) {
			found++
			for name := range strings.SplitSeq(string(quirk[1]), ", ") {
				require.FileExists(t, filepath.Join("testdata", name+".ics"))
			}
		}
	}
	require.Positive(t, found)
}

const event = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nEND:VEVENT\nEND:VCALENDAR\n"

// The same invitation comes as an alternative and as a file, and is one.
func TestFromMessage(t *testing.T) {
	raw := "From: bob@example.net\nContent-Type: multipart/mixed; boundary=m\n\n" +
		"--m\nContent-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/plain\n\nCome!\n" +
		"--a\nContent-Type: text/calendar; method=request\n\n" + event + "--a--\n" +
		"--m\nContent-Type: application/octet-stream; name=\"INVITE.ICS\"\nContent-Disposition: attachment\n\n" + event +
		"--m\nContent-Type: application/ics\n\nnothing\n--m--\n"
	m, err := mime.ParseBytes([]byte(raw), nil)
	require.NoError(t, err)
	calendars, err := calendar.FromMessage(m)
	require.ErrorIs(t, err, calendar.ErrNone)
	require.ErrorContains(t, err, `part "3"`)
	require.Len(t, calendars, 1)
	require.Equal(t, "REQUEST", calendars[0].Method)
	require.Equal(t, "1", calendars[0].Events[0].UID)

	none, err := calendar.FromMessage(&mime.Message{})
	require.NoError(t, err)
	require.Empty(t, none)
}

// A floating time and a day are what they are wherever one is.
func TestMomentIn(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := time.Date(2026, 7, 6, 10, 0, 0, 0, time.UTC)
	require.Equal(t, "2026-07-06T12:00:00+02:00", calendar.Moment{Time: at}.In(berlin).Format(time.RFC3339))
	require.Equal(t, "2026-07-06T10:00:00+02:00", calendar.Moment{Time: at, Floating: true}.In(berlin).Format(
		time.RFC3339))
	require.Equal(t, "2026-07-06T10:00:00+02:00", calendar.Moment{Time: at, AllDay: true}.In(berlin).Format(time.RFC3339))
	require.True(t, calendar.Moment{Floating: true}.In(berlin).IsZero())
}

// Hostile calendars cost little and are read as far as the bounds allow.
func TestParseIsBounded(t *testing.T) {
	_, err := calendar.Parse(strings.Repeat("x", 1<<20+1))
	require.ErrorContains(t, err, "1048576 are read at most")
	for name, body := range map[string]string{
		"nested":     strings.Repeat("BEGIN:VEVENT\n", 50_000),
		"events":     strings.Repeat("BEGIN:VEVENT\nEND:VEVENT\n", 20_000),
		"folded":     "SUMMARY:" + strings.Repeat("x\n ", 200_000),
		"parameters": "ATTENDEE" + strings.Repeat(";A=1", 200_000) + ":x",
		"values":     "ATTENDEE;A=" + strings.Repeat("1,", 200_000) + ":x",
		"dates":      "RDATE:" + strings.Repeat("20260105,", 100_000),
		"zones":      strings.Repeat("BEGIN:VTIMEZONE\nTZID:x\nEND:VTIMEZONE\n", 20_000),
		"end":        strings.Repeat("END:VEVENT\n", 80_000),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := calendar.Parse("BEGIN:VCALENDAR\nBEGIN:VEVENT\n" + body)
			require.NoError(t, err)
			require.LessOrEqual(t, len(c.Events), 1000)
			for _, e := range c.Events {
				require.LessOrEqual(t, len(e.Summary)+len(e.Attendees)+len(e.Added), 33<<10)
			}
		})
	}
}

// The library takes a copy of the line for each parameter.
// A calendar names so many zones at most; the times in further ones are floating.
func TestZonesAreBounded(t *testing.T) {
	parse := func(before int) calendar.Moment {
		var out strings.Builder
		out.WriteString("BEGIN:VCALENDAR\nBEGIN:VEVENT\n")
		for i := range before {
			fmt.Fprintf(&out, "DTSTART;TZID=Nowhere/Z%d:20260301T120000\n", i)
		}
		out.WriteString("DTSTART;TZID=Europe/Berlin:20260301T120000\nEND:VEVENT\nEND:VCALENDAR\n")
		c, err := calendar.Parse(out.String())
		require.NoError(t, err)
		return c.Events[0].Start
	}
	require.False(t, parse(99).Floating)
	require.True(t, parse(100).Floating)
}

func TestParametersAreBounded(t *testing.T) {
	for n, want := range map[int]int{50: 1, 150: 0} {
		c, err := calendar.Parse("BEGIN:VCALENDAR\nBEGIN:VEVENT\nATTENDEE" + strings.Repeat(";X=1", n) +
			":mailto:a@example.com\n")
		require.NoError(t, err)
		require.Len(t, c.Events[0].Attendees, want)
	}
}

// Whatever the text is, reading it ends, and what is one line is one.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.ics")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := calendar.Parse(text)
		if err != nil {
			return
		}
		_, err = json.Marshal(c)
		require.NoError(t, err)
		for _, e := range c.Events {
			require.NotContains(t, e.Summary+e.UID+e.Location+e.Organizer.Email+e.Conference, "\n")
			require.False(t, !e.Start.IsZero() && e.End.IsZero())
			for _, a := range e.Attendees {
				require.NotEmpty(t, a.Participation)
				require.NotContains(t, a.Email+a.Name+a.Participation, "\n")
			}
		}
	})
}
