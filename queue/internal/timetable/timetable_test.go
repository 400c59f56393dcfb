package timetable

import (
	"testing"
	"time"
	_ "time/tzdata" // machines differ

	"github.com/stretchr/testify/require"
)

func timetableOf(t *testing.T, expression, zone string) Timetable {
	t.Helper()
	table, err := New(expression, zone)
	require.NoError(t, err)
	return table
}

// firings are those of a time that begins and ends as the zone's clocks show it.
func firings(t *testing.T, expression, zone, from, to string) []string {
	t.Helper()
	location, err := time.LoadLocation(zone)
	require.NoError(t, err)
	begin, err := time.ParseInLocation(time.DateTime, from, location)
	require.NoError(t, err)
	end, err := time.ParseInLocation(time.DateTime, to, location)
	require.NoError(t, err)
	table := timetableOf(t, expression, zone)
	var all []string
	for at := table.Next(begin); at.Before(end); at = table.Next(at) {
		require.Equal(t, time.UTC, at.Location())
		all = append(all, at.In(location).Format("02 15:04 MST"))
	}
	return all
}

func TestTimetable(t *testing.T) {
	for name, c := range map[string]struct {
		expression, zone, from, to string
		want                       []string
	}{
		"weekly": {"0 7 * * MON", "Europe/Berlin", "2026-11-20 00:00:00", "2026-12-01 00:00:00",
			[]string{"23 07:00 CET", "30 07:00 CET"}},
		"the zone's day, not UTC's": {
			"@daily", "America/New_York", "2026-01-01 12:00:00", "2026-01-03 12:00:00",
			[]string{"02 00:00 EST", "03 00:00 EST"},
		},
		"day of month or of week": {"0 0 13 * FRI", "UTC", "2026-11-01 00:00:00", "2026-11-21 00:00:00",
			[]string{"06 00:00 UTC", "13 00:00 UTC", "20 00:00 UTC"}},
		"the 31st": {"0 0 31 * *", "UTC", "2026-02-01 00:00:00", "2026-06-01 00:00:00",
			[]string{"31 00:00 UTC", "31 00:00 UTC"}},
		"a leap day": {"0 0 29 2 *", "UTC", "2026-03-01 00:00:00", "2032-01-01 00:00:00",
			[]string{"29 00:00 UTC"}},

		"daily, its time skipped in Berlin": {
			"30 2 * * *", "Europe/Berlin", "2026-03-28 00:00:00", "2026-03-31 00:00:00",
			[]string{"28 02:30 CET", "29 03:00 CEST", "30 02:30 CEST"},
		},
		"daily, its time shown twice in Berlin": {
			"30 2 * * *", "Europe/Berlin", "2026-10-24 00:00:00", "2026-10-27 00:00:00",
			[]string{"24 02:30 CEST", "25 02:30 CEST", "26 02:30 CET"},
		},
		"daily, its time skipped in New York": {
			"30 2 * * *", "America/New_York", "2026-03-07 00:00:00", "2026-03-10 00:00:00",
			[]string{"07 02:30 EST", "08 03:00 EDT", "09 02:30 EDT"},
		},
		"daily, its time shown twice in New York": {
			"30 1 * * *", "America/New_York", "2026-10-31 00:00:00", "2026-11-03 00:00:00",
			[]string{"31 01:30 EDT", "01 01:30 EDT", "02 01:30 EST"},
		},
		"several skipped at once are one": {
			"*/20 2 * * *", "Europe/Berlin", "2026-03-29 00:00:00", "2026-03-30 02:30:00",
			[]string{"29 03:00 CEST", "30 02:00 CEST", "30 02:20 CEST"},
		},
		"skipped onto another": {"30 2,3 * * *", "Europe/Berlin", "2026-03-29 00:00:00", "2026-03-30 00:00:00",
			[]string{"29 03:00 CEST", "29 03:30 CEST"}},
		"hourly through a skipped hour": {
			"@hourly", "Europe/Berlin", "2026-03-29 00:30:00", "2026-03-29 04:30:00",
			[]string{"29 01:00 CET", "29 03:00 CEST", "29 04:00 CEST"},
		},
		"half-hourly through an hour shown twice": {
			"*/30 * * * *", "Europe/Berlin", "2026-10-25 01:45:00", "2026-10-25 03:15:00",
			[]string{"25 02:00 CEST", "25 02:30 CEST", "25 02:00 CET", "25 02:30 CET", "25 03:00 CET"},
		},
		"every two hours through a skipped one": {
			"0 */2 * * *", "America/New_York", "2026-03-08 00:30:00", "2026-03-08 05:00:00",
			[]string{"08 03:00 EDT", "08 04:00 EDT"},
		},
		"a midnight that does not exist": {
			"@daily", "America/Sao_Paulo", "2018-11-03 12:00:00", "2018-11-05 12:00:00",
			[]string{"04 01:00 -02", "05 00:00 -02"},
		},
		"hourly on a day whose midnight does not exist": {
			"0 * 4 11 *", "America/Sao_Paulo", "2018-11-03 12:00:00", "2018-11-04 03:30:00",
			[]string{"04 01:00 -02", "04 02:00 -02", "04 03:00 -02"},
		},
		"half an hour of change": {
			"15 2 * * *", "Australia/Lord_Howe", "2026-10-03 00:00:00", "2026-10-05 12:00:00",
			[]string{"03 02:15 +1030", "04 02:30 +11", "05 02:15 +11"},
		},
		"a day that does not exist": {
			"0 12 * * *", "Pacific/Apia", "2011-12-29 00:00:00", "2012-01-01 00:00:00",
			[]string{"29 12:00 -10", "31 00:00 +14", "31 12:00 +14"},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, firings(t, c.expression, c.zone, c.from, c.to)) })
	}
}

