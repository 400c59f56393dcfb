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

// What is looked for is not given up soon either, whatever the job has waited for before.
func TestLooksLast(t *testing.T) {
	const first = 5 * time.Second
	var lasts, last time.Duration
	for n := range 600 {
		wait := Look(first, lasts)
		require.GreaterOrEqual(t, wait, last)
		require.LessOrEqual(t, wait, max(first, lasts/16), "what Gmail has again is found soon")
		if n == 0 {
			require.Equal(t, first, wait)
		}
		lasts, last = lasts+wait, wait
	}
	require.Greater(t, lasts, 365*24*time.Hour)
	require.Equal(t, 24*time.Hour, last)
	require.Equal(t, first, Look(first, -time.Minute), "the attempt is not over")
}

// Who waits for its turn notices within a quarter of an hour that it may go on, for a week, and lasts much longer.
func TestTurnLasts(t *testing.T) {
	var lasts, last time.Duration
	for n := range 1000 {
		wait := Turn(n)
		require.GreaterOrEqual(t, wait, last)
		if lasts < 7*24*time.Hour {
			require.LessOrEqual(t, wait, 15*time.Minute)
		}
		lasts, last = lasts+wait, wait
	}
	require.Greater(t, lasts, 180*24*time.Hour)
}
