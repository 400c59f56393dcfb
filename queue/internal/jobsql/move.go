package jobsql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	holdJobs = `
UPDATE /*q.*/jobs
SET hold = ` + Moving + `
WHERE id IN (
  SELECT id
  FROM /*q.*/jobs
  WHERE state <> 'running'
    AND hold <> ` + Moving + `
    AND ` + nodeIsHeld + `
  ORDER BY id
  LIMIT $1)
  AND state <> 'running'`

	selectHeld = `
SELECT id
FROM /*q.*/jobs
WHERE hold = ` + Moving + `
ORDER BY id
LIMIT $1`

	selectNoted = `
SELECT job_id
FROM /*q.*/job_moves
ORDER BY job_id
LIMIT $1`

	// Each of these ends with a list of jobs.
	noteMoved = `
INSERT INTO /*q.*/job_moves (job_id)
SELECT id
FROM /*q.*/jobs
WHERE hold = ` + Moving + `
  AND `

	deleteHeld = `
DELETE FROM /*q.*/jobs
WHERE hold = ` + Moving + `
  AND `

	selectMoved = `
SELECT job_id
FROM /*q.*/job_moves
WHERE `

	deleteMoved = `
DELETE FROM /*q.*/job_moves
WHERE `

	// Of jobs that are not there, or have ended: nobody else would free them.
	deleteFreedKeys = `
DELETE FROM /*q.*/job_keys
WHERE scope IN ('unfinished', 'coalesce')
  AND NOT EXISTS (
    SELECT 1
    FROM /*q.*/jobs
    WHERE /*q.*/jobs.id = /*q.*/job_keys.job_id
      AND state IN ('queued', 'running'))
  AND `

	selectTakenKeys = `
SELECT idempotency_key
FROM /*q.*/jobs
WHERE ` + isWithoutKey

	dropTakenKeys = `
UPDATE /*q.*/jobs
SET idempotency_key = NULL,
  key_scope = NULL
WHERE ` + isWithoutKey

	// A held job that should have its key, and another one has it.
	isWithoutKey = `hold = ` + Moving + `
  AND idempotency_key IS NOT NULL
  AND (state IN ('queued', 'running') OR key_scope = 'forever')
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_keys WHERE /*q.*/job_keys.key = idempotency_key AND /*q.*/job_keys.job_id = /*q.*/jobs.id)
  AND EXISTS (SELECT 1 FROM /*q.*/job_keys WHERE /*q.*/job_keys.key = idempotency_key)
  AND `

	releaseHeld = `
UPDATE /*q.*/jobs
SET hold = CASE
  WHEN state <> 'queued' THEN ` + None + `
  WHEN ` + Waits + ` THEN ` + Waiting + `
  WHEN not_before > $1 THEN ` + Scheduled + `
  WHEN limit_key IS NOT NULL THEN ` + Limited + `
  ELSE ` + None + `
  END
WHERE hold = ` + Moving + `
  AND `

	selectLimitKeys = `
SELECT DISTINCT limit_key
FROM /*q.*/jobs
WHERE state = 'queued'
  AND hold = ` + Limited + `
  AND `
)

// HoldJobs implements [driver.MoveSource].
func (s *Store) HoldJobs(ctx context.Context, tx *driver.WriteTx, limit int) ([]string, error) {
	held, err := queryRows(ctx, tx, ScanText, selectHeld, limit)
	if err != nil || len(held) == limit {
		return held, err
	}
	if _, err := tx.ExecContext(ctx, holdJobs, limit-len(held)); err != nil {
		return nil, err
	}
	return queryRows(ctx, tx, ScanText, selectHeld, limit)
}

// HeldJobs implements [driver.MoveTarget].
func (s *Store) HeldJobs(ctx context.Context, limit int) ([]string, error) {
	return read(ctx, s, ScanText, selectHeld, limit)
}

// JobRows implements [driver.MoveSource].
func (s *Store) JobRows(ctx context.Context, name driver.Table, jobIDs []string) (driver.Rows, error) {
	t, err := tableOf(name)
	if err != nil || len(jobIDs) == 0 {
		return driver.Rows{}, err
	}
	list := s.about(t.selectFrom(name)+"\nWHERE ", t.jobID, jobIDs)
	values, err := read(ctx, s, t.scan, list.text.String(), list.args...)
	return driver.Rows{Columns: t.names(), Values: values}, err
}

// TableRows implements [driver.MoveSource].
func (s *Store) TableRows(ctx context.Context, name driver.Table, after *driver.Rows, limit int) (driver.Rows, error) {
	t, err := tableOf(name)
	if err != nil {
		return driver.Rows{}, err
	}
	page := &statement{dialect: s.Engine}
	page.add(t.selectFrom(name))
	next := "\nWHERE "
	if t.only != "" {
		page.add(next + t.only)
		next = "\n  AND "
	}
	key := strings.Join(t.names()[:t.keys], ", ")
	if after != nil && len(after.Values) > 0 {
		last := after.Values[len(after.Values)-1]
		page.add(next + "(" + key + ") > ")
		page.list(last[:t.keys])
	}
	page.add("\nORDER BY " + key + "\nLIMIT ")
	page.arg(limit)
	values, err := read(ctx, s, t.scan, page.text.String(), page.args...)
	return driver.Rows{Columns: t.names(), Values: values}, err
}

