package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An answer that took long says less than what is known, unless that has turned out to be wrong.
func TestServerClockKeepsTheMoreExact(t *testing.T) {
	now := time.Now()
	c := &serverClock{machine: func() time.Time { return now }}
	server := now.Add(-24 * time.Hour).Round(0)
	answer := func(after, took, off time.Duration) {
		now = now.Add(after)
		server = server.Add(after)
		c.set(server.Add(off), now.Add(-took/2), now.Add(took/2))
	}
	off := func() time.Duration { return c.now().Sub(server) }

	require.True(t, c.stale(), "nothing is known yet")
	answer(0, 2*time.Millisecond, time.Millisecond)
	require.Equal(t, time.Millisecond, off())
	require.False(t, c.stale())
	answer(time.Minute, time.Second, 400*time.Millisecond)
	require.Equal(t, time.Millisecond, off(), "the answer may be wrong by half a second")
	require.False(t, c.stale(), "and yet it was asked")
	answer(time.Minute, time.Millisecond, 0)
	require.Zero(t, off(), "it is more exact now")
	answer(time.Minute, time.Second, time.Hour)
	require.Equal(t, time.Hour, off(), "the server's clock was set, or this machine has slept")

	now = now.Add(resetAfter - 1)
	require.False(t, c.stale())
	now = now.Add(1)
	require.True(t, c.stale())
}

// A clock that may be wrong by much is asked for again soon, and ever more rarely where that is of no use.
func TestServerClockIsAskedForAgainWhileInDoubt(t *testing.T) {
	now := time.Now()
	c := &serverClock{machine: func() time.Time { return now }}
	goodFor := func() time.Duration {
		began := now
		for !c.stale() {
			now = now.Add(500 * time.Millisecond)
		}
		return now.Sub(began)
	}
	answer := func(took time.Duration) { c.set(now, now.Add(-took/2), now.Add(took/2)) }
	for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
		answer(100 * time.Millisecond)
		require.InDelta(t, seconds, goodFor().Seconds(), 0)
	}
	answer(time.Millisecond)
	require.Equal(t, resetAfter, goodFor())
	answer(100 * time.Millisecond)
	require.Equal(t, resetAfter, goodFor(), "what is known is exact")
}
