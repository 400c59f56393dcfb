package view

import (
	"testing"
	"time"
	_ "time/tzdata" // machines differ

	"github.com/stretchr/testify/require"
)

// The steps of a window follow each other without a gap, whatever the clocks of the reader do.
func TestTheStepsOfAWindowAscend(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for _, w := range Windows {
			for at := time.Date(2026, 1, 1, 0, 59, 59, 0, zone); at.Year() == 2026; at = at.Add(3*time.Hour + 17*time.Minute) {
				instants := w.instants(at)
				require.Len(t, instants, w.steps+1)
				require.False(t, at.Before(instants[w.steps-1]), "%s in %s, %v", w.Name, name, at)
				require.True(t, at.Before(instants[w.steps]), "%s in %s, %v", w.Name, name, at)
				for i := range w.steps {
					require.True(t, instants[i].Before(instants[i+1]), "%s in %s, %v", w.Name, name, at)
				}
			}
		}
	}
}

func TestSharesAreTheLargest(t *testing.T) {
	require.Equal(t, []Share{{"b", 3}, {"a", 1}, {"c", 1}}, shares(map[string]int{"a": 1, "b": 3, "c": 1}))
	many := map[string]int{"x": 5}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		many[name] = 1
	}
	list := shares(many)
	require.Len(t, list, maxShares)
	require.Equal(t, Share{"others", 2}, list[maxShares-1])
}

func TestOnlyAllIsAHundredPercent(t *testing.T) {
	for of, want := range map[TopSender]int{{}: 0, {Messages: 3}: 0, {Messages: 3, Read: 2}: 66,
		{Messages: 1000, Read: 999}: 99,
		{Messages: 2, Read: 2}:      100} {
		require.Equal(t, want, of.Percent(), of)
	}
}

// What a backtest names is said as everywhere else.
func TestDoes(t *testing.T) {
	require.Equal(t, "label Travel, move to Old news, leave as it is, snooze until tomorrow, answer",
		Does([]string{"apply_label Travel", "move Old news", "none", "snooze until tomorrow", "auto_reply"}))
	require.Empty(t, Does(nil))
}
