package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	slowWrite     = 250 * time.Millisecond
	writePatience = 2 * time.Second
)

// writeNothing has a PostgreSQL server write and flush its log, and no table; a server is not even asked to begin a
// transaction without statements.
const writeNothing = `SELECT pg_logical_emit_message(TRUE, 'postroom', '')`

// checkSpeed measures a write transaction that writes nothing, by the clock of the database.
func checkSpeed(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	const hint = "the disk or the server is slow, or something else writes much: see what runs, and pause it"
	now := driver.ClockOf(q.DB().Driver())
	tried, stop := context.WithTimeout(ctx, writePatience)
	defer stop()
	began := now()
	err := driver.Write(tried, q.DB(), func(ctx context.Context, tx *driver.WriteTx) error {
		if q.DB().Dialect() != driver.Postgres {
			return nil
		}
		_, err := tx.ExecContext(ctx, writeNothing)
		return err
	})
	took := now().Sub(began)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(tried.Err(), context.DeadlineExceeded):
		return []Finding{{Severity: SeverityProblem, Hint: hint,
			Text: fmt.Sprintf("no write transaction has ended within %v", writePatience)}}, nil
	case err != nil && ctx.Err() == nil:
		return []Finding{{Severity: SeverityProblem, Hint: "jobs are neither enqueued nor run until then",
			Text: fmt.Sprintf("nothing can be written: %v", err)}}, nil
	case err != nil:
		return nil, err
	case took > slowWrite:
		return []Finding{{Severity: SeverityWarning, Hint: hint,
			Text: fmt.Sprintf("the database is slow: a write transaction that writes nothing takes %v",
				took.Round(time.Millisecond))}}, nil
	}
	return nil, nil
}

// A type fails if, of the jobs that have ended of late, at least fewFailures and half have failed.
const (
	lately      = 15 * time.Minute
	fewFailures = 10
)

