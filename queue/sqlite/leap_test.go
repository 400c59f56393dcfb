package sqlite_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const tick queue.Type[int] = "tick"

// A clock that is set a day ahead, and soon put right, has made nothing due and expired nothing.
func TestALeapOfTheClockMakesNothingDue(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	began := time.Now().Round(0)
	var mu sync.Mutex
	var set, passed time.Duration
	now := func() (time.Time, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		return began.Add(set + passed), passed
	}
	sqlite.SetMachine(db, now, func() (time.Duration, bool) { return 0, false })
	move := func(by, pass time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		set, passed = set+by, passed+pass
	}
	later, err := q.EnqueueIn(t.Context(), tick.New(1, nil), 2*time.Hour)
	require.NoError(t, err)
	expires, err := q.EnqueueIn(t.Context(), tick.New(2, &queue.Options{ExpiresAt: began.Add(3 * time.Hour)}),
		time.Hour)
	require.NoError(t, err)
	claimed := func() []*queue.Attempt {
		jobs, err := q.Claim(t.Context(), "worker", []string{"tick"}, 10)
		require.NoError(t, err)
		return jobs
	}

	move(24*time.Hour, time.Minute)
	require.Empty(t, claimed())
	soon, err := q.Enqueue(t.Context(), tick.New(3, nil))
	require.NoError(t, err)
	stored, err := q.Job(t.Context(), soon.ID)
	require.NoError(t, err)
	require.WithinDuration(t, began.Add(time.Minute), stored.CreatedAt, time.Second, "by the clock as it was")
	require.Len(t, claimed(), 1)
	move(-24*time.Hour, time.Minute)
	require.Empty(t, claimed())
	stored, err = q.Job(t.Context(), expires.ID)
	require.NoError(t, err)
	require.Equal(t, queue.StateQueued, stored.State)

	move(24*time.Hour, 0)
	require.Empty(t, claimed())
	move(0, 5*time.Minute)
	jobs := claimed()
	require.Len(t, jobs, 1, "a clock that stands is believed")
	require.Equal(t, later.ID, jobs[0].Job.ID)
}
