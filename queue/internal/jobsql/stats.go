package jobsql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// lastSample is the number of jobs of a type and state in the sample for latencies.
const lastSample = 200

// A reading holds the statistics while they are read.
type reading struct {
	db      Querier
	dialect driver.Dialect
	driver.StatsQuery

	types   map[string]*typeReading
	workers map[string]int // running jobs
	// since is how far back every type has been counted.
	since    time.Time
	enqueued map[time.Time]int
}

type typeReading struct {
	driver.TypeStats
	buckets   map[time.Time]driver.Throughput
	wait, run []time.Duration
}

// ReadStats reads the statistics. workers are the registered workers.
func ReadStats(
	ctx context.Context, db Querier, dialect driver.Dialect, query driver.StatsQuery, workers []driver.Worker,
) (*driver.Stats, error) {
	r := reading{
		db: db, dialect: dialect, StatsQuery: query, since: query.Since,
		types: map[string]*typeReading{}, workers: map[string]int{}, enqueued: map[time.Time]int{},
	}
	for _, part := range []func(context.Context) error{r.finished, r.queued, r.running, r.created} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return r.stats(workers), nil
}

func (r *reading) ofType(name string) *typeReading {
	t := r.types[name]
	if t == nil {
		t = &typeReading{TypeStats: driver.TypeStats{Type: name}, buckets: map[time.Time]driver.Throughput{}}
		r.types[name] = t
	}
	return t
}

// A finishedKind is the jobs of one type that have finished in one state.
type finishedKind struct {
	state  driver.State
	name   string
	count  int
	latest Instant
}

func (r *reading) finished(ctx context.Context) error {
	kinds, err := queryRows(ctx, r.db, func(row Scanner) (k finishedKind, err error) {
		err = row.Scan(&k.state, &k.name, &k.count, &k.latest)
		return k, err
	}, selectFinishedKinds, r.MaxCount)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		t := r.ofType(k.name)
		*counter(k.state, &t.Completed, &t.Failed, &t.Canceled) = k.count
		if k.latest.Before(r.Since) {
			continue
		}
		if err := r.throughput(ctx, t, k); err != nil {
			return err
		}
		if err := r.latency(ctx, t, k); err != nil {
			return err
		}
	}
	return nil
}

func counter(state driver.State, completed, failed, canceled *int) *int {
	switch state {
	case driver.StateCompleted:
		return completed
	case driver.StateFailed:
		return failed
	default:
		return canceled
	}
}

// A counted is a number of jobs and the earliest of them.
type counted struct {
	name  string
	n     int
	first Instant
}

func (r *reading) throughput(ctx context.Context, t *typeReading, k finishedKind) error {
	group, width := r.group()
	groups, err := queryRows(ctx, r.db, func(row Scanner) (c counted, err error) {
		err = row.Scan(&c.first, &c.n)
		return c, err
	}, selectThroughput+group, k.state, k.name, dbtime.Of(r.Since), r.MaxCount, width)
	if err != nil {
		return err
	}
	total, first := 0, r.Now
	for _, g := range groups {
		start := g.first.Truncate(r.Bucket)
		bucket := t.buckets[start]
		*counter(k.state, &bucket.Completed, &bucket.Failed, &bucket.Canceled) += g.n
		t.buckets[start] = bucket
		total += g.n
		if g.first.Before(first) {
			first = g.first.Time
		}
	}
	// The bucket that the limit has cut is not told of, nor are those before it.
	if whole := first.Truncate(r.Bucket).Add(r.Bucket); total == r.MaxCount && whole.After(r.since) {
		r.since = whole
	}
	return nil
}

// group is how finished_at is grouped: as coarsely as the buckets allow.
func (r *reading) group() (by string, width int) {
	minutes := 1
	for _, m := range []int{60, 10} {
		if r.Bucket%(time.Duration(m)*time.Minute) == 0 {
			minutes = m
			break
		}
	}
	if r.dialect == driver.Postgres {
		return "date_bin(make_interval(mins => $5), finished_at, TIMESTAMPTZ '2000-01-01 00:00:00Z')", minutes
	}
	// 2006-01-02T15:04 cut behind its hour, its ten minutes or its minute.
	return "substr(finished_at, 1, $5)", map[int]int{60: 13, 10: 15, 1: 16}[minutes]
}

// A run is one attempt of a job that has ended.
type run struct{ due, started, finished Instant }

func (r *reading) latency(ctx context.Context, t *typeReading, k finishedKind) error {
	if k.state == driver.StateCanceled {
		return nil
	}
	runs, err := queryRows(ctx, r.db, func(row Scanner) (a run, err error) {
		err = row.Scan(&a.due, &a.started, &a.finished)
		return a, err
	}, selectLast, k.state, k.name, dbtime.Of(r.Since), lastSample)
	for _, a := range runs {
		if !a.started.IsZero() {
			// Machines' clocks differ; a negative duration counts as zero.
			t.wait = append(t.wait, max(0, a.started.Sub(a.due.Time)))
			t.run = append(t.run, max(0, a.finished.Sub(a.started.Time)))
		}
	}
	return err
}

