package queueadmin

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A StatsRequest holds the options of [ReadStats]. The zero StatsRequest uses the defaults.
type StatsRequest struct {
	// Window is how far back finished jobs are counted over time. Default 1 h; bounds 1 min to 31 days.
	Window time.Duration
	// Bucket is the step of that count: whole minutes, at most 1000 of them in a Window. Default: the number of minutes
	// that makes at most 60 buckets.
	Bucket time.Duration
	// MaxCount bounds the count of jobs of each type in each state, so that the time of ReadStats does not grow with
	// the number of stored jobs. Default 20,000; bounds 1 to 10,000,000.
	MaxCount int
}

// Stats are the statistics of a queue at one moment.
type Stats struct {
	At time.Time
	// Bucket is the step of TypeStats.Finished, and Since the start of its first bucket. Since is as far back as the
	// Window, or less if more than MaxCount jobs of a type have finished since.
	Bucket time.Duration
	Since  time.Time
	// MaxCount is the MaxCount of the request: a count that is equal to it means that many jobs or more.
	MaxCount int
	// Open are, for each bucket, the stored jobs that were queued or running at its end. Jobs that have been deleted are
	// missing, and a job that was retried counts as open since it was enqueued. It is nil if there are more than MaxCount
	// jobs of a type in a state.
	Open    []int
	Types   []TypeStats   // those that have jobs, by name
	Workers []WorkerStats // by id
}

// TypeStats are the statistics of one type of jobs.
type TypeStats struct {
	Type string
	// Ready, Scheduled and Limited are the queued jobs: jobs that a claim may take, jobs that are not due yet, and jobs
	// that wait for the limit of their key (for capacity, or for their turn).
	Ready, Scheduled, Limited int
	// Moving are the queued jobs that an unfinished move to another database holds; see queueadmin.Move.
	Moving int
	// Waiting are the queued jobs that wait for a node of their flow to open (see package queue/flow), or for their turn
	// in a sequence.
	Waiting int
	Running int
	// Completed, Failed and Canceled are the stored jobs in these states.
	Completed, Failed, Canceled int
	// OldestDue is when the oldest job that is due and does not run became due; zero if there is none.
	OldestDue time.Time
	// Finished counts the finished jobs of each bucket, from Stats.Since to Stats.At.
	Finished []Throughput
	// Wait is the time from due to started, Run that from started to finished. They cover the last attempts of the jobs
	// that completed or failed last within the Window, at most 200 of each.
	Wait, Run Latency
}

// Throughput is the number of jobs that finished in a bucket.
type Throughput struct{ Completed, Failed, Canceled int }

// Latency describes the durations of a sample of jobs; zero if there is none.
type Latency struct {
	Sample             int
	P50, P95, P99, Max time.Duration
}

// WorkerStats describes a worker and the number of its running jobs.
type WorkerStats struct {
	ID string
	// Beat counts its heartbeats. It is −1 if the worker is not registered: it has died, and its jobs will be queued
	// again.
	Beat    int64
	BeatAt  time.Time // by the worker's clock
	Types   []string  // its registered handlers; nil if unknown
	Version string    // of its program; empty if unknown
	Running int
}

const (
	defaultWindow   = time.Hour
	maxWindow       = 31 * 24 * time.Hour
	maxBuckets      = 1000
	defaultMaxCount = 20_000
	maxMaxCount     = 10_000_000
)

// ReadStats returns the numbers of waiting, running and finished jobs, and their durations. It reads a bounded part of
// indexes for each type, so it may be called every few seconds. req may be nil.
func ReadStats(ctx context.Context, q *queue.Queue, req *StatsRequest) (*Stats, error) {
	if q == nil {
		return nil, wrap("stats", "", errNoQueue)
	}
	var r StatsRequest
	if req != nil {
		r = *req
	}
	query, err := r.query(driver.Now(q.DB().Driver()))
	if err != nil {
		return nil, fmt.Errorf("queueadmin: stats: %w", err)
	}
	read, err := q.DB().Driver().Stats(ctx, query)
	if err != nil {
		return nil, failed(ctx, q, "stats", err)
	}
	return statsOf(read), nil
}

func statsOf(read *driver.Stats) *Stats {
	stats := &Stats{At: read.At, Bucket: read.Bucket, Since: read.Since, MaxCount: read.MaxCount}
	for _, t := range read.Types {
		finished := make([]Throughput, len(t.Finished))
		for i, f := range t.Finished {
			finished[i] = Throughput(f)
		}
		stats.Types = append(stats.Types, TypeStats{
			Type: t.Type, Ready: t.Ready, Scheduled: t.Scheduled, Limited: t.Limited, Moving: t.Moving,
			Waiting: t.Waiting, Running: t.Running,
			Completed: t.Completed, Failed: t.Failed, Canceled: t.Canceled, OldestDue: t.OldestDue, Finished: finished,
			Wait: Latency(t.Wait), Run: Latency(t.Run),
		})
	}
	stats.Open = openOf(stats, read.Enqueued)
	for _, w := range read.Workers {
		stats.Workers = append(stats.Workers, WorkerStats{ID: w.ID, Beat: w.Beat, BeatAt: w.BeatAt, Types: w.Types,
			Version: w.Version, Running: w.Running})
	}
	return stats
}

// openOf counts back from what is open now.
func openOf(stats *Stats, enqueued []int) []int {
	now := 0
	finished := make([]int, len(enqueued))
	for i := range stats.Types {
		t := &stats.Types[i]
		for _, n := range []int{t.Ready, t.Scheduled, t.Limited, t.Moving, t.Waiting} {
			if now += n; n >= stats.MaxCount {
				return nil
			}
		}
		now += t.Running
		for j, f := range t.Finished {
			finished[j] += f.Completed + f.Failed + f.Canceled
		}
	}
	open := make([]int, len(enqueued))
	for i := len(open) - 1; i >= 0; i-- {
		open[i] = max(0, now)
		now += finished[i] - enqueued[i]
	}
	return open
}

func (r StatsRequest) query(now time.Time) (driver.StatsQuery, error) {
	if r.Window == 0 {
		r.Window = defaultWindow
	}
	if r.Window < time.Minute || r.Window > maxWindow {
		return driver.StatsQuery{}, fmt.Errorf("StatsRequest.Window is %v; it must be within 1m and 31 days", r.Window)
	}
	if r.Bucket == 0 {
		r.Bucket = (r.Window/60 + time.Minute - 1).Truncate(time.Minute)
	}
	if r.MaxCount == 0 {
		r.MaxCount = defaultMaxCount
	}
	switch {
	case r.Bucket < time.Minute || r.Bucket%time.Minute != 0:
		return driver.StatsQuery{}, fmt.Errorf("StatsRequest.Bucket is %v; it must be in whole minutes", r.Bucket)
	case r.Window/r.Bucket > maxBuckets:
		return driver.StatsQuery{}, fmt.Errorf("StatsRequest.Bucket is %v, which makes more than %d buckets of %v",
			r.Bucket, maxBuckets, r.Window)
	case r.MaxCount < 1 || r.MaxCount > maxMaxCount:
		return driver.StatsQuery{}, fmt.Errorf("StatsRequest.MaxCount is %d; it must be within 1 and %d", r.MaxCount,
			maxMaxCount)
	}
	now = now.UTC()
	// The bucket that has just begun is one of them.
	since := now.Add(-r.Window).Truncate(r.Bucket).Add(r.Bucket)
	return driver.StatsQuery{Now: now, Since: since, Bucket: r.Bucket, MaxCount: r.MaxCount}, nil
}
