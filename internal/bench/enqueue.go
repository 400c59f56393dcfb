package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// enqueueFrom measures one job a call.
func enqueueFrom(goroutines int) func(ctx context.Context, q Queue, s *Size) (Figure, error) {
	return func(ctx context.Context, q Queue, s *Size) (Figure, error) {
		return rate(ctx, q, func() (int, error) {
			return together(goroutines, s.Enqueue, s.Limit, func() error { return q.Enqueue(ctx) })
		})
	}
}

func enqueueBulk(ctx context.Context, q Queue, s *Size) (Figure, error) {
	const batch = 1000
	return rate(ctx, q, func() (int, error) {
		calls, err := together(1, s.Bulk/batch, s.Limit, func() error { return q.EnqueueMany(ctx, batch) })
		return calls * batch, err
	})
}

// rate is how many jobs a second work enqueues; they must all be there.
func rate(ctx context.Context, q Queue, work func() (int, error)) (Figure, error) {
	before, err := q.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	n, err := work()
	elapsed := time.Since(start)
	if err != nil {
		return nil, err
	}
	return Figure{float64(n) / elapsed.Seconds()}, added(ctx, q, before, n)
}

// together calls fn n times from so many goroutines, until the limit if there is one, and tells how often it did.
func together(goroutines, n int, limit time.Duration, fn func() error) (int, error) {
	var (
		wg      sync.WaitGroup
		taken   atomic.Int64
		done    atomic.Int64
		failure atomic.Pointer[error]
	)
	start := time.Now()
	for range goroutines {
		wg.Go(func() {
			for taken.Add(1) <= int64(n) && failure.Load() == nil && (limit == 0 || time.Since(start) < limit) {
				if err := fn(); err != nil {
					failure.CompareAndSwap(nil, &err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err := failure.Load(); err != nil {
		return 0, *err
	}
	return int(done.Load()), nil
}
