package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// StartStep implements [driver.Stepper].
func (db *engine) StartStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, jobsql.StartStep, lease.JobID, name, lease.Attempt, tx.Now())
}

// FinishStep implements [driver.Stepper].
func (db *engine) FinishStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step driver.StepRecord) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, jobsql.FinishStep, lease.JobID, step.Name, lease.Attempt, step.StartedAt, tx.Now(), string(step.Result))
}

// SaveCursor implements [driver.Stepper].
func (db *engine) SaveCursor(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string, value json.RawMessage) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := queryOne(ctx, tx, jobsql.ScanText, jobsql.SaveCursor, lease.JobID, name, lease.Attempt, tx.Now(), string(value))
	if errors.Is(err, sql.ErrNoRows) {
		return driver.ErrStepFinished
	}
	return err
}
