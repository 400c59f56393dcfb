package calendar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime/calendar"
)

// observance is a STANDARD or DAYLIGHT of a described zone.
func observance(kind, start, from, to, rule string) string {
	return "BEGIN:" + kind + "\nDTSTART:" + start + "\nTZOFFSETFROM:" + from + "\nTZOFFSETTO:" + to + "\n" + rule +
		"END:" + kind + "\n"
}

// starts reads an event that begins at the times of day, in a zone that the calendar describes.
func starts(t *testing.T, zone string, walls ...time.Time) []calendar.Moment {
	t.Helper()
	var out strings.Builder
	out.WriteString("BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:Office\n" + zone + "END:VTIMEZONE\n")
	for _, wall := range walls {
		out.WriteString("BEGIN:VEVENT\nDTSTART;TZID=Office:" + wall.Format("20060102T150405") + "\nEND:VEVENT\n")
	}
	c, err := calendar.Parse(out.String() + "END:VCALENDAR\n")
	require.NoError(t, err)
	var found []calendar.Moment
	for _, e := range c.Events {
		found = append(found, e.Start)
	}
	return found
}

// A zone that is described as it is gives the times that the database gives, on every day of years.
func TestDescribedZonesAreRight(t *testing.T) {
	for name, zone := range map[string]string{
		"Europe/Berlin": observance("DAYLIGHT", "19810329T020000", "+0100", "+0200",
			"RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=3;BYDAY=-1SU\n") +
			observance("STANDARD", "19961027T030000", "+0200", "+0100", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\n"),
		"America/New_York": observance("STANDARD", "20071104T020000", "-0400", "-0500",
			"RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\n") +
			observance("DAYLIGHT", "20070311T020000", "-0500", "-0400", "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=+2SU\n"),
		"America/Sao_Paulo": observance("STANDARD", "20160221T000000", "-0200", "-0300",
			"RRULE:FREQ=YEARLY;BYMONTH=2;BYDAY=3SU;UNTIL=20190217T020000Z\n") +
			observance("DAYLIGHT", "20081019T000000", "-0300", "-0200",
				"RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=3SU;UNTIL=20171015T030000Z\n") +
			observance("DAYLIGHT", "20181104T000000", "-0300", "-0200", ""),
		"Asia/Kolkata":   observance("STANDARD", "19700101T000000", "+0530", "+0530", ""),
		"Asia/Kathmandu": "X-LIC-LOCATION:Asia/Kathmandu\n",
	} {
		t.Run(name, func(t *testing.T) {
			location, err := time.LoadLocation(name)
			require.NoError(t, err)
			var walls []time.Time
			begin, days := time.Date(2022, 3, 1, 0, 0, 0, 0, time.UTC), 5*365
			if name == "America/Sao_Paulo" {
				begin, days = time.Date(2016, 3, 1, 0, 0, 0, 0, time.UTC), 5*365
			}
			for day := range days {
				for _, hour := range []int{1, 4} {
					walls = append(walls, begin.AddDate(0, 0, day).Add(time.Duration(hour)*time.Hour))
				}
			}
			for len(walls) > 0 {
				some := walls[:min(1000, len(walls))]
				for i, got := range starts(t, zone, some...) {
					w := some[i]
					want := time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), 0, 0, 0, location)
					require.Equal(t, want.UTC(), got.Time.UTC(), "%s", w)
					require.False(t, got.Floating)
				}
				walls = walls[len(some):]
			}
		})
	}
}

