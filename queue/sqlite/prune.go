package sqlite

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// A step of the index jobs_finished for each type, and not for each job.
	selectFinished = `
WITH RECURSIVE types (type) AS (
  SELECT (
    SELECT type
    FROM jobs
    WHERE state = $1
      AND finished_at IS NOT NULL
    ORDER BY type
    LIMIT 1)
  UNION ALL
  SELECT (
    SELECT jobs.type
    FROM jobs
    WHERE state = $1
      AND finished_at IS NOT NULL
      AND jobs.type > types.type
    ORDER BY jobs.type
    LIMIT 1)
  FROM types
  WHERE type IS NOT NULL)
SELECT type, (
  SELECT MIN(finished_at)
  FROM jobs
  WHERE state = $1
    AND jobs.type = types.type
    AND finished_at IS NOT NULL)
FROM types
WHERE type IS NOT NULL`

	// Steps, attempts and logs go with their job.
	pruneJobs = `
DELETE FROM jobs
WHERE id IN (
  SELECT id
  FROM jobs
  WHERE state = $1
    AND type = $2
    AND finished_at < $3
  ORDER BY finished_at
  LIMIT $4)`

	pruneKeys = `
DELETE FROM job_keys
WHERE key IN (
  SELECT key
  FROM job_keys
  WHERE expires_at <= $1
  ORDER BY expires_at
  LIMIT $2)`

	pruneRates = `
DELETE FROM job_rates
WHERE (kind, name) IN (
  SELECT kind, name
  FROM job_rates
  WHERE arrival < $1
  LIMIT $2)`
)

// Finished implements [driver.Pruner].
func (db *DB) Finished(ctx context.Context, state driver.State) ([]driver.FinishedType, error) {
	rows, err := db.reader.QueryContext(ctx, selectFinished, string(state))
	return jobsql.Collect(rows, err, jobsql.ScanFinishedType)
}

// Prune implements [driver.Pruner].
func (db *DB) Prune(ctx context.Context, tx *driver.WriteTx, req driver.PruneRequest) (int, error) {
	return affected(tx.ExecContext(ctx, pruneJobs, string(req.State), req.Type, dbtime.Of(req.FinishedBefore), req.Limit))
}

// PruneKeys implements [driver.Pruner].
func (db *DB) PruneKeys(ctx context.Context, tx *driver.WriteTx, limit int) (int, error) {
	return affected(tx.ExecContext(ctx, pruneKeys, dbtime.Of(tx.Now()), limit))
}

// PruneRates implements [driver.Pruner].
func (db *DB) PruneRates(ctx context.Context, tx *driver.WriteTx, before time.Time, limit int) (int, error) {
	return affected(tx.ExecContext(ctx, pruneRates, dbtime.Of(before), limit))
}

func affected(res interface{ RowsAffected() (int64, error) }, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
