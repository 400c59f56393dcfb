package queue_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

const (
	slowJobs  queue.Type[int] = "slow"
	alsoSlow  queue.Type[int] = "also slow"
	quickJobs queue.Type[int] = "quick"
)

// A crowd counts how many of some handlers run at once.
type crowd struct {
	mu             sync.Mutex
	now, most, all int
}

func (c *crowd) lasting(d time.Duration) pingHandler {
	return func(context.Context, *queue.Work[int]) error {
		c.mu.Lock()
		c.now++
		c.most, c.all = max(c.most, c.now), c.all+1
		c.mu.Unlock()
		time.Sleep(d)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now--
		return nil
	}
}

// counted returns the most that ran at once, and all.
func (c *crowd) counted() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return []int{c.most, c.all}
}

func enqueueSome(t *testing.T, q *queue.Queue, n int, jobType queue.Type[int], opts *queue.Options) {
	t.Helper()
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = jobType.New(i, opts)
	}
	_, err := q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
}

func TestAPoolKeepsItsSlotsForItsTypes(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		// Slow jobs come first, and there are more than slots.
		enqueueSome(t, q, 20, slowJobs, &queue.Options{Priority: 9})
		enqueueSome(t, q, 20, alsoSlow, &queue.Options{Priority: 9})
		enqueueSome(t, q, 200, quickJobs, nil)
		enqueueSome(t, q, 30, ping, nil)
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 2, Pools: map[string]int{"slow": 3, "quick": 4}})
		require.NoError(t, err)
		var slow, quick, rest crowd
		queue.Handle(d, slowJobs, slow.lasting(time.Minute), queue.WithPool("slow"))
		queue.Handle(d, alsoSlow, slow.lasting(time.Minute), queue.WithPool("slow"))
		queue.Handle(d, quickJobs, quick.lasting(100*time.Millisecond), queue.WithPool("quick"))
		queue.Handle(d, ping, rest.lasting(2*time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()

		time.Sleep(59 * time.Second)
		require.Equal(t, []int{3, 3}, slow.counted(), "they still run")
		require.Equal(t, []int{4, 200}, quick.counted(), "nothing has kept them waiting")
		require.Equal(t, []int{2, 30}, rest.counted())
		running, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateRunning}})
		require.NoError(t, err)
		require.Equal(t, 3, running[queue.StateRunning], "what waited for the pool was given back to other processes")
		time.Sleep(14 * time.Minute)
		require.Equal(t, []int{3, 40}, slow.counted())
		cancel()
		require.NoError(t, <-ended)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 270}, counts)
	})
}

// Prefetched jobs that wait for their pool are given back at a stop.
func TestAStopGivesBackWhatWaitsForAPool(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueueSome(t, q, 5, slowJobs, nil)
		enqueueSome(t, q, 5, alsoSlow, nil)
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Pools: map[string]int{"slow": 2}})
		require.NoError(t, err)
		var slow crowd
		queue.Handle(d, slowJobs, slow.lasting(time.Minute), queue.WithPool("slow"))
		queue.Handle(d, alsoSlow, slow.lasting(time.Minute), queue.WithPool("slow"))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.NoError(t, d.Run(ctx))
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: 2, queue.StateQueued: 8}, counts)
	})
}

func TestPoolsAreChecked(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for _, pools := range []map[string]int{{"": 1}, {"a": 0}} {
			_, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Pools: pools})
			require.ErrorContains(t, err, "a pool has a name and at least 1 slot")
		}
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Pools: map[string]int{"a": 1}})
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil }, queue.WithPool("b"))
		require.ErrorContains(t, d.Run(t.Context()), `handler "ping": WithPool("b"): DispatcherConfig.Pools has no such pool`)
	})
}
