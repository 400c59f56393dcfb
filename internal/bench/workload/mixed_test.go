package workload

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

func TestJobsAreEnqueuedWhileWorkersRun(t *testing.T) {
	for name, measure := range map[string]func(context.Context, contender.Queue, *Size) (figure.Figure, error){
		"mixed": mixed, "paced": paced,
	} {
		t.Run(name, func(t *testing.T) {
			size := QuickSize()
			measured, err := measure(t.Context(), newMemoryQueue(), &size)
			require.NoError(t, err)
			require.Positive(t, measured.Latencies[callLatency][0])
			require.Positive(t, measured.Latencies[startLatency][0])
			require.Equal(t, name == "mixed", measured.Rate > 0, "the rate of paced jobs is given")
		})
	}
}

func TestALoadCountsNoJobThatWasLost(t *testing.T) {
	size, q := QuickSize(), newMemoryQueue()
	q.loses = 20
	_, err := mixed(t.Context(), q, &size)
	require.ErrorContains(t, err, "of 100 jobs")
	q = newMemoryQueue()
	q.fails = errors.New("boom")
	_, err = mixed(t.Context(), q, &size)
	require.ErrorIs(t, err, q.fails)
}

// memoryQueue runs what is enqueued, but for some.
type memoryQueue struct {
	contender.Queue
	jobs       chan contender.Payload
	unfinished atomic.Int64
	loses      int
	fails      error
}

func newMemoryQueue() *memoryQueue { return &memoryQueue{jobs: make(chan contender.Payload, 10_000)} }

func (m *memoryQueue) Enqueue(_ context.Context, p contender.Payload) error {
	m.unfinished.Add(1)
	if p.N < int64(m.loses) {
		m.unfinished.Add(-1) // it says that it has run
		return nil
	}
	m.jobs <- p
	return nil
}

func (m *memoryQueue) Run(ctx context.Context, ran func(n int64)) error {
	for m.fails == nil {
		select {
		case p := <-m.jobs:
			ran(p.N)
			m.unfinished.Add(-1)
		case <-ctx.Done():
			return nil
		}
	}
	return m.fails
}

func (m *memoryQueue) Unfinished(context.Context) (int, error) { return int(m.unfinished.Load()), nil }
