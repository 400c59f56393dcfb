package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// Steps, attempts and logs go with their job. What others hold, such as another pruner, is left to them.
	pruneJobs = `
WITH pruned AS (
  DELETE FROM /*q.*/jobs
  WHERE id = ANY(ARRAY(
    SELECT id
    FROM /*q.*/jobs
    WHERE state = $1
      AND type = $2
      AND finished_at < $3
      AND ` + jobsql.NodeHasEnded + `
      AND ` + jobsql.StopsNothing + `
    ORDER BY finished_at
    LIMIT $4
    FOR UPDATE SKIP LOCKED))
  RETURNING 1)
SELECT COUNT(*)
FROM pruned`

	pruneKeys = `
WITH pruned AS (
  DELETE FROM /*q.*/job_keys
  WHERE key = ANY(ARRAY(
    SELECT key
    FROM /*q.*/job_keys
    WHERE expires_at <= $1
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED))
  RETURNING 1)
SELECT COUNT(*)
FROM pruned`

	// A claim that moves a rate on meanwhile keeps it.
	pruneRates = `
WITH pruned AS (
  DELETE FROM /*q.*/job_rates
  WHERE ctid = ANY(ARRAY(
    SELECT ctid
    FROM /*q.*/job_rates
    WHERE arrival < $1
    LIMIT $2
    FOR UPDATE SKIP LOCKED))
  RETURNING 1)
SELECT COUNT(*)
FROM pruned`
)

// Finished implements [driver.Pruner].
func (db *engine) Finished(ctx context.Context, state driver.State) ([]driver.FinishedType, error) {
	if err := driver.CheckFinished(state); err != nil {
		return nil, err
	}
	return read(ctx, db, jobsql.ScanFinishedType, jobsql.SelectFinished, string(state))
}

// Prune implements [driver.Pruner].
func (db *engine) Prune(ctx context.Context, tx *driver.WriteTx, req driver.PruneRequest) (int, error) {
	if err := driver.CheckFinished(req.State); err != nil {
		return 0, err
	}
	return queryOne(ctx, tx, scanCount, pruneJobs, string(req.State), req.Type, req.FinishedBefore, req.Limit)
}

// PruneKeys implements [driver.Pruner].
func (db *engine) PruneKeys(ctx context.Context, tx *driver.WriteTx, limit int) (int, error) {
	return queryOne(ctx, tx, scanCount, pruneKeys, tx.Now(), limit)
}

// PruneRates implements [driver.Pruner].
func (db *engine) PruneRates(ctx context.Context, tx *driver.WriteTx, before time.Time, limit int) (int, error) {
	return queryOne(ctx, tx, scanCount, pruneRates, before, limit)
}

func scanCount(row jobsql.Scanner) (n int, err error) {
	err = row.Scan(&n)
	return n, err
}
