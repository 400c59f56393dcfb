package attempts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is held does not run out: the thousand interruptions of the queue's default budget last more than a year.
func TestHeldLasts(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var lasts, last time.Duration
	for n := range 1000 {
		wait := Held(n, time.Time{}, now)
		require.GreaterOrEqual(t, wait, last)
		if lasts < 24*time.Hour {
			require.LessOrEqual(t, wait, 15*time.Minute, "on the first day it is soon noticed that it may go on")
		}
		lasts, last = lasts+wait, wait
	}
	require.Greater(t, lasts, 365*24*time.Hour)
	require.Equal(t, 3*time.Hour, Held(900, now.Add(3*time.Hour), now), "when it is known")
	require.Equal(t, time.Second, Held(0, now, now))
}

// Who waits behind others looks again soon, and lasts as long as what is held.
func TestBehindLasts(t *testing.T) {
	var lasts, last time.Duration
	for n := range 1000 {
		wait := Behind(n)
		require.GreaterOrEqual(t, wait, last)
		if n < 8 {
			require.Less(t, wait, time.Second)
		}
		lasts, last = lasts+wait, wait
	}
	require.Greater(t, lasts, 365*24*time.Hour)
}
