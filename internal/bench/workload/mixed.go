package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

// enqueuers is how many goroutines enqueue while workers run.
const enqueuers = 16

// mixed enqueues as fast as the queue accepts, while its workers run.
func mixed(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	l := newLoad(q, s.Mixed, s.Limit)
	return l.measure(ctx, func(i int) error { return l.enqueue(ctx, i, time.Now()) })
}

// paced enqueues s.Pace jobs a second at random moments, while workers run. Where a moment passes because every
// goroutine still waits for its call, the wait belongs to the latency.
func paced(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in every run
	moments := make([]time.Duration, s.Paced)
	for i := range moments {
		if i > 0 {
			moments[i] = moments[i-1]
		}
		moments[i] += time.Duration(random.ExpFloat64() / float64(s.Pace) * float64(time.Second))
	}
	l := newLoad(q, s.Paced, s.Limit)
	measured, err := l.measure(ctx, func(i int) error {
		moment := l.begin.Add(moments[i])
		if wait := time.Until(moment); wait > 0 {
			time.Sleep(wait)
			moment = time.Now()
		}
		return l.enqueue(ctx, i, moment)
	})
	measured.Rate = 0 // it is given
	return measured, err
}

// A load is jobs that are enqueued while workers run. Its times are nanoseconds from base on.
type load struct {
	q        contender.Queue
	limit    time.Duration
	base     time.Time
	begin    time.Time // of the measured jobs
	warm     int       // jobs before it
	calls    []float64
	enqueued []atomic.Int64 // when each job was to be enqueued
	started  []atomic.Int64 // when its handler started
	ran      atomic.Int64
	last     atomic.Int64 // when the last handler started
	news     chan struct{}
}

func newLoad(q contender.Queue, n int, limit time.Duration) *load {
	return &load{
		q: q, limit: limit, base: time.Now(), calls: make([]float64, n),
		enqueued: make([]atomic.Int64, n), started: make([]atomic.Int64, n), news: make(chan struct{}, 1),
	}
}

func (l *load) enqueue(ctx context.Context, i int, moment time.Time) error {
	l.enqueued[i].Store(int64(moment.Sub(l.base)))
	err := l.q.Enqueue(ctx, contender.NewPayload(int64(i)))
	l.calls[i] = figure.Milliseconds(time.Since(moment))
	return err
}

func (l *load) handle(n int64) {
	now := int64(time.Since(l.base))
	if n >= 0 && n < int64(len(l.started)) {
		l.started[n].CompareAndSwap(0, now)
	}
	l.last.Store(now)
	l.ran.Add(1)
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// measure calls enqueue for each job, from [enqueuers] goroutines, and waits until all have run or the limit is over
// again.
func (l *load) measure(ctx context.Context, enqueue func(i int) error) (figure.Figure, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- l.q.Run(running, l.handle) }()
	if err := l.warmUp(ctx, stopped); err != nil {
		return figure.Figure{}, err
	}
	if err := l.warmUpCalls(ctx, stopped); err != nil {
		return figure.Figure{}, err
	}
	l.begin = time.Now()
	n, err := together(enqueuers, len(l.calls), l.limit, enqueue)
	if err != nil {
		return figure.Figure{}, err
	}
	if err := l.await(n+l.warm, l.limit, stopped); err != nil && !errors.Is(err, errLate) {
		return figure.Figure{}, err
	}
	last := l.base.Add(time.Duration(l.last.Load()))
	stop()
	if err := <-stopped; err != nil {
		return figure.Figure{}, err
	}
	return l.figure(ctx, n, last)
}

// warmUp waits until the workers run jobs. One that is enqueued while they start may be found only with the next.
func (l *load) warmUp(ctx context.Context, stopped chan error) error {
	for begin := time.Now(); ; {
		time.Sleep(20 * time.Millisecond)
		if err := l.q.Enqueue(ctx, contender.NewPayload(int64(len(l.calls)))); err != nil {
			return err
		}
		l.warm++
		err := l.await(l.warm, time.Second, stopped)
		if !errors.Is(err, errLate) || time.Since(begin) > contender.StartTimeout {
			return err
		}
	}
}

// warmUpCalls has all goroutines enqueue.
func (l *load) warmUpCalls(ctx context.Context, stopped chan error) error {
	l.warm += warmUps * enqueuers
	_, err := together(enqueuers, warmUps*enqueuers, 0, func(int) error {
		return l.q.Enqueue(ctx, contender.NewPayload(int64(len(l.calls))))
	})
	return errors.Join(err, l.await(l.warm, contender.StartTimeout, stopped))
}

var errLate = errors.New("jobs have not run in time")

// await waits until n jobs have run.
func (l *load) await(n int, limit time.Duration, stopped chan error) error {
	timeout := time.After(limit)
	for l.ran.Load() < int64(n) {
		select {
		case <-l.news:
		case err := <-stopped:
			return errors.Join(errors.New("the workers stopped while jobs were enqueued"), err)
		case <-timeout:
			return fmt.Errorf("%w: %d of %d after %v", errLate, l.ran.Load(), n, limit)
		}
	}
	return nil
}

// figure is of n jobs that were enqueued; the workers have stopped.
func (l *load) figure(ctx context.Context, n int, last time.Time) (figure.Figure, error) {
	left, err := l.q.Unfinished(ctx)
	if err != nil {
		return figure.Figure{}, err
	}
	ran := int(l.ran.Load()) - l.warm
	if done := n - left; done > ran || left == 0 && ran != n {
		return figure.Figure{}, fmt.Errorf("of %d jobs %d ran and %d are done", n, ran, done)
	}
	var starts []float64
	for i := range l.started {
		if at := l.started[i].Load(); at > 0 {
			starts = append(starts, figure.Milliseconds(time.Duration(at-l.enqueued[i].Load())))
		}
	}
	if len(starts) == 0 {
		return figure.Figure{}, fmt.Errorf("none of %d jobs ran", n)
	}
	return figure.Figure{
		Rate: float64(len(starts)) / last.Sub(l.begin).Seconds(),
		Latencies: map[string]figure.Percentiles{
			callLatency: figure.PercentilesOf(taken(l.calls)), startLatency: figure.PercentilesOf(starts),
		},
	}, nil
}
