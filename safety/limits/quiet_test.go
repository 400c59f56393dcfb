package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

// TestQuietHours by the clock on the wall, with the nights on which it leaps.
func TestQuietHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	span := func(s string) QuietSpan {
		q, err := ParseQuietSpan(s)
		require.NoError(t, err)
		return q
	}
	q := Quiet{Zone: berlin, Spans: []QuietSpan{span("22:00-07:00"), span("Sat,Sun 00:00-24:00")}}
	night := Quiet{Zone: berlin, Spans: []QuietSpan{span("02:00-02:30")}}
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, berlin)
		require.NoError(t, err)
		return v
	}
	for _, tc := range []struct {
		q        Quiet
		at, ends string
	}{
		{q, "2026-11-25 12:00", ""}, // a Wednesday
		{q, "2026-11-25 21:59", ""},
		{q, "2026-11-25 22:00", "2026-11-26 07:00"},
		{q, "2026-11-26 06:59", "2026-11-26 07:00"},
		{q, "2026-11-26 07:00", ""},
		{q, "2026-11-27 22:30", "2026-11-30 07:00"}, // Friday night, the weekend, Sunday night
		{q, "2026-10-24 23:00", "2026-10-26 07:00"}, // the clock goes back
		{night, "2026-03-29 01:59", ""},             // and forth: there is no half past two
		{night, "2026-03-29 03:15", "2026-03-29 03:30"},
		{night, "2026-03-28 02:15", "2026-03-28 02:30"},
	} {
		until := tc.q.until(at(tc.at))
		if tc.ends == "" {
			require.Zero(t, until, tc.at)
			continue
		}
		require.True(t, at(tc.ends).Equal(until), "%s: %s", tc.at, until)
	}
	for _, bad := range []string{"", "22-7", "22:00", "22:00-22:00", "24:00-07:00", "Someday 22:00-07:00",
		"Sat Sun 22:00-07:00", "25:00-07:00", "2:00-7:00"} {
		_, err := ParseQuietSpan(bad)
		require.ErrorContains(t, err, "safety: quiet hours ", bad)
	}
	for want, q := range map[string]Quiet{
		"cover the whole week":             {Spans: []QuietSpan{span("00:00-13:00"), span("12:00-24:00")}},
		"Policy.Quiet.Spans[0] has the":    {Spans: []QuietSpan{{To: time.Second}}},
		"Policy.Quiet.Spans[0] goes from":  {Spans: []QuietSpan{{}}},
		"has the day 7, which is no weekd": {Spans: []QuietSpan{{To: time.Hour, Days: []time.Weekday{7}}}},
		`Policy.Quiet.May[0] is "explode"`: {May: []postroom.ActionType{"explode"}},
	} {
		require.ErrorContains(t, q.Validate(nil), want)
	}
}