// checkTypes finds types that fail, and pauses and limits that hold jobs back.
func checkTypes(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	stats, err := ReadStats(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for i := range stats.Types {
		t := &stats.Types[i]
		ended := t.Finished[max(0, len(t.Finished)-int(lately/stats.Bucket)):]
		failed, completed, since := 0, 0, time.Time{}
		for j, n := range ended {
			failed, completed = failed+n.Failed, completed+n.Completed
			if n.Failed > 0 && since.IsZero() {
				since = stats.Since.Add(time.Duration(len(t.Finished)-len(ended)+j) * stats.Bucket)
			}
		}
		if failed >= fewFailures && failed >= completed {
			findings = append(findings, Finding{Severity: SeverityProblem, Topic: TopicFailing, Subject: t.Type,
				Text: fmt.Sprintf("type %s fails: %d of the last %d jobs, since %s", t.Type, failed, failed+completed,
					since.UTC().Format(time.RFC3339)),
				Hint: "see the group of the error; pause the type until it is mended, and then retry the group"})
		}
	}
	held, err := checkLimits(ctx, q, stats)
	return append(findings, held...), err
}

// A LimitUsage is a limit or a pause, and the jobs under it.
type LimitUsage struct {
	queue.LimitStatus
	Running, Waiting int
	// Full are the limit keys that have no capacity left, the one with the most waiting jobs first. A limit of a type or
	// of a key has at most one.
	Full []string
}

// LimitUsages returns the limits and pauses with the numbers of jobs under them. stats are those of [ReadStats]. A job
// that has a limit of its type and one of its key counts under both. At most StatsRequest.MaxCount jobs that wait for
// limits of keys are counted. A rate makes jobs wait, but is not reported as full.
func LimitUsages(ctx context.Context, q *queue.Queue, stats *Stats) ([]LimitUsage, error) {
	limits, err := q.Limits(ctx)
	if err != nil || len(limits) == 0 {
		return nil, wrap("limit usages", "", err)
	}
	var keys []driver.KeyUse
	if auditor, ok := driver.As[driver.Auditor](q.DB().Driver()); ok {
		if keys, err = auditor.KeyUses(ctx, stats.MaxCount); err != nil {
			return nil, failed(ctx, q, "limit usages", err)
		}
	}
	slices.SortStableFunc(keys, func(a, b driver.KeyUse) int { return b.Waiting - a.Waiting })
	usages := make([]LimitUsage, len(limits))
	for i, l := range limits {
		usages[i].LimitStatus = l
		if l.Kind == queue.TargetType {
			usages[i].addTypes(stats)
		}
	}
	for _, k := range keys {
		for i := range usages {
			if u := &usages[i]; u.covers(k.Key) && (u.Paused || u.Target == inForce(limits, k.Key)) {
				u.add(k.Key, k.Running, k.Waiting)
			}
		}
	}
	return usages, nil
}

func (u *LimitUsage) addTypes(stats *Stats) {
	for i := range stats.Types {
		if t := &stats.Types[i]; u.Target == queue.ForAll() || u.Name == t.Type {
			u.add(u.Name, t.Running, t.Ready+t.Limited)
		}
	}
}

func (u *LimitUsage) add(name string, running, waiting int) {
	u.Running, u.Waiting = u.Running+running, u.Waiting+waiting
	if u.MaxRunning > 0 && running >= u.MaxRunning && waiting > 0 {
		u.Full = append(u.Full, name)
	}
}

func (u *LimitUsage) covers(key string) bool {
	return u.Kind == queue.TargetKey && u.Name == key ||
		u.Kind == queue.TargetKeyPrefix && strings.HasPrefix(key, u.Name)
}

// inForce returns the target whose limit applies to a key: its own, or that of the longest prefix.
func inForce(limits []queue.LimitStatus, key string) (target queue.Target) {
	for _, l := range limits {
		switch {
		case l.Limit == (queue.Limit{}):
		case l.Kind == queue.TargetKey && l.Name == key:
			return l.Target
		case l.Kind == queue.TargetKeyPrefix && strings.HasPrefix(key, l.Name) && len(l.Name) >= len(target.Name):
			target = l.Target
		}
	}
	return target
}

// String names the target for people.
func (u *LimitUsage) String() string {
	switch {
	case u.Target == queue.ForAll():
		return "all types"
	case u.Kind == queue.TargetKeyPrefix:
		return "limit keys that begin with " + u.Name
	case u.Kind == queue.TargetKey:
		return "limit key " + u.Name
	}
	return "type " + u.Name
}

// crowd is how many times as many jobs wait for a limit as may run when it is reported.
const crowd = 10

func checkLimits(ctx context.Context, q *queue.Queue, stats *Stats) ([]Finding, error) {
	usages, err := LimitUsages(ctx, q, stats)
	var findings []Finding
	for i := range usages {
		u := &usages[i]
		f := Finding{Severity: SeverityWarning, Subject: u.Name, Kind: u.Kind}
		switch {
		case u.Paused && u.Waiting > 0:
			f.Topic, f.Hint = TopicPaused, "resume it if that is not on purpose"
			f.Text = fmt.Sprintf("%s: paused, and %d jobs wait", u, u.Waiting)
		case len(u.Full) > 0 && u.Waiting >= crowd*u.MaxRunning*len(u.Full):
			f.Topic, f.Hint = TopicLimit, "raise the limit, or let them wait"
			f.Text = fmt.Sprintf("%s: %d of at most %d run, and %d jobs wait", u, u.Running, u.MaxRunning*len(u.Full),
				u.Waiting)
		default:
			continue
		}
		findings = append(findings, f)
	}
	return findings, err
}

// A job is stuck that runs for longLater times as long as others of its type, or for hugeRun if nothing is known of
// those.
const (
	longLater  = 10
	hugeRun    = 6 * time.Hour
	stuckShown = 5
)

// checkRunning finds jobs that run for much longer than others of their types.
func checkRunning(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	auditor, err := auditorOf(q)
	if err != nil {
		return nil, err
	}
	running, err := auditor.LongestRunning(ctx, maxStuck)
	if err != nil || len(running) == 0 {
		return nil, err
	}
	stats, err := ReadStats(ctx, q, &StatsRequest{Window: 24 * time.Hour, MaxCount: 1000})
	if err != nil {
		return nil, err
	}
	usual := make(map[string]Latency)
	for i := range stats.Types {
		usual[stats.Types[i].Type] = stats.Types[i].Run
	}
	var findings []Finding
	for _, j := range running {
		ran, others := stats.At.Sub(j.StartedAt), usual[j.Type]
		most, like := hugeRun, ""
		if others.Sample > 0 {
			most = max(longWait, longLater*others.P95)
			like = fmt.Sprintf("; 95 %% of its type take at most %v", max(others.P95.Round(time.Millisecond), time.Millisecond))
		}
		if ran > most && len(findings) < stuckShown {
			findings = append(findings, Finding{Severity: SeverityWarning, Topic: TopicJob, Subject: j.ID,
				Text: fmt.Sprintf("job %s (%s) runs for %v%s", j.ID, j.Type, ran.Round(time.Second), like),
				Hint: "it may be stuck: cancel it, or wait"})
		}
	}
	return findings, nil
}

// maxStuck bounds the running jobs that are looked at.
const maxStuck = 100

// A RunningJob is a running job without its payload.
type RunningJob = driver.RunningJob

// LongestRunning returns at most limit running jobs without their payloads, first those that have started first; none
// for a driver that is no driver.Auditor.
func LongestRunning(ctx context.Context, q *queue.Queue, limit int) ([]RunningJob, error) {
	auditor, ok := driver.As[driver.Auditor](q.DB().Driver())
	if !ok {
		return nil, nil
	}
	running, err := auditor.LongestRunning(ctx, limit)
	return running, failed(ctx, q, "longest running", err)
}

// checkCrashes finds jobs whose workers have died more than once, if the driver is a driver.ErrorReader.
func checkCrashes(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	if _, ok := driver.As[driver.ErrorReader](q.DB().Driver()); !ok {
		return nil, nil
	}
	filter := queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: lookedAt * defaultErrors}
	var findings []Finding
	for e, err := range errorsOf(ctx, q, filter) {
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(e.Error, "worker ") || !strings.Contains(e.Error, " died") {
			continue
		}
		job, err := q.Job(ctx, e.JobID)
		if errors.Is(err, queue.ErrJobNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if job.Crashes > 1 {
			findings = append(findings, Finding{Severity: SeverityProblem, Topic: TopicJob, Subject: job.ID,
				Text: fmt.Sprintf("job %s (%s) has been running at the death of %d workers", job.ID, job.Type, job.Crashes),
				Hint: "it may be what kills them: cancel it until it is known"})
		}
		if len(findings) == stuckShown {
			break
		}
	}
	return findings, nil
}
