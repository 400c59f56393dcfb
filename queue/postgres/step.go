package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// StartStep implements [queue.Stepper].
func (db *DB) StartStep(ctx context.Context, tx *queue.Tx, lease queue.Lease, name string) error {
	if err := db.Check(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, startStep, lease.JobID, name, lease.Attempt, tx.Now())
}

// FinishStep implements [queue.Stepper].
func (db *DB) FinishStep(ctx context.Context, tx *queue.Tx, lease queue.Lease, step queue.StepRecord) error {
	if err := db.Check(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, finishStep, lease.JobID, step.Name, lease.Attempt, step.StartedAt, tx.Now(), string(step.Result))
}

// SaveCursor implements [queue.Stepper].
func (db *DB) SaveCursor(ctx context.Context, tx *queue.Tx, lease queue.Lease, name string, value json.RawMessage) error {
	if err := db.Check(ctx, tx, lease); err != nil {
		return err
	}
	_, err := queryOne(ctx, tx, scanText, saveCursor, lease.JobID, name, lease.Attempt, tx.Now(), string(value))
	if errors.Is(err, sql.ErrNoRows) {
		return queue.ErrStepFinished
	}
	return err
}

// Steps implements [queue.Stepper].
func (db *DB) Steps(ctx context.Context, jobID string) ([]queue.StepRecord, error) {
	return read(ctx, db, jobrow.Step, selectSteps, jobID)
}
