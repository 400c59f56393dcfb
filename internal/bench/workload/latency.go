package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

// latency measures from before the call that enqueues a job until its handler starts, in the same otherwise idle
// process. The pause between two jobs is random and up to the longest latency so far, so that jobs come at any point of
// a polling interval.
func latency(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	before, err := q.Unfinished(ctx)
	if err != nil {
		return figure.Figure{}, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	starts := make(chan time.Time, 1)
	stopped := make(chan error, 1)
	go func() { stopped <- q.Run(running, func(int64) { starts <- time.Now() }) }()
	samples, err := latencySamples(ctx, q, s, starts, stopped)
	stop()
	if err != nil {
		return figure.Figure{}, err
	}
	if err := <-stopped; err != nil {
		return figure.Figure{}, err
	}
	if err := added(ctx, q, before, 0); err != nil {
		return figure.Figure{}, err
	}
	return figure.Figure{Latencies: map[string]figure.Percentiles{startLatency: figure.PercentilesOf(samples)}}, nil
}

func latencySamples(ctx context.Context, q contender.Queue, s *Size, starts <-chan time.Time,
	stopped <-chan error) ([]float64, error) {
	var samples []float64
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in every run
	longest := 2 * time.Millisecond
	begin := time.Now()
	for i := range s.Samples + s.Warmup {
		if len(samples) >= s.Least && time.Since(begin) > s.Limit {
			break
		}
		time.Sleep(2*time.Millisecond + time.Duration(random.Int64N(int64(longest))))
		enqueued := time.Now()
		if err := q.Enqueue(ctx, contender.NewPayload(int64(i))); err != nil {
			return nil, err
		}
		select {
		case started := <-starts:
			took := started.Sub(enqueued)
			if i >= s.Warmup {
				longest = max(longest, took)
				samples = append(samples, figure.Milliseconds(took))
			}
		case err := <-stopped:
			return nil, errors.Join(errors.New("the workers stopped while jobs were enqueued"), err)
		case <-time.After(contender.StartTimeout):
			return nil, fmt.Errorf("a job has not started within %v", contender.StartTimeout)
		}
	}
	return samples, nil
}
