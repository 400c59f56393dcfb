package sqlite

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

const (
	// Steps, attempts and logs go with their job.
	pruneJobs = `
DELETE FROM /*q.*/jobs
WHERE id IN (
  SELECT id
  FROM /*q.*/jobs
  WHERE state = $1
    AND type = $2
    AND finished_at < $3
    AND ` + jobsql.NodeHasEnded + `
    AND ` + jobsql.StopsNothing + `
  ORDER BY finished_at
  LIMIT $4 + 0)`

	pruneKeys = `
DELETE FROM /*q.*/job_keys
WHERE key IN (
  SELECT key
  FROM /*q.*/job_keys
  WHERE expires_at <= $1
  ORDER BY expires_at
  LIMIT $2 + 0)`

	pruneRates = `
DELETE FROM /*q.*/job_rates
WHERE (kind, name) IN (
  SELECT kind, name
  FROM /*q.*/job_rates
  WHERE arrival < $1
  LIMIT $2 + 0)`
)

// Finished implements [driver.Pruner].
func (db *engine) Finished(ctx context.Context, state driver.State) ([]driver.FinishedType, error) {
	if err := driver.CheckFinished(state); err != nil {
		return nil, err
	}
	rows, err := db.query(ctx, jobsql.SelectFinished, string(state))
	return jobsql.Collect(rows, err, jobsql.ScanFinishedType)
}

// Prune implements [driver.Pruner].
func (db *engine) Prune(ctx context.Context, tx *driver.WriteTx, req driver.PruneRequest) (int, error) {
	if err := driver.CheckFinished(req.State); err != nil {
		return 0, err
	}
	return affected(tx.ExecContext(ctx, pruneJobs, string(req.State), req.Type, dbtime.Of(req.FinishedBefore),
		req.Limit))
}

// PruneKeys implements [driver.Pruner].
func (db *engine) PruneKeys(ctx context.Context, tx *driver.WriteTx, limit int) (int, error) {
	return affected(tx.ExecContext(ctx, pruneKeys, dbtime.Of(tx.Now()), limit))
}

// PruneRates implements [driver.Pruner].
func (db *engine) PruneRates(ctx context.Context, tx *driver.WriteTx, before time.Time, limit int) (int, error) {
	return affected(tx.ExecContext(ctx, pruneRates, dbtime.Of(before), limit))
}

func affected(res interface{ RowsAffected() (int64, error) }, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

var _ driver.Remover = (*engine)(nil)

// RemoveFinished implements [driver.Remover]. A job that is deleted may have stopped its sequence.
func (db *engine) RemoveFinished(
	ctx context.Context, tx *driver.WriteTx, req driver.RemoveRequest,
) (ids []string, err error) {
	if ids, err = db.shared.RemoveFinished(ctx, tx, req); err != nil || len(ids) == 0 {
		return ids, err
	}
	return ids, db.wakeLimited(ctx, tx, nil)
}
