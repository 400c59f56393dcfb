package queueadmin

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A StatsRequest says what [ReadStats] looks at; the zero StatsRequest uses the defaults.
type StatsRequest struct {
	// Window is how far back the jobs that have finished are counted by time. Default 1 h; bounds 1 min to 31 days.
	Window time.Duration
	// Bucket is the step of that count: whole minutes, at most 1000 of them in a Window. Default: as many minutes as make 60
	// buckets or fewer.
	Bucket time.Duration
	// MaxCount bounds the count of jobs of each type in each state, so that the time ReadStats takes does not grow with what is
	// stored. Default 20,000; bounds 1 to 10,000,000.
	MaxCount int
}

// Stats are the figures of a queue at one moment.
type Stats struct {
	At time.Time
	// Bucket is the step of TypeStats.Finished, and Since where its first bucket begins. That is as far back as the Window
	// asks, or less where more than MaxCount jobs of a type have finished since.
	Bucket time.Duration
	Since  time.Time
	// MaxCount is the MaxCount of the request: a count that is equal to it means that many jobs or more.
	MaxCount int
	Types    []TypeStats   // those that have jobs, by name
	Workers  []WorkerStats // by id
}

// TypeStats are the figures of one type of jobs.
type TypeStats struct {
	Type string
	// Ready, Scheduled and Limited are the queued jobs: those that a claim may take, those whose time has not come, and those
	// that wait for the limit of their key: for capacity, or for their turn.
	Ready, Scheduled, Limited int
	// Moving are the queued jobs that a move to another database holds, which has not ended; see queueadmin.Move.
	Moving  int
	Running int
	// Completed, Failed and Canceled are the jobs that are stored in these states.
	Completed, Failed, Canceled int
	// OldestDue is when the first of the jobs that are due, and do not run, became so; zero when none is.
	OldestDue time.Time
	// Finished counts what has finished, bucket by bucket, from Stats.Since to Stats.At.
	Finished []Throughput
	// Wait is the time from due to started, Run that from started to finished: of the jobs that completed or failed last
	// within the Window, at most 200 of each, and of the last attempt of each.
	Wait, Run Latency
}

// Throughput is how many jobs have finished in a bucket.
type Throughput struct{ Completed, Failed, Canceled int }

// Latency is how long jobs took, of a sample; zero when there is none.
type Latency struct {
	Sample             int
	P50, P95, P99, Max time.Duration
}

// WorkerStats is a worker and how many jobs it runs.
type WorkerStats struct {
	ID string
	// Beat counts its signs of life. It is −1 when the worker is not registered: it has died, and its jobs are about to be
	// given back.
	Beat    int64
	BeatAt  time.Time // by the worker's clock
	Types   []string  // that it has handlers for; nil when that is not known
	Running int
}

const (
	defaultWindow   = time.Hour
	maxWindow       = 31 * 24 * time.Hour
	maxBuckets      = 1000
	defaultMaxCount = 20_000
	maxMaxCount     = 10_000_000
)

// ReadStats reads how many jobs wait, run and have finished, and how long they took. It
// reads indexes, and of them a bounded part for each type, so that it may be asked every few seconds; req may be nil.
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
			Type: t.Type, Ready: t.Ready, Scheduled: t.Scheduled, Limited: t.Limited, Moving: t.Moving, Running: t.Running,
			Completed: t.Completed, Failed: t.Failed, Canceled: t.Canceled, OldestDue: t.OldestDue, Finished: finished,
			Wait: Latency(t.Wait), Run: Latency(t.Run),
		})
	}
	for _, w := range read.Workers {
		stats.Workers = append(stats.Workers, WorkerStats{ID: w.ID, Beat: w.Beat, BeatAt: w.BeatAt, Types: w.Types, Running: w.Running})
	}
	return stats
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
		return driver.StatsQuery{}, fmt.Errorf("StatsRequest.Bucket is %v, which makes more than %d buckets of %v", r.Bucket, maxBuckets, r.Window)
	case r.MaxCount < 1 || r.MaxCount > maxMaxCount:
		return driver.StatsQuery{}, fmt.Errorf("StatsRequest.MaxCount is %d; it must be within 1 and %d", r.MaxCount, maxMaxCount)
	}
	now = now.UTC()
	// The bucket that has just begun is one of them.
	since := now.Add(-r.Window).Truncate(r.Bucket).Add(r.Bucket)
	return driver.StatsQuery{Now: now, Since: since, Bucket: r.Bucket, MaxCount: r.MaxCount}, nil
}
