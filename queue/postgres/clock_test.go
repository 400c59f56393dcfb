package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

const tick queue.Type[int] = "tick"

// machineOff is a queue on the shared database, of a machine whose clock is wrong by so much.
func machineOff(t *testing.T, dsn string, off time.Duration) *queue.Queue {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, postgres.SetMachine(t.Context(), db, func() time.Time { return time.Now().Add(off) }))
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// offs are a clock a day ahead, a day behind, and right.
var offs = map[string]time.Duration{"ahead": 24 * time.Hour, "behind": -24 * time.Hour, "right": 0}

func TestTheServersClockDecidesWhatIsDue(t *testing.T) {
	for name, off := range offs {
		t.Run(name, func(t *testing.T) {
			dsn := dbtest.MigratedDSN(t)
			right, wrong := machineOff(t, dsn, 0), machineOff(t, dsn, off)
			due, err := right.Enqueue(t.Context(), tick.New(1, nil))
			require.NoError(t, err)
			_, err = right.EnqueueIn(t.Context(), tick.New(2, nil), time.Hour)
			require.NoError(t, err)
			later, err := wrong.EnqueueIn(t.Context(), tick.New(3, nil), time.Hour)
			require.NoError(t, err)
			inAnHour := time.Now().Add(time.Hour)

			jobs, err := wrong.Claim(t.Context(), "wrong", []string{"tick"}, 10)
			require.NoError(t, err)
			require.Len(t, jobs, 1, "what is due in an hour is not")
			require.Equal(t, due.ID, jobs[0].Job.ID)
			require.WithinDuration(t, time.Now(), jobs[0].Job.StartedAt, 10*time.Second)
			stored, err := right.Job(t.Context(), later.ID)
			require.NoError(t, err)
			require.WithinDuration(t, inAnHour, stored.NotBefore, 10*time.Second)

			require.NoError(t, jobs[0].Fail(t.Context(), queue.RetryAfter(errors.New("broken"), time.Hour)))
			retried, err := right.Job(t.Context(), due.ID)
			require.NoError(t, err)
			require.WithinDuration(t, inAnHour, retried.NotBefore, 10*time.Second,
				"an hour from now, by the server's clock")
			require.WithinDuration(t, time.Now(), retried.UpdatedAt, 10*time.Second)
		})
	}
}

// A first answer that took long, as behind a pooler that connects to the server for it, is not what a machine goes by.
func TestAFirstAnswerThatTookLongIsAskedForAgain(t *testing.T) {
	db := openQueue(t)
	for _, first := range []time.Duration{time.Millisecond, time.Second} {
		calls, now := 0, time.Now()
		doubt, err := postgres.StartClock(t.Context(), db, func() time.Time {
			calls++
			switch calls {
			case 2:
				now = now.Add(first)
			case 4:
				now = now.Add(2 * time.Millisecond)
			}
			return now
		})
		require.NoError(t, err)
		if first == time.Second {
			require.Less(t, doubt, 2*time.Millisecond)
			require.Equal(t, 4, calls)
		} else {
			require.Equal(t, first/2, doubt)
			require.Equal(t, 2, calls, "once is enough")
		}
	}
}

// Each instant fires once and on time, whichever machine looks first.
func TestTheServersClockDecidesWhenSchedulesFire(t *testing.T) {
	for name, off := range offs {
		t.Run(name, func(t *testing.T) {
			dsn := dbtest.MigratedDSN(t)
			right, wrong := machineOff(t, dsn, 0), machineOff(t, dsn, off)
			began := time.Now()
			require.NoError(t, wrong.SetSchedule(t.Context(), queue.Schedule{
				Name: "tick", Cron: "@every 1s", CatchUp: queue.CatchUpAll, Job: tick.New(1, nil),
			}))
			fired := make(chan time.Time, 1000)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 2)
			for _, q := range []*queue.Queue{wrong, right} {
				d, err := queue.NewDispatcher(q, nil)
				require.NoError(t, err)
				queue.Handle(d, tick, func(_ context.Context, w *queue.Work[int]) error {
					firing, _ := w.Job.Firing()
					fired <- firing.At
					return nil
				})
				go func() { ended <- d.Run(ctx) }()
			}
			seen := make(map[time.Time]bool)
			for range 2 {
				at := <-fired
				require.False(t, seen[at], "each instant once")
				seen[at] = true
				require.WithinDuration(t, time.Now(), at, 10*time.Second)
			}
			stop()
			require.NoError(t, errors.Join(<-ended, <-ended))
			schedules, err := right.Schedules(t.Context())
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), schedules[0].NextAt, 10*time.Second, "it goes on firing")
			jobs, err := right.Jobs(t.Context(), queue.Filter{Limit: 1000})
			require.NoError(t, err)
			require.LessOrEqual(t, len(jobs), int(time.Since(began)/time.Second)+1)
		})
	}
}