// InsertRows implements [driver.MoveTarget].
func (s *Store) InsertRows(
	ctx context.Context, tx *driver.WriteTx, name driver.Table, rows driver.Rows,
) (inserted int, err error) {
	if _, err := tableOf(name); err != nil {
		return 0, err
	}
	if err := checkRows(name, rows); err != nil {
		return 0, err
	}
	if len(rows.Values) > 0 && (name == driver.TableFlows || name == driver.TableTurns) {
		if err := s.countEnds(ctx, tx); err != nil {
			return 0, err
		}
	}
	for _, values := range rows.Values {
		insert := &statement{dialect: s.Engine}
		insert.add("INSERT INTO /*q.*/" + string(name) + " (" + strings.Join(rows.Columns, ", ") + ")\nVALUES ")
		insert.list(values)
		insert.add("\nON CONFLICT DO NOTHING")
		res, err := tx.ExecContext(ctx, insert.text.String(), insert.args...)
		if err != nil {
			return inserted, fmt.Errorf("%s: %w", name, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return inserted, err
		}
		inserted += int(n)
	}
	return inserted, nil
}

// checkRows refuses jobs that stand where no job can stand: no claim, list or count would find them.
func checkRows(name driver.Table, rows driver.Rows) error {
	state, hold := slices.Index(rows.Columns, "state"), slices.Index(rows.Columns, "hold")
	if name != driver.TableJobs || state < 0 || hold < 0 {
		return nil // where the database refuses or completes them
	}
	for _, values := range rows.Values {
		at, isText := values[state].(string)
		held, isNumber := values[hold].(int64)
		if !isText || !isNumber {
			return fmt.Errorf("%w: the state %v with a hold of %v", driver.ErrUnknownStanding, values[state],
				values[hold])
		}
		if _, err := driver.StandingFor(driver.State(at), driver.Hold(held)); err != nil {
			return err
		}
	}
	return nil
}

// RemoveHeld implements [driver.MoveSource].
func (s *Store) RemoveHeld(ctx context.Context, tx *driver.WriteTx, jobIDs []string) (moved []string, err error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	note := s.about(noteMoved, "id", jobIDs)
	// One that is canceled or retried before it is deleted would be noted, and run in both databases.
	note.add("\nORDER BY id" + s.forUpdate() + "\nON CONFLICT DO NOTHING")
	if _, err := tx.ExecContext(ctx, note.text.String(), note.args...); err != nil {
		return nil, err
	}
	if err := s.DropHeld(ctx, tx, jobIDs); err != nil {
		return nil, err
	}
	list := s.about(selectMoved, "job_id", jobIDs)
	return queryRows(ctx, tx, ScanText, list.text.String(), list.args...)
}

// MovedJobs implements [driver.MoveSource].
func (s *Store) MovedJobs(ctx context.Context, limit int) ([]string, error) {
	return read(ctx, s, ScanText, selectNoted, limit)
}

// ForgetMoved implements [driver.MoveSource].
func (s *Store) ForgetMoved(ctx context.Context, tx *driver.WriteTx, jobIDs []string) error {
	return s.exec(ctx, tx, deleteMoved, "job_id", jobIDs)
}

// DropHeld implements [driver.MoveTarget].
func (s *Store) DropHeld(ctx context.Context, tx *driver.WriteTx, jobIDs []string) error {
	if err := s.exec(ctx, tx, deleteHeld, "id", jobIDs); err != nil {
		return err
	}
	return s.exec(ctx, tx, deleteFreedKeys, "job_id", jobIDs)
}

// SettleKeys implements [driver.MoveTarget].
func (s *Store) SettleKeys(ctx context.Context, tx *driver.WriteTx, jobIDs []string) (taken []string, err error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	if err := s.exec(ctx, tx, deleteFreedKeys, "job_id", jobIDs); err != nil {
		return nil, err
	}
	list := s.about(selectTakenKeys, "id", jobIDs)
	if taken, err = queryRows(ctx, tx, ScanText, list.text.String(), list.args...); err != nil || len(taken) == 0 {
		return nil, err
	}
	slices.Sort(taken)
	return taken, s.exec(ctx, tx, dropTakenKeys, "id", jobIDs)
}

// ReleaseHeld implements [driver.MoveTarget].
func (s *Store) ReleaseHeld(ctx context.Context, tx *driver.WriteTx, jobIDs []string) error {
	if len(jobIDs) == 0 {
		return nil
	}
	release := &statement{dialect: s.Engine, args: []any{dbtime.Of(tx.Now())}}
	release.in(releaseHeld, "id", jobIDs)
	if _, err := tx.ExecContext(ctx, release.text.String(), release.args...); err != nil {
		return err
	}
	list := s.about(selectLimitKeys, "id", jobIDs)
	keys, err := queryRows(ctx, tx, ScanText, list.text.String(), list.args...)
	if err != nil || len(keys) == 0 {
		return err
	}
	// Also a key that is marked already: as long as this is not committed, a claim may take that mark off and not see
	// the jobs.
	return s.MarkKeys(ctx, tx, keys)
}

// about returns a statement that ends with the condition that the column is one of the jobs.
func (s *Store) about(text, column string, jobIDs []string) *statement {
	list := &statement{dialect: s.Engine}
	list.in(text, column, jobIDs)
	return list
}

func (s *Store) exec(ctx context.Context, tx *driver.WriteTx, text, column string, jobIDs []string) error {
	if len(jobIDs) == 0 {
		return nil
	}
	list := s.about(text, column, jobIDs)
	_, err := tx.ExecContext(ctx, list.text.String(), list.args...)
	return err
}
