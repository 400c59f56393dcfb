package postroom_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestSnoozeUntil(t *testing.T) {
	in := func(d time.Duration) string { return decidedAt.Add(d).Format(time.RFC3339) }
	for name, tc := range map[string]struct {
		parameters postroom.Parameters
		want       time.Duration
		fault      string
	}{
		"until":            {postroom.Parameters{"until": in(time.Hour)}, time.Hour, ""},
		"the longest":      {postroom.Parameters{"until": in(365 * 24 * time.Hour)}, 365 * 24 * time.Hour, ""},
		"amount and units": {postroom.Parameters{"amount": 3.0, "units": "days"}, 72 * time.Hour, ""},
		"a year":           {postroom.Parameters{"amount": 365, "units": "days"}, 365 * 24 * time.Hour, ""},
		"nothing":          {nil, 0, `one of "when", "until"`},
		"both":             {postroom.Parameters{"until": in(time.Hour), "amount": 1, "units": "days"}, 0, `one of "when", "until"`},
		"no units":         {postroom.Parameters{"amount": 1}, 0, `"amount" and "units" together`},
		"no amount":        {postroom.Parameters{"units": "days"}, 0, `"amount" and "units" together`},
		"now":              {postroom.Parameters{"until": in(0)}, 0, "not in the future"},
		"over":             {postroom.Parameters{"until": in(-time.Hour)}, 0, "not in the future"},
		"too late":         {postroom.Parameters{"until": in(365*24*time.Hour + time.Second)}, 0, "more than 365 days"},
		"too many":         {postroom.Parameters{"amount": 366, "units": "days"}, 0, "within 1 minute and 365 days"},
		"none":             {postroom.Parameters{"amount": 0, "units": "days"}, 0, "within 1"},
		"weeks":            {postroom.Parameters{"amount": 1, "units": "weeks"}, 0, "one of minutes, hours, days"},
		"no time":          {postroom.Parameters{"until": "tomorrow"}, 0, "a time such as"},
	} {
		t.Run(name, func(t *testing.T) {
			var builtin *postroom.Kinds
			err := builtin.Check(postroom.Snooze, tc.parameters, decidedAt)
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				return
			}
			require.NoError(t, err)
			until, err := postroom.SnoozeUntil(tc.parameters, decidedAt)
			require.NoError(t, err)
			require.Equal(t, decidedAt.Add(tc.want), until)
		})
	}
	var builtin *postroom.Kinds
	over := postroom.Parameters{"until": in(-time.Hour)}
	require.NoError(t, builtin.Check(postroom.Snooze, over, time.Time{}),
		"a rule does not become wrong by the passing of time")
}

// Days keep the time of day when the clocks change; hours do not.
func TestSnoozeByDaysKeepsTheTimeOfDay(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	evening := time.Date(2026, 3, 28, 8, 0, 0, 0, berlin) // the night before the clocks change
	until, err := postroom.SnoozeUntil(postroom.Parameters{"amount": 2, "units": "days"}, evening)
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 3, 30, 8, 0, 0, 0, berlin), until)
	until, err = postroom.SnoozeUntil(postroom.Parameters{"amount": 48, "units": "hours"}, evening)
	require.NoError(t, err)
	require.Equal(t, 48*time.Hour, until.Sub(evening))
}

// A Thursday evening in the week before the clocks go forward.
func TestSnoozeByWords(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	thursday := time.Date(2026, 3, 26, 19, 20, 30, 0, berlin)
	for words, want := range map[string]string{
		"tomorrow": "2026-03-27T08:00:00+01:00", "Tomorrow  EVENING": "2026-03-27T18:00:00+01:00",
		"tomorrow at noon": "2026-03-27T12:00:00+01:00", "tomorrow 9:30": "2026-03-27T09:30:00+01:00",
		"friday": "2026-03-27T08:00:00+01:00", "thursday 23:59": "2026-04-02T23:59:00+02:00",
		"monday morning": "2026-03-30T08:00:00+02:00", "sunday at 02:30": "2026-03-29T03:30:00+02:00",
		"2026-05-01": "2026-05-01T08:00:00+02:00", "2026-03-26 19:21": "2026-03-26T19:21:00+01:00",
		"in 3 hours": "2026-03-26T22:20:30+01:00", "in 72 hours": "2026-03-29T20:20:30+02:00",
		"in 3 days": "2026-03-29T19:20:30+02:00", "in 1 week": "2026-04-02T19:20:30+02:00",
	} {
		until, err := postroom.SnoozeUntil(postroom.Parameters{"when": words}, thursday)
		require.NoError(t, err, words)
		require.Equal(t, want, until.Format(time.RFC3339), words)
	}
	for words, fault := range map[string]string{
		"morgen":              `"when" is not a time: "morgen"; write "tomorrow", a weekday or a date`,
		"tomorrow 24:00":      "is not a time",
		"tomorrow midnight":   "is not a time",
		"next monday":         "is not a time",
		"2026-02-30":          "is not a time",
		"in three days":       "is not a time",
		"in 5 minutes":        "is not a time",
		"2026-03-26":          "2026-03-26T08:00:00+01:00 is not in the future",
		"2026-03-26 19:20":    "is not in the future",
		"2027-04-01":          "more than 365 days ahead",
		"in 0 days":           "within 1 minute and 365 days",
		"in 53 weeks":         "within 1 minute and 365 days",
		"in 99999 weeks":      "is not a time",
		"tomorrow; archive":   "is not a time",
		"tomorrow\nmorning x": "is not a time",
	} {
		_, err := postroom.SnoozeUntil(postroom.Parameters{"when": words}, thursday)
		require.ErrorContains(t, err, fault, words)
	}
	for _, more := range []postroom.Parameters{{"until": "2026-05-01T00:00:00Z"}, {"amount": 1, "units": "days"}} {
		more["when"] = "tomorrow"
		_, err := postroom.SnoozeUntil(more, thursday)
		require.ErrorContains(t, err, "it needs one of")
	}
	var builtin *postroom.Kinds
	require.NoError(t, builtin.Check(postroom.Snooze, postroom.Parameters{"when": "2020-01-01"}, time.Time{}),
		"a rule does not become wrong by the passing of time")
	require.Error(t, builtin.Check(postroom.Snooze, postroom.Parameters{"when": "soon"}, time.Time{}))
}
