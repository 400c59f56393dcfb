package main

import (
	"context"
	"fmt"
	"time"
)

// A Workload is the same work for every contender.
type Workload struct {
	Name  string // matched by -workload
	Title string // of its column; empty for one that measures latencies alone
	Group Group
	// Staged says that the store already holds staged jobs of a kind. It is then kept over the rounds; without, every
	// round has a new one.
	Staged func(s *Size) (kind Kind, n int)
	Retain bool
	// Latency is which latency stands in its column; empty for jobs a second.
	Latency string
	// Latencies are the titles of the other measured latencies, by name.
	Latencies map[string]string
	Measure   func(ctx context.Context, q Queue, s *Size) (Figure, error)
}

// A Size is how much work there is.
type Size struct {
	Enqueue, Bulk, Drain, Finished, Scheduled, Due, Write int
	// Mixed jobs are enqueued while workers run, as fast as can be; Paced jobs at Pace a second.
	Mixed, Paced, Pace int
	// Samples of latency, after others that warm up; where a contender polls, Least of them however long they take.
	Warmup, Samples, Least int

	// ClaimFinished, ClaimQueued, ClaimKeys and Claims are for the time of a claim, Memory for a drain in a process of
	// its own.
	ClaimFinished, ClaimQueued, ClaimKeys, Claims, Memory int

	Idle time.Duration

	Machines MachineSize
	Limits   LimitSize
	// Limit cuts a measurement short; the work done by then counts.
	Limit time.Duration
}

func fullSize() *Size {
	return &Size{
		Enqueue: 20_000, Bulk: 100_000, Drain: 50_000, Finished: 500_000, Scheduled: 500_000, Due: 2000, Write: 20_000,
		Mixed: 30_000, Paced: 4000, Pace: 1000, Warmup: 5, Samples: 2000, Least: 30,
		ClaimFinished: 5_000_000, ClaimQueued: 1_000_000, ClaimKeys: 1000, Claims: 1000, Memory: 1_000_000,
		Idle: 20 * time.Second, Limit: 5 * time.Second, Machines: fullMachines(), Limits: fullLimits(),
	}
}

func quickSize() *Size {
	return &Size{
		Enqueue: 100, Bulk: 2000, Drain: 200, Finished: 1000, Scheduled: 1000, Due: 20, Write: 100,
		Mixed: 100, Paced: 100, Pace: 1000, Samples: 2, Least: 1,
		ClaimFinished: 2000, ClaimQueued: 10_000, ClaimKeys: 50, Claims: 20, Memory: 2000,
		Idle: 200 * time.Millisecond, Limit: 200 * time.Millisecond, Machines: quickMachines(), Limits: quickLimits(),
	}
}

func workloads() []Workload {
	return []Workload{
		{Name: "enqueue-1", Title: "enqueue, 1 goroutine", Group: Enqueueing, Measure: enqueueFrom(1),
			Latencies: map[string]string{callLatency: "enqueue, 1 goroutine"}},
		{Name: "enqueue-16", Title: "enqueue, 16 goroutines", Group: Enqueueing, Measure: enqueueFrom(16),
			Latencies: map[string]string{callLatency: "enqueue, 16 goroutines"}},
		{Name: "bulk", Title: "enqueue, 1,000 a call", Group: Enqueueing, Measure: enqueueBulk},
		{Name: "drain", Title: "drain", Group: Draining, Measure: drainAll},
		{Name: "drain-finished", Title: "drain beside finished jobs", Group: Draining, Retain: true, Measure: drainAll,
			Staged: func(s *Size) (Kind, int) { return Finished, s.Finished }},
		{Name: "drain-scheduled", Title: "drain behind scheduled jobs", Group: Draining, Measure: drainDue,
			Staged: func(s *Size) (Kind, int) { return Scheduled, s.Scheduled }},
		{Name: "write", Title: "drain, a row and the end in one transaction", Group: Writing, Measure: drainWriting},
		{Name: "mixed", Title: "enqueue while draining", Group: Mixing, Measure: mixed,
			Latencies: map[string]string{callLatency: "enqueue while draining", startLatency: "enqueue to start while draining"}},
		{Name: "paced", Group: Mixing, Measure: paced,
			Latencies: map[string]string{callLatency: "enqueue, 1,000 a second", startLatency: "enqueue to start, 1,000 a second"}},
		{Name: "latency", Title: "enqueue to start, p50 / p99", Group: Starting, Latency: startLatency, Measure: latency,
			Latencies: map[string]string{startLatency: "enqueue to start, idle"}},
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
