package contender

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// StartTimeout is the time after which a job that has not started is abandoned.
const StartTimeout = 10 * time.Second

// Drain works n jobs, or as many as the limit permits but at least one, and returns the rate per second. The time is
// from before the workers start until they have stopped and every end is written. All handlers must have run, and no
// job may be unfinished.
func Drain(ctx context.Context, q Queue, n int, limit time.Duration) (rate float64, err error) {
	before, err := q.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	r, err := runFor(ctx, q, n, limit)
	if err != nil {
		return 0, err
	}
	after, err := q.Unfinished(ctx)
	if err != nil {
		return 0, err
	}
	done := before - after
	// More than n are there where an earlier measurement was cut short.
	if done == 0 || done > r.ran || !r.cut && (done < n || done != r.ran) {
		return 0, fmt.Errorf("of %d jobs %d ran and %d are done after %v", n, r.ran, done, r.elapsed)
	}
	if r.cut {
		// Some that ran may not be done, and do not count; nor does the time it takes to stop in the middle of work.
		r.elapsed = r.last
	}
	return float64(done) / r.elapsed.Seconds(), nil
}

// A working is the result of workers that were started and stopped.
type working struct {
	ran     int           // handlers
	last    time.Duration // when the last of them ran
	elapsed time.Duration // until all had stopped
	cut     bool          // at the limit, with work left
}

// runFor lets workers run until n handlers ran or, after at least one, the limit is over. A limit of 0 means no limit.
func runFor(ctx context.Context, q Queue, n int, limit time.Duration) (working, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var ran, last atomic.Int64
	start := time.Now()
	over := func() bool { return limit > 0 && time.Since(start) >= limit }
	if limit > 0 {
		defer time.AfterFunc(limit, func() {
			if ran.Load() > 0 {
				stop()
			}
		}).Stop()
		defer time.AfterFunc(limit+StartTimeout, stop).Stop()
	}
	err := q.Run(running, func(int64) {
		last.Store(int64(time.Since(start)))
		if ran.Add(1) == int64(n) || over() {
			stop()
		}
	})
	r := working{ran: int(ran.Load()), last: time.Duration(last.Load()), elapsed: time.Since(start)}
	r.cut = over() && r.ran < n
	return r, err
}
