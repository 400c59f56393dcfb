package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

var errDead = errors.New("the process is dead")

// A mortal driver belongs to a process: once that is dead, nothing that it does reaches the database.
type mortal struct {
	driver.Driver
	dead chan struct{}
}

func (m *mortal) Unwrap() driver.Driver { return m.Driver }

func (m *mortal) alive() error {
	select {
	case <-m.dead:
		return errDead
	default:
		return nil
	}
}

func (m *mortal) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	return m.Driver.Write(ctx, func(ctx context.Context, tx driver.Tx) error {
		if err := m.alive(); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func (m *mortal) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	if err := m.alive(); err != nil {
		return driver.ClaimResult{}, err
	}
	return m.Driver.Claim(ctx, req)
}

func (m *mortal) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	if err := m.alive(); err != nil {
		return false, err
	}
	return m.Driver.Heartbeat(ctx, req)
}

func (m *mortal) MarkBegun(ctx context.Context, leases []driver.Lease, now time.Time) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Driver.MarkBegun(ctx, leases, now)
}

func (m *mortal) RemoveWorker(ctx context.Context, worker string) error {
	if err := m.alive(); err != nil {
		return err
	}
	return m.Driver.RemoveWorker(ctx, worker)
}

// A morgue runs one process after the other. The jobs whose payload is negative kill theirs.
type morgue struct {
	t *testing.T
	q *queue.Queue

	mu    sync.Mutex
	begun map[string]int // by job
}

// work runs a process until a job kills it, or until nothing is left. It returns how many others ran when it died.
func (m *morgue) work(workers int, lasts time.Duration) (killed bool, beside int) {
	dead := make(chan struct{})
	var once sync.Once
	d, err := queue.NewDispatcher(on(m.t, &mortal{Driver: m.q.DB().Driver(), dead: dead}, nil),
		&queue.DispatcherConfig{Workers: workers, Lease: lease, Exclusive: true, Drain: -1,
			Logger: slog.New(slog.DiscardHandler)})
	require.NoError(m.t, err)
	inside := 0
	ctx, cancel := context.WithCancel(m.t.Context())
	defer cancel()
	queue.Handle(d, ping, func(ctx context.Context, w *queue.Work[int]) error {
		m.mu.Lock()
		inside++
		m.begun[w.Job.ID]++
		m.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(lasts):
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if w.Payload < 0 && ctx.Err() == nil {
			once.Do(func() {
				close(dead)
				beside, killed = inside-1, true
				cancel()
			})
		}
		inside--
		return ctx.Err()
	})
	err = d.RunUntilIdle(ctx)
	if !killed {
		require.NoError(m.t, err)
	}
	return killed, beside
}

// "A process death charged to every job that it had claimed: jobs that never began fail with the guilty one. Requeued
// at one instant they run side by side again. Blame one at a time".
func TestTrapJobThatKillsItsProcess(t *testing.T) {
	for name, lasts := range map[string]time.Duration{"at once": time.Millisecond, "after a while": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				m := &morgue{t: t, q: q, begun: make(map[string]int)}
				innocent := make([]string, 60)
				var guilty string
				for i := range innocent {
					if i == 7 {
						guilty = pinged(t, q, -1)
					}
					innocent[i] = pinged(t, q, i)
				}
				var besides []int
				for {
					killed, beside := m.work(8, lasts)
					if !killed {
						break
					}
					besides = append(besides, beside)
					require.Less(t, len(besides), 12)
				}
				require.Equal(t, queue.StateFailed, job(t, q, guilty).State)
				require.Contains(t, job(t, q, guilty).LastError, "gave up after 6 crashes")
				require.Zero(t, besides[len(besides)-1], "it dies alone: %v", besides)
				for i, id := range innocent {
					got := job(t, q, id)
					require.Equal(t, queue.StateCompleted, got.State, i)
					require.LessOrEqual(t, got.Crashes, 2, i)
					require.Less(t, got.Crashes, max(1, m.begun[id]), i)
				}
			})
		})
	}
}

func pinged(t *testing.T, q *queue.Queue, payload int) string {
	t.Helper()
	enqueued, err := q.Enqueue(t.Context(), ping.New(payload, nil))
	require.NoError(t, err)
	return enqueued.ID
}

// Suspects that outlast their turn, and those that are given back meanwhile, are all run.
func TestSuspectsRunApart(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		m := &morgue{t: t, q: q, begun: make(map[string]int)}
		for range 6 {
			enqueue(t, q, nil)
		}
		require.Len(t, claimAs(t, q, "killed"), 6)
		var mu sync.Mutex
		most, inside := 0, 0
		stop := start(t, q, &queue.DispatcherConfig{Lease: lease, Exclusive: true},
			func(context.Context, *queue.Work[int]) error {
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				time.Sleep(20 * time.Second)
				mu.Lock()
				defer mu.Unlock()
				inside--
				return nil
			})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.NoError(t, stop())
		require.Equal(t, 1, most)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 6}, counts, fmt.Sprint(m.begun))
	})
}

// A suspect that runs alone and hangs is given up like any other: the others begin, although it never returns.
func TestASuspectThatHangsIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		guilty := pinged(t, q, -1)
		require.Len(t, claimAs(t, q, "killed"), 1)
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET crashes = 2 WHERE id = $1", guilty)
			return err
		}))
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 2, Lease: lease, Exclusive: true,
			Grace: time.Second,
			Drain: -1, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		returns := make(chan struct{})
		queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
			if w.Payload < 0 && w.Job.Crashes > 0 {
				<-returns
			}
			return nil
		}, queue.WithTimeout(time.Minute))
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		time.Sleep(2 * time.Minute)
		next := pinged(t, q, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, queue.StateCompleted, job(t, q, next).State)
		close(returns)
		cancel()
		<-ran
	})
}