func (r *reading) queued(ctx context.Context) error {
	ready := func(t *typeReading) *int { return &t.Ready }
	limited := func(t *typeReading) *int { return &t.Limited }
	if err := r.held(ctx, ready, ready, selectReady, r.MaxCount); err != nil {
		return err
	}
	scheduled := func(t *typeReading) *int { return &t.Scheduled }
	if err := r.held(ctx, ready, scheduled, selectScheduled, r.MaxCount, dbtime.Of(r.Now)); err != nil {
		return err
	}
	if err := r.held(ctx, limited, limited, selectLimited, r.MaxCount); err != nil {
		return err
	}
	moving := func(t *typeReading) *int { return &t.Moving }
	if err := r.held(ctx, moving, moving, selectMoving, r.MaxCount); err != nil {
		return err
	}
	waiting, err := queryRows(ctx, r.db, func(row Scanner) (c counted, err error) {
		err = row.Scan(&c.name, &c.n)
		return c, err
	}, selectWaiting, r.MaxCount)
	for _, line := range waiting {
		r.ofType(line.name).Waiting = line.n
	}
	return err
}

// held counts the queued jobs with one hold, as due when the time of the first of them has come, and else as ahead.
func (r *reading) held(ctx context.Context, due, ahead func(*typeReading) *int, statement string, args ...any) error {
	lines, err := queryRows(ctx, r.db, func(row Scanner) (c counted, err error) {
		err = row.Scan(&c.name, &c.n, &c.first)
		return c, err
	}, statement, args...)
	for _, line := range lines {
		t := r.ofType(line.name)
		n := ahead(t)
		if !line.first.After(r.Now) {
			n = due(t)
			if t.OldestDue.IsZero() || line.first.Before(t.OldestDue) {
				t.OldestDue = line.first.Time
			}
		}
		*n = min(r.MaxCount, *n+line.n)
	}
	return err
}

func (r *reading) running(ctx context.Context) error {
	type held struct {
		worker sql.NullString
		name   string
		n      int
	}
	lines, err := queryRows(ctx, r.db, func(row Scanner) (h held, err error) {
		err = row.Scan(&h.worker, &h.name, &h.n)
		return h, err
	}, selectRunning)
	for _, line := range lines {
		r.ofType(line.name).Running += line.n
		r.workers[line.worker.String] += line.n
	}
	return err
}

// idPrefix is how much of an id, which begins with the milliseconds of its time, is the time of a bucket: 4 s.
const (
	idPrefix = 10
	idStep   = 4096 * time.Millisecond
)

// created counts the jobs by when they were enqueued, from the index of their ids alone.
func (r *reading) created(ctx context.Context) error {
	groups, err := queryRows(ctx, r.db, func(row Scanner) (c counted, err error) {
		err = row.Scan(&c.name, &c.n)
		return c, err
	}, selectCreated, idAt(r.Since), r.MaxCount)
	total, first := 0, r.Now
	for _, g := range groups {
		at, ok := timeOfID(g.name)
		if !ok {
			continue // an id that is not the queue's own
		}
		total += g.n
		r.enqueued[at.Truncate(r.Bucket)] += g.n
		if at.Before(first) {
			first = at
		}
	}
	if whole := first.Truncate(r.Bucket).Add(r.Bucket); total == r.MaxCount && whole.After(r.since) {
		r.since = whole
	}
	return err
}

// idAt is the lowest beginning of the ids of a time.
func idAt(at time.Time) string {
	digits := fmt.Sprintf("%012x", at.UnixMilli())
	return digits[:8] + "-" + digits[8:]
}

// timeOfID is the time of the beginning of an id.
func timeOfID(prefix string) (time.Time, bool) {
	digits := strings.Replace(prefix, "-", "", 1)
	steps, err := strconv.ParseInt(digits, 16, 64)
	if err != nil || len(digits) != idPrefix-1 {
		return time.Time{}, false
	}
	return time.UnixMilli(steps * idStep.Milliseconds()).UTC(), true
}

func (r *reading) stats(workers []driver.Worker) *driver.Stats {
	stats := &driver.Stats{At: r.Now, Since: r.since, Bucket: r.Bucket, MaxCount: r.MaxCount}
	for _, name := range slices.Sorted(maps.Keys(r.types)) {
		t := r.types[name]
		for at := r.since; !at.After(r.Now); at = at.Add(r.Bucket) {
			t.Finished = append(t.Finished, t.buckets[at])
		}
		t.Wait, t.Run = percentiles(t.wait), percentiles(t.run)
		stats.Types = append(stats.Types, t.TypeStats)
	}
	for at := r.since; !at.After(r.Now); at = at.Add(r.Bucket) {
		stats.Enqueued = append(stats.Enqueued, r.enqueued[at])
	}
	for _, w := range workers {
		stats.Workers = append(stats.Workers, driver.WorkerStats{Worker: w, Running: r.workers[w.ID]})
	}
	slices.SortFunc(stats.Workers, func(a, b driver.WorkerStats) int { return cmp.Compare(a.ID, b.ID) })
	return stats
}

// percentiles are by nearest rank.
func percentiles(sample []time.Duration) driver.Latency {
	n := len(sample)
	if n == 0 {
		return driver.Latency{}
	}
	slices.Sort(sample)
	rank := func(percent int) time.Duration { return sample[(n*percent+99)/100-1] }
	return driver.Latency{Sample: n, P50: rank(50), P95: rank(95), P99: rank(99), Max: sample[n-1]}
}

func queryRows[T any](
	ctx context.Context, db Querier, scan func(Scanner) (T, error), statement string, args ...any,
) ([]T, error) {
	rows, err := db.QueryContext(ctx, statement, args...)
	return Collect(rows, err, scan)
}

// A Querier runs queries: a *sqlx.DB, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
