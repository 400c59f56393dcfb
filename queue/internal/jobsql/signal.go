package jobsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	selectForSignal = `
SELECT state, hold, attempt
FROM /*q.*/jobs
WHERE id = $1`

	// The last signal of the name, and the first that is awaited. A number may have been passed over.
	selectNumbers = `
SELECT COALESCE(MAX(number), 0), COALESCE(MIN(CASE WHEN answered_at IS NULL THEN number END), 0)
FROM /*q.*/job_signals
WHERE job_id = $1
  AND name = $2`

	addSignal = `
INSERT INTO /*q.*/job_signals (job_id, name, number, answered_at, payload_json)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (job_id, name, number) DO UPDATE
SET answered_at = excluded.answered_at,
  payload_json = excluded.payload_json
RETURNING COALESCE(attempt, 0)`

	// Only what nobody has asked for yet, or has no answer, is of this attempt.
	awaitSignal = `
INSERT INTO /*q.*/job_signals (job_id, name, number, attempt, awaited_at, until_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (job_id, name, number) DO UPDATE
SET attempt = CASE
    WHEN /*q.*/job_signals.awaited_at IS NULL OR /*q.*/job_signals.answered_at IS NULL THEN excluded.attempt
    ELSE /*q.*/job_signals.attempt
    END,
  awaited_at = COALESCE(/*q.*/job_signals.awaited_at, excluded.awaited_at),
  answered_at = CASE
    WHEN /*q.*/job_signals.answered_at IS NULL AND /*q.*/job_signals.until_at <= excluded.awaited_at THEN excluded.awaited_at
    ELSE /*q.*/job_signals.answered_at
    END
RETURNING ` + signalColumns

	selectSignals = `
SELECT ` + signalColumns + `
FROM /*q.*/job_signals
WHERE job_id = $1
ORDER BY name, number`

	signalColumns = `job_id, name, number, attempt, awaited_at, until_at, answered_at, payload_json`

	// promoteAwaits ends the waits of queued jobs that have a bound.
	promoteAwaits = `
UPDATE /*q.*/job_signals
SET until_at = $1
WHERE answered_at IS NULL
  AND until_at > $1`
)

// mostSignals bounds the signals of one name of a job.
const mostSignals = 10_000

// AddSignal implements [driver.Signaler].
func (s *Store) AddSignal(ctx context.Context, tx *driver.WriteTx, sig driver.Signal) (awaited bool, err error) {
	attempt, queued, err := s.lockForSignal(ctx, tx, sig.JobID)
	if err != nil {
		return false, err
	}
	numbers, err := queryRows(ctx, tx, func(row Scanner) (n [2]int, err error) {
		err = row.Scan(&n[0], &n[1])
		return n, err
	}, selectNumbers, sig.JobID, sig.Name)
	if err != nil {
		return false, err
	}
	number := numbers[0][1]
	if number == 0 {
		number = numbers[0][0] + 1
	}
	if number > mostSignals {
		return false, fmt.Errorf("the job has %d signals of this name; no more are kept", mostSignals)
	}
	waits, err := queryRows(ctx, tx, func(row Scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, addSignal, sig.JobID, sig.Name, number, dbtime.Of(sig.AnsweredAt), string(sig.Payload))
	if err != nil {
		return false, err
	}
	return queued && waits[0] == attempt && attempt > 0, nil
}

// lockForSignal locks the row of a job that takes signals.
func (s *Store) lockForSignal(
	ctx context.Context, tx *driver.WriteTx, id string,
) (attempt int, queued bool, err error) {
	query := selectForSignal
	if s.Engine == driver.Postgres {
		query += "\nFOR NO KEY UPDATE"
	}
	type standing struct {
		driver.Standing
		attempt int
	}
	found, err := queryRows(ctx, tx, func(row Scanner) (at standing, err error) {
		err = row.Scan(&at.State, &at.Hold, &at.attempt)
		return at, err
	}, query, id)
	switch {
	case err != nil:
		return 0, false, err
	case len(found) == 0:
		return 0, false, driver.ErrJobNotFound
	case found[0].Hold == driver.HoldMoving:
		return 0, false, driver.ErrJobMoves
	case found[0].State.Finished():
		return 0, false, driver.ErrFinished
	}
	return found[0].attempt, found[0].State == driver.StateQueued, nil
}

// AwaitSignal is [driver.Signaler]'s for a lease that is held.
func (s *Store) AwaitSignal(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, want driver.Signal,
) (driver.Signal, error) {
	stored, err := queryRows(ctx, tx, ScanSignal, awaitSignal, lease.JobID, want.Name, want.Number, lease.Attempt,
		dbtime.Of(want.AwaitedAt), dbtime.Of(want.Until))
	if err == nil && len(stored) != 1 {
		err = errors.New("awaiting a signal returned no row")
	}
	if err != nil {
		return driver.Signal{}, err
	}
	return stored[0], nil
}

// Signals implements [driver.Signaler].
func (s *Store) Signals(ctx context.Context, jobID string) ([]driver.Signal, error) {
	return read(ctx, s, ScanSignal, selectSignals, jobID)
}

// ScanSignal reads signalColumns.
func ScanSignal(row Scanner) (driver.Signal, error) {
	var s driver.Signal
	var attempt sql.NullInt64
	var awaited, until, answered Instant
	var payload []byte
	err := row.Scan(&s.JobID, &s.Name, &s.Number, &attempt, &awaited, &until, &answered, &payload)
	s.Attempt, s.AwaitedAt, s.Until, s.AnsweredAt = int(attempt.Int64), awaited.Time, until.Time, answered.Time
	if payload != nil {
		s.Payload = payload
	}
	return s, err
}
