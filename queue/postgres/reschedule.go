package postgres

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// The planner takes no index of queued jobs for that of the ids.
	lockQueued = `
WITH found AS (
  SELECT id AS job_id
  FROM /*q.*/jobs
  WHERE id = ANY($2)
    AND state IS NOT DISTINCT FROM 'queued'
    AND hold IS DISTINCT FROM ` + jobsql.Moving

	lockScheduled = lockQueued + `
    AND hold IS NOT DISTINCT FROM ` + jobsql.Scheduled

	// $3 is the instant of the transaction.
	rescheduleFound = `
  ORDER BY id
  FOR NO KEY UPDATE)
UPDATE /*q.*/jobs
SET hold = CASE WHEN hold = ` + jobsql.Waiting + ` THEN hold WHEN $1::timestamptz > $3::timestamptz THEN ` + jobsql.Scheduled + ` WHEN limit_key IS NULL THEN ` + jobsql.None + ` ELSE ` + jobsql.Limited + ` END,
  not_before = $1,
  updated_at = $3
FROM found
WHERE jobs.id = found.job_id
RETURNING jobs.id, limit_key`

	setPriority = lockQueued + `
    AND priority <> $1::int
  ORDER BY id
  FOR NO KEY UPDATE)
UPDATE /*q.*/jobs
SET priority = $1,
  updated_at = $3
FROM found
WHERE jobs.id = found.job_id
RETURNING jobs.id, limit_key`
)

var _ driver.Rescheduler = (*engine)(nil)

// RescheduleJobs implements [driver.Rescheduler].
func (db *engine) RescheduleJobs(
	ctx context.Context, tx *driver.WriteTx, jobIDs []string, notBefore time.Time,
) (changed []string, err error) {
	statement := lockQueued + rescheduleFound
	if notBefore.IsZero() {
		statement = lockScheduled + rescheduleFound
	}
	if notBefore.Before(tx.Now()) {
		notBefore = tx.Now()
	}
	return db.changeWaiting(ctx, tx, statement, notBefore, jobIDs, tx.Now())
}

// SetPriority implements [driver.Rescheduler].
func (db *engine) SetPriority(
	ctx context.Context, tx *driver.WriteTx, jobIDs []string, priority int,
) (changed []string, err error) {
	return db.changeWaiting(ctx, tx, setPriority, priority, jobIDs, tx.Now())
}

// changeWaiting changes when queued jobs run, and writes heads for those that wait for a limit key.
func (db *engine) changeWaiting(
	ctx context.Context, tx *driver.WriteTx, statement string, args ...any,
) (changed []string, err error) {
	keys := make(map[string]struct{})
	changed, err = query(ctx, tx, func(row jobsql.Scanner) (id string, err error) {
		var limitKey sql.NullString
		if err = row.Scan(&id, &limitKey); limitKey.String != "" {
			keys[limitKey.String] = struct{}{}
		}
		return id, err
	}, statement, args...)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	if len(keys) > 0 {
		err = later(ctx, tx, insertHeadsOfKeys, slices.Sorted(maps.Keys(keys)))
	}
	return changed, errors.Join(err, db.Notify(ctx, tx))
}
