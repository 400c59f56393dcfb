package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// StartStep implements [driver.Stepper].
func (db *DB) StartStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, startStep, lease.JobID, name, lease.Attempt, dbtime.Of(tx.Now()))
	return err
}

// FinishStep implements [driver.Stepper].
func (db *DB) FinishStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step driver.StepRecord) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, finishStep, lease.JobID, step.Name, lease.Attempt,
		dbtime.Of(step.StartedAt), dbtime.Of(tx.Now()), string(step.Result))
	return err
}

// SaveCursor implements [driver.Stepper].
func (db *DB) SaveCursor(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string, value json.RawMessage) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	err := tx.QueryRowContext(ctx, saveCursor, lease.JobID, name, lease.Attempt, dbtime.Of(tx.Now()), string(value)).Scan(new(string))
	if errors.Is(err, sql.ErrNoRows) {
		return driver.ErrStepFinished
	}
	return err
}