func TestTimetableOfSeconds(t *testing.T) {
	table := timetableOf(t, "*/20 30 9 * * *", "UTC")
	at := time.Date(2026, 1, 1, 9, 30, 19, 999, time.UTC)
	require.Equal(t, time.Date(2026, 1, 1, 9, 30, 20, 0, time.UTC), table.Next(at))
}

func TestTimetableOfAnInterval(t *testing.T) {
	table := timetableOf(t, "@every 90m", "UTC")
	first := table.Next(time.Date(2026, 1, 1, 0, 0, 0, 999, time.UTC))
	require.Equal(t, time.Date(2026, 1, 1, 1, 30, 0, 0, time.UTC), first)
	require.Equal(t, []time.Time{first}, table.Due(first, first, 10))
	require.Equal(t, []time.Time{first, first.Add(90 * time.Minute)}, table.Due(first, first.Add(3*time.Hour-1), 10))
	require.Equal(t, []time.Time{first.Add(300 * 90 * time.Minute)}, table.Due(first, first.Add(300*90*time.Minute+1),
		1))
}

// Looking back finds what stepping forth does, whatever the distance.
func TestTimetableLooksBack(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, expression := range []string{"* * * * *", "30 2 * * *", "0 0 1 * *", "*/7 3-5 * * SUN", "0 12 29 3 *"} {
		for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York"} {
			table := timetableOf(t, expression, zone)
			first := table.Next(first)
			var all []time.Time
			for at := first; len(all) < 3000 && at.Before(first.AddDate(2, 0, 0)); at = table.Next(at) {
				all = append(all, at)
			}
			for _, n := range []int{1, 2, len(all) / 2, len(all)} {
				now := all[max(1, n)-1]
				for _, limit := range []int{1, 5, 10_000} {
					want := all[:max(1, n)]
					want = want[max(0, len(want)-limit):]
					require.Equal(t, want, table.Due(first, now.Add(time.Second/2), limit), "%s in %s, %d of %d",
						expression, zone, limit, n)
				}
			}
		}
	}
}

func TestTimetableRefuses(t *testing.T) {
	for name, c := range map[string]struct{ expression, zone, err string }{
		"nothing":          {"", "UTC", `Cron is "": `},
		"too few fields":   {"0 7 * *", "UTC", `Cron is "0 7 * *": expected 5 to 6 fields, found 4`},
		"an hour too late": {"0 24 * * *", "UTC", "above maximum (23)"},
		"an unknown day":   {"0 7 * * MOO", "UTC", "MOO"},
		"a letter": {"0 0 L * *", "UTC",
			"the fields are minute, hour, day of month, month, day of week, and may begin with one of seconds"},
		"an empty field":        {", * * * * *", "UTC", "names nothing"},
		"an unknown descriptor": {"@reboot", "UTC", "there are @hourly, @daily, "},
		"a zone in the cron":    {"TZ=Europe/Berlin 0 7 * * *", "UTC", "goes into Zone"},
		"a zone and no more":    {"CRON_TZ=Europe/Berlin", "UTC", "goes into Zone"},
		"less than a second":    {"@every 500ms", "UTC", "at least 1s"},
		"parts of a second":     {"@every 1500ms", "UTC", "whole seconds"},
		"a negative interval":   {"@every -1h", "UTC", "at least 1s"},
		"no interval":           {"@every day", "UTC", "day"},
		"an unknown zone":       {"@daily", "Europe/Atlantis", `Zone is "Europe/Atlantis"`},
		"the machine's zone":    {"@daily", "Local", "name the zone"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.expression, c.zone)
			require.ErrorContains(t, err, c.err)
		})
	}
}
