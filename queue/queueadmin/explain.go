package queueadmin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A Cause is why a job does not run, for programs.
type Cause string

// The causes.
const (
	CauseFinished   Cause = "finished"   // it has completed, failed or been canceled
	CauseRunning    Cause = "running"    // it does run
	CauseScheduled  Cause = "scheduled"  // its time has not come
	CauseRetry      Cause = "retry"      // it waits for its next attempt
	CauseExpired    Cause = "expired"    // it is past its ExpiresAt, and will be canceled
	CausePaused     Cause = "paused"     // its type, all types or its limit key are paused
	CauseTypeLimit  Cause = "type_limit" // its type has no room over all machines
	CauseKeyLimit   Cause = "key_limit"  // its limit key has no room
	CauseMoving     Cause = "moving"     // Copy has taken it out of reach
	CauseNoWorker   Cause = "no_worker"  // no process is registered that could run it
	CauseUnhandled  Cause = "unhandled"  // processes are registered, and none handles its type
	CauseBehind     Cause = "behind"     // jobs of its type are ahead of it
	CauseNextInLine Cause = "next"       // nothing is in its way
)

// A Reason is one cause, with what there is to know of it.
type Reason struct {
	Cause Cause
	Text  string
	Until time.Time // when it is over, if that is known
}

// An Explanation tells why a job does not run.
type Explanation struct {
	Job     *queue.Job
	Reasons []Reason // the weightiest first; at least one
}

// String is the explanation in words, a line for each reason.
func (e *Explanation) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s is %s", e.Job.Type, e.Job.ID, e.Job.State)
	for _, r := range e.Reasons {
		s.WriteString("\n- " + r.Text)
		if !r.Until.IsZero() {
			s.WriteString(" (until " + r.Until.Format(time.RFC3339) + ")")
		}
	}
	return s.String()
}

// Explain tells why a job does not run, in words and as data. It only reads.
func Explain(ctx context.Context, q *queue.Queue, jobID string) (*Explanation, error) {
	job, err := q.Job(ctx, jobID)
	if err != nil {
		return nil, wrap("explain", jobID, err)
	}
	e := &explainer{q: q, job: job, now: driver.Now(q.DB())}
	if err := e.explain(ctx); err != nil {
		return nil, wrap("explain", jobID, err)
	}
	return &Explanation{Job: job, Reasons: e.reasons}, nil
}

type explainer struct {
	q       *queue.Queue
	job     *queue.Job
	now     time.Time
	reasons []Reason
}

func (e *explainer) addf(cause Cause, until time.Time, format string, args ...any) {
	e.reasons = append(e.reasons, Reason{Cause: cause, Until: until, Text: fmt.Sprintf(format, args...)})
}

