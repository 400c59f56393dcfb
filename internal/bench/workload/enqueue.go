package workload

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

// enqueueFrom measures one job a call.
func enqueueFrom(goroutines int) func(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	return func(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
		if err := warmUp(ctx, q, goroutines); err != nil {
			return figure.Figure{}, err
		}
		calls := make([]float64, s.Enqueue)
		measured, err := rate(ctx, q, func() (int, error) {
			return together(goroutines, s.Enqueue, s.Limit, func(i int) error {
				start := time.Now()
				err := q.Enqueue(ctx, contender.NewPayload(int64(i)))
				calls[i] = figure.Milliseconds(time.Since(start))
				return err
			})
		})
		measured.Latencies = map[string]figure.Percentiles{callLatency: figure.PercentilesOf(taken(calls))}
		return measured, err
	}
}

// warmUp makes a few calls from each goroutine, so that connections are open and statements prepared.
func warmUp(ctx context.Context, q contender.Queue, goroutines int) error {
	_, err := together(goroutines, warmUps*goroutines, 0, func(i int) error {
		return q.Enqueue(ctx, contender.NewPayload(int64(i)))
	})
	return err
}

const warmUps = 4 // of each goroutine

// taken is the samples that were taken before the limit.
func taken(samples []float64) []float64 {
	var result []float64
	for _, v := range samples {
		if v > 0 {
			result = append(result, v)
		}
	}
	return result
}

func enqueueBulk(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	const batch = 1000
	return rate(ctx, q, func() (int, error) {
		calls, err := together(1, s.Bulk/batch, s.Limit, func(int) error { return q.EnqueueMany(ctx, batch) })
		return calls * batch, err
	})
}

// rate is how many jobs a second work enqueues; they must all be there.
func rate(ctx context.Context, q contender.Queue, work func() (int, error)) (figure.Figure, error) {
	before, err := q.Unfinished(ctx)
	if err != nil {
		return figure.Figure{}, err
	}
	start := time.Now()
	n, err := work()
	elapsed := time.Since(start)
	if err != nil {
		return figure.Figure{}, err
	}
	return figure.Figure{Rate: float64(n) / elapsed.Seconds()}, added(ctx, q, before, n)
}

// together calls fn with 0 … n-1 from the given number of goroutines, until the limit if there is one, and returns the
// number of calls.
func together(goroutines, n int, limit time.Duration, fn func(i int) error) (int, error) {
	var (
		wg      sync.WaitGroup
		next    atomic.Int64
		done    atomic.Int64
		failure atomic.Pointer[error]
	)
	start := time.Now()
	for range goroutines {
		wg.Go(func() {
			for failure.Load() == nil && (limit == 0 || time.Since(start) < limit) {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := fn(int(i)); err != nil {
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
