package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// StartStep implements [queue.Stepper].
func (db *DB) StartStep(ctx context.Context, tx *queue.Tx, lease queue.Lease, name string) error {
	if err := db.Check(ctx, tx, lease); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, startStep, lease.JobID, name, lease.Attempt, dbtime.Of(tx.Now()))
	return err
}

// FinishStep implements [queue.Stepper].
func (db *DB) FinishStep(ctx context.Context, tx *queue.Tx, lease queue.Lease, step queue.StepRecord) error {
	if err := db.Check(ctx, tx, lease); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, finishStep, lease.JobID, step.Name, lease.Attempt,
		dbtime.Of(step.StartedAt), dbtime.Of(tx.Now()), string(step.Result))
	return err
}

// SaveCursor implements [queue.Stepper].
func (db *DB) SaveCursor(ctx context.Context, tx *queue.Tx, lease queue.Lease, name string, value json.RawMessage) error {
	if err := db.Check(ctx, tx, lease); err != nil {
		return err
	}
	err := tx.QueryRowxContext(ctx, saveCursor, lease.JobID, name, lease.Attempt, dbtime.Of(tx.Now()), string(value)).Scan(new(string))
	if errors.Is(err, sql.ErrNoRows) {
		return queue.ErrStepFinished
	}
	return err
}

// Steps implements [queue.Stepper].
func (db *DB) Steps(ctx context.Context, jobID string) ([]queue.StepRecord, error) {
	rows, err := db.reader.QueryxContext(ctx, selectSteps, jobID)
	return jobrow.Collect(rows, err, jobrow.Step)
}
