package queue_test

import (
	"context"
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestSchedulesOfAnotherProcessAreHeardOf(t *testing.T) {
	for name, c := range map[string]struct {
		deaf   bool
		within time.Duration
	}{
		"where it is woken":    {false, 3 * time.Second},
		"where it is not, too": {true, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				ran := make(chan time.Time, 1000)
				there := on(t, &faulty{Driver: q.DB().Driver(), deaf: c.deaf}, nil)
				stop := start(t, there, nil, func(context.Context, *queue.Work[int]) error {
					ran <- time.Now()
					return nil
				})
				time.Sleep(5 * time.Second)
				began := time.Now()
				set(t, q, queue.Schedule{Name: "often", Cron: "@every 3s", Job: ping.New(1, nil)})
				require.LessOrEqual(t, (<-ran).Sub(began), c.within+time.Second)
				require.NoError(t, q.PauseSchedule(t.Context(), "often"))
				time.Sleep(time.Minute)
				began = time.Now()
				require.NoError(t, q.ResumeSchedule(t.Context(), "often"))
				for len(ran) > 0 {
					<-ran // of before the pause
				}
				require.LessOrEqual(t, (<-ran).Sub(began), c.within+time.Second)
				require.NoError(t, stop())
			})
		})
	}
}

// looked counts the looks for schedules.
type looked struct {
	driver.Driver
	looks atomic.Int64
}

func (l *looked) DueSchedules(ctx context.Context, now time.Time) ([]driver.Schedule, time.Time, error) {
	l.looks.Add(1)
	return l.Driver.DueSchedules(ctx, now)
}

func TestJobsHaveSchedulesLookedForOnceASecondAtMost(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		driver := &looked{Driver: q.DB().Driver()}
		stop := start(t, on(t, driver, nil), nil, func(context.Context, *queue.Work[int]) error { return nil })
		for range 1000 {
			enqueue(t, q, nil)
			time.Sleep(10 * time.Millisecond)
		}
		require.LessOrEqual(t, driver.looks.Load(), int64(12))
		time.Sleep(10 * time.Second)
		driver.looks.Store(0)
		time.Sleep(5 * time.Minute)
		require.LessOrEqual(t, driver.looks.Load(), int64(10), "an idle queue is looked at every half minute")
		require.NoError(t, stop())
	})
}

// What one process does to schedules wakes the dispatchers of another, on connections of its own.
func TestSchedulesWakeOtherProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.db")
	var dsn string
	for name, open := range map[string]func(t *testing.T) (queue.DB, error){
		"sqlite": func(t *testing.T) (queue.DB, error) {
			return sqlite.Open(t.Context(), file, &sqlite.Config{Durability: sqlite.Normal})
		},
		"postgres": func(t *testing.T) (queue.DB, error) {
			if dsn == "" {
				dsn = dbtest.PostgresDSN(t)
			}
			return postgres.Open(t.Context(), dsn, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var processes []driver.Driver
			for range 2 {
				db, err := open(t)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, db.(io.Closer).Close()) })
				require.NoError(t, queue.Migrate(t.Context(), db))
				processes = append(processes, db.Driver())
			}
			woken := make(chan struct{}, 1000)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- processes[1].Listen(ctx, func() { woken <- struct{}{} }) }()
			<-woken // it listens
			q := on(t, processes[0], nil)
			for _, change := range []func(){
				func() { set(t, q, daily("")) },
				func() { require.NoError(t, q.PauseSchedule(ctx, "daily")) },
				func() { require.NoError(t, q.ResumeSchedule(ctx, "daily")) },
			} {
				change()
				<-woken
			}
			stop()
			require.NoError(t, <-ended)
		})
	}
}
