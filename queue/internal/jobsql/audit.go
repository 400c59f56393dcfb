package jobsql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	summarizeTypes = `
SELECT type, COUNT(*), MIN(id), MIN(not_before)
FROM /*q.*/jobs
WHERE %s
GROUP BY type
ORDER BY type`

	selectJobsAt = `
SELECT id
FROM /*q.*/jobs
WHERE type = $1
  AND %s
LIMIT $2`

	selectStanding = `
SELECT state, hold
FROM /*q.*/jobs
WHERE id = $1`

	// The limits that bear on a job: of its type, of all types, of its limit key and of the prefixes of that. A rate by
	// prefix is kept for each key.
	selectLimitsOn = `
SELECT l.kind, l.name, l.paused, l.max_running, l.rate, l.period_us, l.burst, r.arrival,
  CASE l.kind
    WHEN 'type' THEN (SELECT COUNT(*) FROM /*q.*/jobs WHERE state = 'running' AND type = l.name)
    ELSE (SELECT COUNT(*) FROM /*q.*/jobs WHERE state = 'running' AND limit_key = $1)
  END AS running
FROM /*q.*/job_limits AS l
LEFT JOIN /*q.*/job_rates AS r
  ON (l.kind = 'type' AND r.kind = 'type' AND r.name = l.name)
  OR (l.kind <> 'type' AND r.kind = 'key' AND r.name = $1)
WHERE (l.kind = 'type' AND l.name IN ($2, '` + driver.AllTypes + `'))
  OR ($1 <> '' AND l.kind = 'key' AND l.name = $1)
  OR ($1 <> '' AND l.kind = 'prefix' AND l.name = substr($1, 1, LENGTH(l.name)))`

	// Uses the indexes jobs_occupying and jobs_waiting.
	selectKeyUses = `
SELECT limit_key, SUM(running), SUM(waiting)
FROM (
  SELECT limit_key, 1 AS running, 0 AS waiting FROM /*q.*/jobs WHERE state = 'running' AND limit_key IS NOT NULL
  UNION ALL
  SELECT limit_key, 0, 1
  FROM (SELECT limit_key FROM /*q.*/jobs WHERE state = 'queued' AND hold = ` + Limited + ` AND limit_key IS NOT NULL LIMIT $1) AS counted) AS uses
GROUP BY limit_key
ORDER BY limit_key`

	// Not more run than the processes have slots.
	selectLongestRunning = `
SELECT id, type, attempt, COALESCE(worker_id, ''), started_at
FROM /*q.*/jobs
WHERE state = 'running'
ORDER BY started_at, id
LIMIT $1`

	// Ready jobs, and those that wait for the same limit key.
	countAhead = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM /*q.*/jobs
  WHERE state = 'queued'
    AND hold = ` + None + `
    AND type = $1
    AND (priority > $2 OR (priority = $2 AND (not_before, id) < ($3, $4)))
  UNION ALL
  SELECT 1
  FROM /*q.*/jobs
  WHERE state = 'queued'
    AND hold = ` + Limited + `
    AND limit_key = $5
    AND type = $1
    AND (priority > $2 OR (priority = $2 AND (not_before, id) < ($3, $4)))
  LIMIT $6) AS ahead`
)

// TypesAt implements [driver.Auditor].
func (s *Store) TypesAt(ctx context.Context, at driver.Standing) ([]driver.TypeSummary, error) {
	at, err := driver.StandingFor(at.State, at.Hold)
	if err != nil {
		return nil, err
	}
	return read(ctx, s, func(row Scanner) (t driver.TypeSummary, err error) {
		var due Instant
		err = row.Scan(&t.Type, &t.Jobs, &t.First, &due)
		t.Due = due.Time
		return t, err
	}, fmt.Sprintf(summarizeTypes, condition(at)))
}

// JobsAt implements [driver.Auditor].
func (s *Store) JobsAt(ctx context.Context, at driver.Standing, jobType string, limit int) ([]string, error) {
	at, err := driver.StandingFor(at.State, at.Hold)
	if err != nil {
		return nil, err
	}
	return read(ctx, s, ScanText, fmt.Sprintf(selectJobsAt, condition(at)), jobType, limit)
}

// StandingOf implements [driver.Auditor].
func (s *Store) StandingOf(ctx context.Context, jobID string) (driver.Standing, error) {
	found, err := read(ctx, s, func(row Scanner) (at driver.Standing, err error) {
		err = row.Scan(&at.State, &at.Hold)
		return at, err
	}, selectStanding, jobID)
	if err != nil {
		return driver.Standing{}, err
	}
	if len(found) == 0 {
		return driver.Standing{}, driver.ErrJobNotFound
	}
	at, err := driver.StandingFor(found[0].State, found[0].Hold)
	if err != nil {
		return at, fmt.Errorf("job %s: %w", jobID, err)
	}
	return at, nil
}

// LimitsOn implements [driver.Auditor].
func (s *Store) LimitsOn(ctx context.Context, job *driver.Job, now time.Time) ([]driver.LimitUse, error) {
	uses, err := read(ctx, s, func(row Scanner) (driver.LimitUse, error) { return scanLimitUse(row, now) },
		selectLimitsOn, job.LimitKey, job.Type)
	slices.SortFunc(uses, func(a, b driver.LimitUse) int {
		return cmp.Or(cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(len(b.Name), len(a.Name)))
	})
	return uses, err
}

// KeyUses implements [driver.Auditor].
func (s *Store) KeyUses(ctx context.Context, limit int) ([]driver.KeyUse, error) {
	return read(ctx, s, func(row Scanner) (u driver.KeyUse, err error) {
		err = row.Scan(&u.Key, &u.Running, &u.Waiting)
		return u, err
	}, selectKeyUses, limit)
}

// LongestRunning implements [driver.Auditor].
func (s *Store) LongestRunning(ctx context.Context, limit int) ([]driver.RunningJob, error) {
	return read(ctx, s, func(row Scanner) (j driver.RunningJob, err error) {
		var started Instant
		err = row.Scan(&j.ID, &j.Type, &j.Attempt, &j.WorkerID, &started)
		j.StartedAt = started.Time
		return j, err
	}, selectLongestRunning, limit)
}

// order is that in which limits are looked for.
func order(k driver.TargetKind) int {
	return slices.Index([]driver.TargetKind{driver.TargetType, driver.TargetKey, driver.TargetKeyPrefix}, k)
}

func scanLimitUse(row Scanner, now time.Time) (u driver.LimitUse, err error) {
	var columns LimitColumns
	var arrival Instant
	if err := row.Scan(append(append([]any{&u.Kind, &u.Name}, columns.Dest()...), &arrival,
		&u.Running)...); err != nil {
		return u, err
	}
	limit := columns.Limit()
	u.Limit, u.Paused, u.Again = limit.Limit, limit.Paused, limit.NextStart(arrival.Time, now)
	return u, nil
}

// CountAhead implements [driver.Auditor].
func (s *Store) CountAhead(ctx context.Context, job *driver.Job, limit int) (int, error) {
	counts, err := read(ctx, s, func(row Scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, countAhead, job.Type, job.Priority, dbtime.Of(job.NotBefore), job.ID, job.LimitKey, limit)
	if err == nil && len(counts) != 1 {
		err = errors.New("counting jobs gave no number")
	}
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