// What a description says that is not usual, and what of it cannot be read.
func TestDescribedZones(t *testing.T) {
	wall := time.Date(2026, 7, 6, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct{ zone, want string }{
		"a day of the month":     {observance("DAYLIGHT", "20200401T000000", "+0100", "+0200", "RRULE:FREQ=YEARLY\n") + observance("STANDARD", "20201001T000000", "+0200", "+0100", "RRULE:FREQ=YEARLY\n"), "+02:00"},
		"before the first onset": {observance("STANDARD", "20300101T000000", "+0300", "+0400", "") + observance("STANDARD", "20290101T000000", "+0200", "+0300", ""), "+02:00"},
		"the same, turned":       {observance("STANDARD", "20290101T000000", "+0200", "+0300", "") + observance("STANDARD", "20300101T000000", "+0300", "+0400", ""), "+02:00"},
		"until that summer":      {observance("DAYLIGHT", "20200329T020000", "+0100", "+0200", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3;UNTIL=20260329T010000Z\n") + observance("STANDARD", "20201025T030000", "+0200", "+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\n"), "+02:00"},
		"until the one before":   {observance("DAYLIGHT", "20200329T020000", "+0100", "+0200", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3;UNTIL=20250330T010000Z\n") + observance("STANDARD", "20201025T030000", "+0200", "+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\n"), "+01:00"},
		"every second year":      {observance("STANDARD", "20000101T000000", "+0100", "+0200", "") + observance("DAYLIGHT", "20200601T000000", "+0200", "+0300", "RRULE:FREQ=YEARLY;INTERVAL=2\n") + observance("STANDARD", "20250601T000000", "+0200", "+0100", ""), "+01:00"},
		"every month":            {observance("DAYLIGHT", "20200601T000000", "+0100", "+0200", "RRULE:FREQ=MONTHLY\n") + observance("STANDARD", "20250601T000000", "+0200", "+0100", ""), "+01:00"},
		"no such month":          {observance("DAYLIGHT", "20200601T000000", "+0100", "+0200", "RRULE:FREQ=YEARLY;BYMONTH=13\n") + observance("STANDARD", "20210501T000000", "+0200", "+0100", "RRULE:FREQ=YEARLY;BYMONTH=0\n"), "+02:00"},
		"with seconds":           {observance("STANDARD", "20200101T000000", "+0053", "-00:53:28", ""), "-00:53"},
		"an offset without sign": {observance("STANDARD", "20200101T000000", "0100", "+0100", ""), ""},
		"an offset too large":    {observance("STANDARD", "20200101T000000", "+0100", "+2400", ""), ""},
		"too many minutes":       {observance("STANDARD", "20200101T000000", "+0100", "+0160", ""), ""},
		"too many seconds":       {observance("STANDARD", "20200101T000000", "+0100", "+010060", ""), ""},
		"the largest":            {observance("STANDARD", "20200101T000000", "+0100", "+235959", ""), "+23:59"},
		"no onset":               {observance("STANDARD", "", "+0100", "+0100", ""), ""},
		"another component":      {observance("OTHER", "20200101T000000", "+0100", "+0100", ""), ""},
		"nothing":                {"", ""},
		"a place that is none":   {"X-LIC-LOCATION:Nowhere/Land\n" + observance("STANDARD", "20200101T000000", "+0100", "+0500", ""), "+05:00"},
	} {
		t.Run(name, func(t *testing.T) {
			got := starts(t, test.zone, wall)[0]
			require.Equal(t, test.want == "", got.Floating)
			if test.want != "" {
				require.Equal(t, test.want, got.Time.Format("-07:00"))
				require.Equal(t, "2026-07-06T12:00:00", got.Time.Format("2006-01-02T15:04:05"))
			}
		})
	}
}

func TestZoneNames(t *testing.T) {
	for id, floating := range map[string]bool{
		"Europe/Berlin": false, `"Europe/Berlin"`: false, "/x.example/2026_1/America/Argentina/Ushuaia": false, "W. Europe Standard Time": false,
		"UTC": false, "Local": true, "../../etc/passwd": true, "Nowhere": true, "A/" + strings.Repeat("b", 70): true,
	} {
		c, err := calendar.Parse("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=" + id +
			":20260301T120000\nEND:VEVENT\nEND:VCALENDAR\n")
		require.NoError(t, err)
		require.Equal(t, floating, c.Events[0].Start.Floating, id)
	}
}
