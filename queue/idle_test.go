package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// untilIdle runs pings until idle, within eight days, and returns what was logged, a line each, without its time.
func untilIdle(t *testing.T, q *queue.Queue) (lines []string) {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Minute, Lease: time.Hour,
		Grace: time.Hour, Logger: log})
	require.NoError(t, err)
	queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
	ctx, cancel := context.WithTimeout(t.Context(), 8*24*time.Hour)
	defer cancel()
	require.NoError(t, d.RunUntilIdle(ctx))
	require.NoError(t, ctx.Err(), "it has not become idle")
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
}

func TestRunUntilIdleReturnsWhenOnlyPausedJobsAreLeft(t *testing.T) {
	for name, pause := range map[string]struct {
		targets []queue.Target
		left    int
	}{
		"their type":           {[]queue.Target{queue.ForType(ping)}, 3},
		"all types":            {[]queue.Target{queue.ForAll()}, 3},
		"the keys of some":     {[]queue.Target{queue.ForKey("a:1"), queue.ForKey("a:2")}, 2},
		"a prefix of keys":     {[]queue.Target{queue.ForKeyPrefix("a:")}, 2},
		"a prefix and its key": {[]queue.Target{queue.ForKeyPrefix("a:"), queue.ForKey("a:1")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				for _, key := range []string{"a:1", "a:2", ""} {
					enqueue(t, q, &queue.Options{LimitKey: key})
				}
				for _, target := range pause.targets {
					require.NoError(t, q.Pause(t.Context(), target))
				}
				began := time.Now()
				lines := untilIdle(t, q)
				require.Less(t, time.Since(began), time.Minute)
				require.Len(t, lines, 1)
				require.Contains(t, lines[0], `msg="idle: all jobs that are left are paused, or behind `)
				counts, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued}})
				require.NoError(t, err)
				require.Equal(t, pause.left, counts[queue.StateQueued])
			})
		})
	}
}

// A pause of a prefix holds keys with limits of their own back as well, and no others.
func TestRunUntilIdleKnowsWhichKeysAreNotPaused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		require.NoError(t, q.Pause(t.Context(), queue.ForKeyPrefix("a:")))
		require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("a:1"), queue.Limit{MaxRunning: 1}))
		held := enqueue(t, q, &queue.Options{LimitKey: "a:1"})
		id := enqueue(t, q, &queue.Options{LimitKey: "b:1", NotBefore: time.Now().Add(time.Hour)})
		require.Len(t, untilIdle(t, q), 2)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		require.Equal(t, queue.StateQueued, job(t, q, held).State)
	})
}

func TestRunUntilIdleSaysWhatItWaitsFor(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		due := time.Now().Add(time.Hour)
		soon := enqueue(t, q, nil)
		late := enqueue(t, q, &queue.Options{NotBefore: due})
		lines := untilIdle(t, q)
		require.Equal(t,
			[]string{`level=INFO msg="not idle yet: waiting for jobs that are not due, limited, or running in other processes" ` +
				`queued=1 running_elsewhere=0 paused=0 next_due=` + due.UTC().Format("2006-01-02T15:04:05.000Z")}, lines,
			"once")
		for _, id := range []string{soon, late} {
			require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		}
		require.False(t, time.Now().Before(due))
	})
}

// A job that runs elsewhere may enqueue others, or be taken over: it is waited for, also where the rest is paused.
func TestRunUntilIdleWaitsForWhatRunsElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		elsewhere := claimAs(t, q, "elsewhere")[0]
		enqueue(t, q, nil)
		require.NoError(t, q.Pause(t.Context(), queue.ForType(ping)))
		ended := make(chan []string, 1)
		go func() { ended <- untilIdle(t, q) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, ended)
		require.NoError(t, elsewhere.Complete(t.Context(), nil))
		lines := <-ended
		require.Len(t, lines, 2)
		require.Contains(t, lines[0], "queued=1 running_elsewhere=1 paused=1")
		require.Contains(t, lines[1], "idle: all jobs that are left are paused")
	})
}

// An observing driver counts the calls that a dispatcher makes of itself.
type observing struct {
	driver.Driver
	claims, beats, looks, others atomic.Int64
}

func (c *observing) Private() bool { return true }

func (c *observing) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	c.claims.Add(1)
	return c.Driver.Claim(ctx, req)
}

func (c *observing) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	c.beats.Add(1)
	return c.Driver.Heartbeat(ctx, req)
}

func (c *observing) WorkerJobs(ctx context.Context, workerID string) ([]driver.Job, error) {
	c.beats.Add(1)
	return c.Driver.WorkerJobs(ctx, workerID)
}

func (c *observing) Workers(ctx context.Context) ([]driver.Worker, error) {
	c.looks.Add(1)
	return c.Driver.Workers(ctx)
}

func (c *observing) DueSchedules(ctx context.Context, now time.Time) ([]driver.Schedule, time.Time, error) {
	c.others.Add(1)
	return c.Driver.DueSchedules(ctx, now)
}

func (c *observing) Finished(ctx context.Context, state driver.State) ([]driver.FinishedType, error) {
	c.others.Add(1)
	return c.Driver.Finished(ctx, state)
}

func TestAnIdleDayCostsLittle(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		db := &observing{Driver: q.DB().Driver()}
		stop := start(t, on(t, db, nil), nil, func(context.Context, *queue.Work[int]) error { return nil })
		time.Sleep(24 * time.Hour)
		require.NoError(t, stop())
		require.Less(t, db.claims.Load(), int64(2000), "a poll a minute")
		require.Less(t, db.beats.Load(), int64(18_000), "a beat every 10 s, and a look for stray jobs")
		require.Less(t, db.looks.Load(), int64(12_000), "a look for dead workers every 7.5 s")
		require.Less(t, db.others.Load(), int64(8000))
	})
}

// What comes after a quiet day is run at once.
func TestAnIdleDayDelaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		ran := make(chan time.Time, 1)
		stop := start(t, q, nil, func(context.Context, *queue.Work[int]) error {
			ran <- time.Now()
			return nil
		})
		time.Sleep(3 * time.Hour)
		began := time.Now()
		enqueue(t, q, nil)
		require.Equal(t, began, <-ran)
		due := time.Now().Add(time.Hour + time.Second/2)
		enqueue(t, q, &queue.Options{NotBefore: due})
		require.WithinDuration(t, due, <-ran, time.Millisecond)
		require.NoError(t, stop())
	})
}

// hold keeps all jobs from being claimed, as a move that was interrupted does.
func hold(t *testing.T, db driver.Driver) (release func()) {
	t.Helper()
	var held []string
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		held, err = db.(driver.MoveSource).HoldJobs(ctx, tx, 100)
		return err
	}))
	return func() {
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			return db.(driver.MoveTarget).ReleaseHeld(ctx, tx, held)
		}))
	}
}

// watchedCounts calls fn after each count.
type watchedCounts struct {
	driver.Driver
	counted func()
}

func (c watchedCounts) Counts(ctx context.Context, f driver.Filter) (map[driver.State]int, error) {
	counts, err := c.Driver.Counts(ctx, f)
	c.counted()
	return counts, err
}

// A job that an interrupted move holds is not done.
func TestRunUntilIdleWaitsForJobsThatAreHeldByAMove(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		drv := db.Driver()
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, drv, nil)
		id := enqueue(t, q, nil)
		release := hold(t, drv)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)

		var once sync.Once
		d, err := queue.NewDispatcher(on(t, watchedCounts{drv, func() { once.Do(release) }}, nil),
			&queue.DispatcherConfig{PollInterval: time.Millisecond})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}
