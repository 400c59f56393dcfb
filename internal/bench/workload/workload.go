// Package workload measures the same work for every contender.
package workload

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

// A Workload is the same work for every contender.
type Workload struct {
	Name  string // matched by -workload
	Title string // of its column; empty for one that measures latencies alone
	Group contender.Group
	// Staged says that the store already holds staged jobs of a kind. It is then kept over the rounds; without, every
	// round has a new one.
	Staged func(s *Size) (kind contender.Kind, n int)
	Retain bool
	// Latency is which latency stands in its column; empty for jobs a second.
	Latency string
	// Latencies are the titles of the other measured latencies, by name.
	Latencies map[string]string
	Measure   func(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error)
}

// A Size is how much work there is.
type Size struct {
	Enqueue, Bulk, Drain, Finished, Scheduled, Due, Write int
	// Mixed jobs are enqueued while workers run, as fast as can be; Paced jobs at Pace a second.
	Mixed, Paced, Pace int
	// Samples of latency, after others that warm up; where a contender polls, Least of them however long they take.
	Warmup, Samples, Least int

	// Limit cuts a measurement short; the work done by then counts.
	Limit time.Duration
}

// The kinds of latencies.
const (
	callLatency  = "call"  // of the call that enqueues, until it returns
	startLatency = "start" // from before that call until the handler starts
)

// FullSize is for results.
func FullSize() Size {
	return Size{
		Enqueue: 20_000, Bulk: 100_000, Drain: 50_000, Finished: 500_000, Scheduled: 500_000, Due: 2000, Write: 20_000,
		Mixed: 30_000, Paced: 4000, Pace: 1000, Warmup: 5, Samples: 2000, Least: 30, Limit: 5 * time.Second,
	}
}

// QuickSize is to see whether everything works.
func QuickSize() Size {
	return Size{
		Enqueue: 100, Bulk: 2000, Drain: 200, Finished: 1000, Scheduled: 1000, Due: 20, Write: 100,
		Mixed: 100, Paced: 100, Pace: 1000, Samples: 2, Least: 1, Limit: 200 * time.Millisecond,
	}
}

// All returns the workloads.
func All() []Workload {
	return []Workload{
		{Name: "enqueue-1", Title: "enqueue, 1 goroutine", Group: contender.Enqueueing, Measure: enqueueFrom(1),
			Latencies: map[string]string{callLatency: "enqueue, 1 goroutine"}},
		{Name: "enqueue-16", Title: "enqueue, 16 goroutines", Group: contender.Enqueueing, Measure: enqueueFrom(16),
			Latencies: map[string]string{callLatency: "enqueue, 16 goroutines"}},
		{Name: "bulk", Title: "enqueue, 1,000 a call", Group: contender.Enqueueing, Measure: enqueueBulk},
		{Name: "drain", Title: "drain", Group: contender.Draining, Measure: drainAll},
		{Name: "drain-finished", Title: "drain beside finished jobs", Group: contender.Draining, Retain: true, Measure: drainAll,
			Staged: func(s *Size) (contender.Kind, int) { return contender.Finished, s.Finished }},
		{Name: "drain-scheduled", Title: "drain behind scheduled jobs", Group: contender.Draining, Measure: drainDue,
			Staged: func(s *Size) (contender.Kind, int) { return contender.Scheduled, s.Scheduled }},
		{Name: "write", Title: "drain, a row and the end in one transaction", Group: contender.Writing, Measure: drainWriting},
		{Name: "mixed", Title: "enqueue while draining", Group: contender.Mixing, Measure: mixed,
			Latencies: map[string]string{callLatency: "enqueue while draining",
				startLatency: "enqueue to start while draining"}},
		{Name: "paced", Group: contender.Mixing, Measure: paced,
			Latencies: map[string]string{callLatency: "enqueue, 1,000 a second",
				startLatency: "enqueue to start, 1,000 a second"}},
		{Name: "latency", Title: "enqueue to start, p50 / p99", Group: contender.Starting, Latency: startLatency, Measure: latency,
			Latencies: map[string]string{startLatency: "enqueue to start, idle"}},
	}
}

// added fails unless the store holds n unfinished jobs more than before.
func added(ctx context.Context, q contender.Queue, before, n int) error {
	after, err := q.Unfinished(ctx)
	if err == nil && after-before != n {
		err = fmt.Errorf("%d jobs were enqueued, but %d are there", n, after-before)
	}
	return err
}
