package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
)

// StartStep implements [driver.Stepper].
func (db *DB) StartStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, startStep, lease.JobID, name, lease.Attempt, tx.Now())
}

// FinishStep implements [driver.Stepper].
func (db *DB) FinishStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step driver.StepRecord) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, finishStep, lease.JobID, step.Name, lease.Attempt, step.StartedAt, tx.Now(), string(step.Result))
}

// SaveCursor implements [driver.Stepper].
func (db *DB) SaveCursor(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string, value json.RawMessage) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := queryOne(ctx, tx, scanText, saveCursor, lease.JobID, name, lease.Attempt, tx.Now(), string(value))
	if errors.Is(err, sql.ErrNoRows) {
		return driver.ErrStepFinished
	}
	return err
}
