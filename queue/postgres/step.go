package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

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
func (db *engine) FinishStep(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step driver.StepRecord,
) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	return later(ctx, tx, jobsql.FinishStep, lease.JobID, step.Name, lease.Attempt, step.StartedAt, tx.Now(),
		string(step.Result))
}

// SaveCursor implements [driver.Stepper].
func (db *engine) SaveCursor(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, name string, value json.RawMessage,
) error {
	if err := db.LockLease(ctx, tx, lease); err != nil {
		return err
	}
	_, err := queryOne(ctx, tx, jobsql.ScanText, jobsql.SaveCursor, lease.JobID, name, lease.Attempt, tx.Now(),
		string(value))
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
	n := len(lines)
	ids, levels, messages := make([]string, n), make([]string, n), make([]string, n)
	attempts, numbers := make([]int, n), make([]int, n)
	at, attrs := make([]time.Time, n), make([]*string, n)
	for i := range lines {
		l := &lines[i]
		ids[i], attempts[i], numbers[i], at[i] = l.JobID, l.Attempt, l.Line, l.At
		levels[i], messages[i], attrs[i] = l.Level.String(), l.Message, nullText(string(l.Attrs))
	}
	return later(ctx, tx, insertLogs, ids, attempts, numbers, at, levels, messages, attrs)
}