func (e *explainer) explain(ctx context.Context) error {
	if e.job.State != queue.StateQueued {
		e.notQueued()
		return nil
	}
	for _, look := range []func(context.Context) error{e.time, e.limits, e.workers, e.line} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *explainer) notQueued() {
	j := e.job
	switch j.State {
	case queue.StateRunning:
		e.addf(CauseRunning, time.Time{}, "it runs: attempt %d, on %s, since %s", j.Attempt, j.WorkerID, j.StartedAt.Format(time.RFC3339))
	case queue.StateCompleted:
		e.addf(CauseFinished, time.Time{}, "it has completed at %s, in attempt %d", j.FinishedAt.Format(time.RFC3339), j.Attempt)
	default:
		e.addf(CauseFinished, time.Time{}, "it has %s at %s, after %d failures (of %d), %d interruptions and %d crashes: %s",
			map[queue.State]string{queue.StateFailed: "failed", queue.StateCanceled: "been canceled"}[j.State], j.FinishedAt.Format(time.RFC3339),
			j.Failures, j.MaxAttempts, j.Interruptions, j.Crashes, orElse(j.LastError, "no error is on record"))
	}
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

const selectHold = `
SELECT hold
FROM jobs
WHERE id = $1`

func (e *explainer) time(ctx context.Context) error {
	var hold int
	if err := driverOf(e.q).Reader().GetContext(ctx, &hold, selectHold, e.job.ID); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if hold == 3 {
		e.addf(CauseMoving, time.Time{}, "it is being moved to another database by queueadmin.Move; if that has died, call it again")
	}
	if !e.job.ExpiresAt.IsZero() && !e.job.ExpiresAt.After(e.now) {
		e.addf(CauseExpired, time.Time{}, "it expired at %s and will be canceled", e.job.ExpiresAt.Format(time.RFC3339))
	}
	switch {
	case !e.job.NotBefore.After(e.now):
	case e.job.Attempt > 0:
		e.addf(CauseRetry, e.job.NotBefore, "attempt %d ended with: %s; it waits for the next one", e.job.Attempt, orElse(e.job.LastError, "no error"))
	default:
		e.addf(CauseScheduled, e.job.NotBefore, "it is scheduled for later")
	}
	return nil
}

type limitRow struct {
	Kind       string        `db:"kind"`
	Name       string        `db:"name"`
	Paused     bool          `db:"paused"`
	MaxRunning sql.NullInt64 `db:"max_running"`
	Rate       sql.NullInt64 `db:"rate"`
	Period     sql.NullInt64 `db:"period_us"`
	Burst      sql.NullInt64 `db:"burst"`
	Arrival    dbtime.Time   `db:"arrival"`
	Running    int           `db:"running"`
}

// The limits that bear on a job: of its type, of all types, of its limit key and of the beginnings of that. A rate by
// prefix is kept for each key.
const selectLimitsOn = `
SELECT l.kind, l.name, l.paused, l.max_running, l.rate, l.period_us, l.burst, r.arrival,
  CASE l.kind
    WHEN 'type' THEN (SELECT COUNT(*) FROM jobs WHERE state = 'running' AND type = l.name)
    ELSE (SELECT COUNT(*) FROM jobs WHERE state = 'running' AND limit_key = $1)
  END AS running
FROM job_limits AS l
LEFT JOIN job_rates AS r
  ON (l.kind = 'type' AND r.kind = 'type' AND r.name = l.name)
  OR (l.kind <> 'type' AND r.kind = 'key' AND r.name = $1)
WHERE (l.kind = 'type' AND l.name IN ($2, '*'))
  OR (l.kind = 'key' AND l.name = $1)
  OR (l.kind = 'prefix' AND l.name = substr($1, 1, LENGTH(l.name)))
ORDER BY l.kind, LENGTH(l.name) DESC`

func (e *explainer) limits(ctx context.Context) error {
	var rows []limitRow
	if err := driverOf(e.q).Reader().SelectContext(ctx, &rows, selectLimitsOn, e.job.LimitKey, e.job.Type); err != nil {
		return err
	}
	keyed := false
	for i := range rows {
		l := &rows[i]
		if l.Kind == "type" {
			e.limit(l, CauseTypeLimit, "type "+l.Name)
			continue
		}
		// The first limit is the one that holds: the key's own, else that of its longest beginning. A pause is always one.
		switch {
		case e.job.LimitKey == "":
		case !keyed:
			e.limit(l, CauseKeyLimit, "limit key "+e.job.LimitKey)
		case l.Paused:
			e.addf(CausePaused, time.Time{}, "limit keys that begin with %s: paused", l.Name)
		}
		keyed = true
	}
	return nil
}

func (e *explainer) limit(l *limitRow, cause Cause, what string) {
	if l.Paused {
		if l.Name == driver.AllTypes {
			what = "all types"
		}
		e.addf(CausePaused, time.Time{}, "%s: paused", what)
	}
	if l.MaxRunning.Valid && int64(l.Running) >= l.MaxRunning.Int64 {
		e.addf(cause, time.Time{}, "%s: %d of at most %d run", what, l.Running, l.MaxRunning.Int64)
	}
	rate := joblimit.Limit{Rate: int(l.Rate.Int64), Period: time.Duration(l.Period.Int64) * time.Microsecond, Burst: int(l.Burst.Int64)}
	if room, again := rate.Room(0, l.Arrival.Time, e.now); room == 0 {
		e.addf(cause, again, "%s: at most %d start in %v", what, rate.Rate, rate.Period)
	}
}

func (e *explainer) workers(ctx context.Context) error {
	workers, err := driverOf(e.q).Workers(ctx)
	if err != nil {
		return err
	}
	workers = slices.DeleteFunc(workers, func(w driver.Worker) bool { return w.Beat < 0 })
	if len(workers) == 0 {
		e.addf(CauseNoWorker, time.Time{}, "no process is registered that runs jobs: start a Dispatcher on this database")
		return nil
	}
	if !slices.ContainsFunc(workers, func(w driver.Worker) bool { return w.Types == nil || slices.Contains(w.Types, e.job.Type) }) {
		e.addf(CauseUnhandled, time.Time{}, "%d processes run jobs, and none of them has a handler for %s", len(workers), e.job.Type)
	}
	return nil
}

// Ready jobs, and those that wait for the same limit key.
const countAhead = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM jobs
  WHERE state = 'queued'
    AND hold = 0
    AND type = $1
    AND (priority > $2 OR (priority = $2 AND (not_before, id) < ($3, $4)))
  UNION ALL
  SELECT 1
  FROM jobs
  WHERE state = 'queued'
    AND hold = 2
    AND limit_key = $5
    AND type = $1
    AND (priority > $2 OR (priority = $2 AND (not_before, id) < ($3, $4)))
  LIMIT 1000) AS ahead`

// line tells how many are ahead, or that nothing is in the way.
func (e *explainer) line(ctx context.Context) error {
	var ahead int
	j := e.job
	err := driverOf(e.q).Reader().GetContext(ctx, &ahead, countAhead, j.Type, j.Priority, dbtime.Of(j.NotBefore), j.ID, j.LimitKey)
	switch {
	case err != nil:
		return err
	case j.NotBefore.After(e.now):
	case ahead == 1000:
		e.addf(CauseBehind, time.Time{}, "at least 1000 jobs of its type are ahead of it")
	case ahead > 0:
		e.addf(CauseBehind, time.Time{}, "%d jobs of its type are ahead of it", ahead)
	case len(e.reasons) == 0:
		e.addf(CauseNextInLine, time.Time{}, "nothing is in its way: the next free worker takes it")
	}
	return nil
}
