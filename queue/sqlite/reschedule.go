package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// $3 is the instant of the transaction.
	rescheduleJobs = `
UPDATE /*q.*/jobs
SET hold = CASE WHEN hold = ` + jobsql.Waiting + ` THEN hold WHEN $1 > $3 THEN ` + jobsql.Scheduled + ` ELSE ` + holdOfDue + ` END,
  not_before = $1,
  updated_at = $3` + ofQueued

	setPriority = `
UPDATE /*q.*/jobs
SET priority = $1,
  updated_at = $3` + ofQueued + `
  AND priority <> $1`

	ofQueued = `
WHERE id IN (SELECT value FROM json_each($2))
  AND +state = 'queued'
  AND +hold <> ` + jobsql.Moving

	onlyScheduled = `
  AND +hold = ` + jobsql.Scheduled

	returningWaiting = `
RETURNING id, limit_key`
)

var _ driver.Rescheduler = (*engine)(nil)

// RescheduleJobs implements [driver.Rescheduler].
func (db *engine) RescheduleJobs(
	ctx context.Context, tx *driver.WriteTx, jobIDs []string, notBefore time.Time,
) (changed []string, err error) {
	statement := rescheduleJobs + returningWaiting
	if notBefore.IsZero() {
		statement = rescheduleJobs + onlyScheduled + returningWaiting
	}
	if notBefore.Before(tx.Now()) {
		notBefore = tx.Now()
	}
	return db.changeWaiting(ctx, tx, statement, dbtime.Of(notBefore), list(jobIDs), dbtime.Of(tx.Now()))
}

// SetPriority implements [driver.Rescheduler].
func (db *engine) SetPriority(
	ctx context.Context, tx *driver.WriteTx, jobIDs []string, priority int,
) (changed []string, err error) {
	return db.changeWaiting(ctx, tx, setPriority+returningWaiting, priority, list(jobIDs), dbtime.Of(tx.Now()))
}

// changeWaiting changes when queued jobs run, and marks the limit keys under which they wait.
func (db *engine) changeWaiting(
	ctx context.Context, tx *driver.WriteTx, statement string, args ...any,
) (changed []string, err error) {
	keys := newMarks()
	rows, err := tx.QueryContext(ctx, statement, args...)
	changed, err = jobsql.Collect(rows, err, func(row jobsql.Scanner) (id string, err error) {
		var limitKey sql.NullString
		err = row.Scan(&id, &limitKey)
		keys.add(limitKey.String)
		return id, err
	})
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return changed, errors.Join(keys.write(ctx, tx), db.Notify(ctx, tx))
}
