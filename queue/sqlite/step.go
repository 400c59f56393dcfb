package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// StartStep implements [driver.Stepper].
func (db *engine) StartStep(ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, jobsql.StartStep, lease.JobID, name, lease.Attempt, dbtime.Of(tx.Now()))
	return err
}

// FinishStep implements [driver.Stepper].
func (db *engine) FinishStep(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step driver.StepRecord,
) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, jobsql.FinishStep, lease.JobID, step.Name, lease.Attempt,
		dbtime.Of(step.StartedAt), dbtime.Of(tx.Now()), string(step.Result))
	return err
}

// SaveCursor implements [driver.Stepper].
func (db *engine) SaveCursor(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string, value json.RawMessage,
) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	err := tx.QueryRowContext(ctx, jobsql.SaveCursor, lease.JobID, name, lease.Attempt, dbtime.Of(tx.Now()),
		string(value)).Scan(new(string))
	if errors.Is(err, sql.ErrNoRows) {
		return driver.ErrStepFinished
	}
	return err
}

// AwaitSignal implements [driver.Signaler].
func (db *engine) AwaitSignal(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, want driver.Signal,
) (driver.Signal, error) {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return driver.Signal{}, err
	}
	return db.shared.AwaitSignal(ctx, tx, lease, want)
}

// AddLogs implements [driver.Finisher].
func (db *engine) AddLogs(ctx context.Context, tx *driver.WriteTx, lines []driver.LogLine) error {
	var rows jsonRows
	for i := range lines {
		l := &lines[i]
		rows.begin()
		rows.text(l.JobID)
		rows.int(l.Attempt)
		rows.int(l.Line)
		rows.time(l.At)
		rows.text(l.Level.String())
		rows.text(l.Message)
		rows.text(string(l.Attrs))
	}
	_, err := tx.ExecContext(ctx, insertLogs, rows.end())
	return err
}
