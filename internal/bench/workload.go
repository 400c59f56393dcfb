package main

import (
	"context"
	"fmt"
	"time"
)

// A Figure is what one round measured: jobs a second, or for latencies the 50th and the 99th percentile in milliseconds.
type Figure []float64

// A Workload is the same work for every contender.
type Workload struct {
	Name  string // what -workload matches
	Title string // of its column
	Group Group
	// Staged says that the store already holds staged jobs of a kind. It is then kept over the rounds; without, every
	// round has a new one.
	Staged func(s *Size) (kind Kind, n int)
	Retain bool
	// Latency: less is better.
	Latency bool
	Measure func(ctx context.Context, q Queue, s *Size) (Figure, error)
}

// A Size is how much work there is.
type Size struct {
	Enqueue, Bulk, Drain, Finished, Scheduled, Due int
	// Samples of latency, after others that warm up; where a contender polls, Least of them however long they take.
	Warmup, Samples, Least int

	// ClaimFinished, ClaimQueued, ClaimKeys and Claims are for the time of a claim, Memory for a drain in a process of its own.
	ClaimFinished, ClaimQueued, ClaimKeys, Claims, Memory int

	Idle time.Duration
	// Limit cuts a measurement short; what was done by then counts.
	Limit time.Duration
}

func fullSize() *Size {
	return &Size{
		Enqueue: 20_000, Bulk: 100_000, Drain: 50_000, Finished: 500_000, Scheduled: 500_000, Due: 2000, Warmup: 5, Samples: 500, Least: 30,
		ClaimFinished: 5_000_000, ClaimQueued: 1_000_000, ClaimKeys: 1000, Claims: 1000, Memory: 1_000_000,
		Idle: 20 * time.Second, Limit: 5 * time.Second,
	}
}

func quickSize() *Size {
	return &Size{
		Enqueue: 100, Bulk: 2000, Drain: 200, Finished: 1000, Scheduled: 1000, Due: 20, Samples: 2, Least: 1,
		ClaimFinished: 2000, ClaimQueued: 10_000, ClaimKeys: 50, Claims: 20, Memory: 2000,
		Idle: 200 * time.Millisecond, Limit: 200 * time.Millisecond,
	}
}

func workloads() []Workload {
	return []Workload{
		{Name: "enqueue-1", Title: "enqueue, 1 goroutine", Group: Enqueueing, Measure: enqueueFrom(1)},
		{Name: "enqueue-16", Title: "enqueue, 16 goroutines", Group: Enqueueing, Measure: enqueueFrom(16)},
		{Name: "bulk", Title: "enqueue, 1,000 a call", Group: Enqueueing, Measure: enqueueBulk},
		{Name: "drain", Title: "drain", Group: Draining, Measure: drainAll},
		{Name: "drain-finished", Title: "drain beside finished jobs", Group: Draining, Retain: true, Measure: drainAll,
			Staged: func(s *Size) (Kind, int) { return Finished, s.Finished }},
		{Name: "drain-scheduled", Title: "drain behind scheduled jobs", Group: Draining, Measure: drainDue,
			Staged: func(s *Size) (Kind, int) { return Scheduled, s.Scheduled }},
		{Name: "latency", Title: "enqueue to start, p50 / p99", Group: Starting, Latency: true, Measure: latency},
	}
}

// added fails unless the store holds n unfinished jobs more than before.
func added(ctx context.Context, q Queue, before, n int) error {
	after, err := q.Unfinished(ctx)
	if err == nil && after-before != n {
		err = fmt.Errorf("%d jobs were enqueued, but %d are there", n, after-before)
	}
	return err
}
