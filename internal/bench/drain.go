package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

func drainAll(ctx context.Context, q Queue, s *Size) (Figure, error) {
	if err := q.Stage(ctx, Due, s.Drain); err != nil {
		return nil, err
	}
	return drain(ctx, q, s.Drain, s.Limit)
}

func drainDue(ctx context.Context, q Queue, s *Size) (Figure, error) {
	if err := q.Stage(ctx, Due, s.Due); err != nil {
		return nil, err
	}
	return drain(ctx, q, s.Due, s.Limit)
}

// drain works n jobs, or as many as the limit allows, and tells how many a second. The time is from before the workers
// start until they have stopped and every end is written: all handlers must have run, and their jobs be gone from those unfinished.
func drain(ctx context.Context, q Queue, n int, limit time.Duration) (Figure, error) {
	before, err := q.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	if limit > 0 {
		running, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	var ran atomic.Int64
	start := time.Now()
	err = q.Run(running, func() {
		if ran.Add(1) == int64(n) {
			stop()
		}
	})
	elapsed := time.Since(start)
	if err != nil {
		return nil, err
	}
	after, err := q.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	// Where the limit cut it short, some that ran may not be done, and do not count.
	done, all := before-after, int(ran.Load())
	if cut := limit > 0 && elapsed >= limit; done == 0 || done > all || !cut && (done != n || all != n) {
		return nil, fmt.Errorf("of %d jobs %d ran and %d are done after %v", n, all, done, elapsed)
	}
	return Figure{float64(done) / elapsed.Seconds()}, nil
}
