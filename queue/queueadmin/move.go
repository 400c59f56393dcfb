package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// MoveConfig is how [Move] moves; the zero value is the usual.
type MoveConfig struct {
	// Batch is how many jobs move at a time. Default 500; bounds 1 to 10,000.
	Batch int
	// Wait is how long to wait, without progress, for jobs that still run in the old database. Default 10 min. Negative:
	// not at all.
	Wait time.Duration
}

// A MoveReport is what [Move] has moved.
type MoveReport struct {
	Jobs      int
	Keys      int
	Schedules int
	// KeysTaken are keys that another job has in the new database already; the jobs that had them moved without.
	KeysTaken []string
}

// ErrStillRunning: jobs still run in the database that is being left.
var ErrStillRunning = errors.New("jobs still run in the old database")

// Move moves a live queue from one database to another, usually from SQLite to PostgreSQL: jobs in all states with their
// ids, keys, steps, attempts and log lines, schedules and limits. Both have been migrated.
//
// Dispatchers may go on in both: a job is taken out of reach in the old database before it is there in the new one, and
// can be claimed there only when it is gone here, so that it never runs twice, also when the process dies half way; calling
// Move again goes on. Jobs that run are waited for and move when they have ended. What is enqueued in the old database
// meanwhile moves too, until nothing is left: then let all programs enqueue into the new one, and call Move once more for
// what came last. A program that sets its schedules in the old database again sets them a second time: those come first. The
// keys stay in the old database as well, so that nothing that has moved is enqueued there again.
func Move(ctx context.Context, from, to driver.DB, cfg *MoveConfig) (MoveReport, error) {
	c := MoveConfig{Batch: 500, Wait: 10 * time.Minute}
	if cfg != nil && cfg.Batch != 0 {
		c.Batch = cfg.Batch
	}
	if cfg != nil && cfg.Wait != 0 {
		c.Wait = max(0, cfg.Wait)
	}
	if c.Batch < 1 || c.Batch > 10_000 {
		return MoveReport{}, fmt.Errorf("queueadmin: MoveConfig.Batch is %d; it must be within 1 and 10000", c.Batch)
	}
	m := &mover{from: from, to: to, cfg: c}
	if err := m.run(ctx); err != nil {
		return m.report, fmt.Errorf("queueadmin: move: %w", err)
	}
	return m.report, nil
}

type mover struct {
	from, to driver.DB
	cfg      MoveConfig
	report   MoveReport
}

func (m *mover) run(ctx context.Context) error {
	if err := apart(ctx, m.from, m.to); err != nil {
		return err
	}
	for _, t := range []table{limitsTable, ratesTable} {
		if _, err := m.copyAll(ctx, t); err != nil {
			return err
		}
	}
	if err := m.moveSchedules(ctx); err != nil {
		return err
	}
	if err := m.moveJobs(ctx); err != nil {
		return err
	}
	// Those of jobs that are gone long since.
	n, err := m.copyAll(ctx, lastingKeys())
	m.report.Keys += n
	return err
}

func (m *mover) moveJobs(ctx context.Context) error {
	// What an earlier call has left out of reach.
	if err := m.release(ctx, nil); err != nil {
		return err
	}
	deadline := time.Now().Add(m.cfg.Wait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		moved, err := m.moveBatch(ctx)
		if err != nil {
			return err
		}
		if moved > 0 {
			deadline, pause = time.Now().Add(m.cfg.Wait), 5*time.Millisecond
			continue
		}
		var left int
		if err := m.from.Reader().GetContext(ctx, &left, "SELECT COUNT(*) FROM jobs"); err != nil || left == 0 {
			return err
		}
		if !time.Now().Before(deadline) {
			return fmt.Errorf("%w: %d jobs; call Move again when they have ended", ErrStillRunning, left)
		}
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// moveBatch moves some jobs that do not run, in four commits. After each the process may die: a job that can be claimed is
// in one database only, and one that is out of reach is found by the next call.
func (m *mover) moveBatch(ctx context.Context) (int, error) {
	ids, err := m.hold(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := m.insert(ctx, ids); err != nil {
		return 0, err
	}
	kept, err := m.remove(ctx, ids)
	if err != nil {
		return 0, err
	}
	// Canceled, or retried, since they were held: they come again as what they are now.
	if err := m.undo(ctx, kept); err != nil {
		return 0, err
	}
	moved := len(ids) - len(kept)
	m.report.Jobs += moved
	return moved, m.release(ctx, ids)
}

const (
	holdMovable = `
UPDATE jobs
SET hold = 3
WHERE id IN (
  SELECT id
  FROM jobs
  WHERE state <> 'running'
  ORDER BY id
  LIMIT $1)
  AND state <> 'running'`

	selectHeldJobs = `
SELECT id
FROM jobs
WHERE hold = 3
ORDER BY id
LIMIT $1`

	removeHeld = `
DELETE FROM jobs
WHERE hold = 3
  AND id IN (?)`

	// Of jobs that are not there, or have ended since: nobody else would free them.
	dropFreedKeys = `
DELETE FROM job_keys
WHERE scope IN ('unfinished', 'coalesce')
  AND job_id IN (?)
  AND NOT EXISTS (
    SELECT 1
    FROM jobs
    WHERE jobs.id = job_keys.job_id
      AND state IN ('queued', 'running'))`

	selectLeft = `
SELECT id
FROM jobs
WHERE id IN (?)`

	releaseJobs = `
UPDATE jobs
SET hold = CASE
  WHEN state <> 'queued' THEN 0
  WHEN not_before > ? THEN 1
  WHEN limit_key IS NOT NULL THEN 2
  ELSE 0
  END
WHERE hold = 3
  AND id IN (?)`

	// That of coalescing keys comes with the first of them, which may have been enqueued since the limits were copied.
	limitReleased = `
INSERT INTO job_limits (kind, name, paused, max_running, updated_at)
SELECT 'prefix', '` + driver.CoalescePrefix + `', FALSE, 1, ?
WHERE EXISTS (
  SELECT 1
  FROM jobs
  WHERE limit_key LIKE '` + driver.CoalescePrefix + `%'
    AND id IN (?))
ON CONFLICT (kind, name) DO NOTHING`

	// Also a key that is marked already: as long as this is not committed, a claim may take that mark off and not see the jobs,
	// or the mark may be due later, by a limit that is there no more.
	markReleased = `
INSERT INTO job_admissions (due_at, limit_key)
SELECT MIN(not_before), limit_key
FROM jobs
WHERE hold = 2
  AND id IN (?)
GROUP BY limit_key`

	// On SQLite a key is there once.
	markedOnce = `
ON CONFLICT (limit_key) DO UPDATE
SET due_at = MIN(due_at, excluded.due_at)`
)

// hold takes jobs out of reach in the old database: a hold of 3 is one that no claim looks at.
func (m *mover) hold(ctx context.Context) (ids []string, err error) {
	err = driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		ids = ids[:0]
		if _, err := tx.ExecContext(ctx, holdMovable, m.cfg.Batch); err != nil {
			return err
		}
		return dbquery.Select(ctx, tx, &ids, selectHeldJobs, m.cfg.Batch)
	})
	return ids, err
}

func (m *mover) insert(ctx context.Context, ids []string) error {
	var rows [][][]any
	tables := []table{jobsTable, stepsTable, attemptsTable, logsTable, keysTable}
	for _, t := range tables {
		some, err := t.read(ctx, m.from, ids)
		if err != nil {
			return err
		}
		rows = append(rows, some)
	}
	return driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		for i, t := range tables {
			n, err := t.write(ctx, tx, rows[i])
			if err != nil {
				return err
			}
			if t.name == keysTable.name {
				m.report.Keys += n
			}
		}
		if err := execIn(ctx, tx, dropFreedKeys, ids); err != nil {
			return err
		}
		return m.dropTakenKeys(ctx, tx, ids)
	})
}

// dropTakenKeys lets go of keys that belong to other jobs in the new database.
func (m *mover) dropTakenKeys(ctx context.Context, tx *driver.WriteTx, ids []string) error {
	var taken []struct {
		ID  string `db:"id"`
		Key string `db:"idempotency_key"`
	}
	query, args, err := inQuery(tx.Dialect(), `
SELECT id, idempotency_key
FROM jobs
WHERE idempotency_key IS NOT NULL
  AND (state IN ('queued', 'running') OR key_scope = 'forever')
  AND id IN (?)
  AND NOT EXISTS (SELECT 1 FROM job_keys WHERE job_keys.key = idempotency_key AND job_keys.job_id = jobs.id)
  AND EXISTS (SELECT 1 FROM job_keys WHERE job_keys.key = idempotency_key)`, ids)
	if err != nil {
		return err
	}
	if err := dbquery.Select(ctx, tx, &taken, query, args...); err != nil || len(taken) == 0 {
		return err
	}
	without := make([]string, len(taken))
	for i, t := range taken {
		without[i] = t.ID
		m.report.KeysTaken = append(m.report.KeysTaken, t.Key)
	}
	return execIn(ctx, tx, `UPDATE jobs SET idempotency_key = NULL, key_scope = NULL WHERE id IN (?) AND hold = 3`, without)
}

// remove deletes what is still held from the old database, and returns what is not.
func (m *mover) remove(ctx context.Context, ids []string) (kept []string, err error) {
	err = driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		kept = kept[:0]
		if err := execIn(ctx, tx, removeHeld, ids); err != nil {
			return err
		}
		query, args, err := inQuery(tx.Dialect(), selectLeft, ids)
		if err != nil {
			return err
		}
		return dbquery.Select(ctx, tx, &kept, query, args...)
	})
	return kept, err
}

func (m *mover) undo(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := execIn(ctx, tx, removeHeld, ids); err != nil {
			return err
		}
		return execIn(ctx, tx, dropFreedKeys, ids)
	})
}

// release lets the new database claim what has moved: the given jobs or, for nil, all that an earlier call has left held
// there and that the old database does not have.
func (m *mover) release(ctx context.Context, ids []string) error {
	if ids != nil {
		return m.releaseOnly(ctx, ids)
	}
	for {
		var held []string
		if err := m.to.Reader().SelectContext(ctx, &held, selectHeldJobs, m.cfg.Batch); err != nil || len(held) == 0 {
			return err
		}
		kept, err := m.remove(ctx, held)
		if err != nil {
			return err
		}
		if err := m.undo(ctx, kept); err != nil {
			return err
		}
		if err := m.releaseOnly(ctx, held); err != nil {
			return err
		}
	}
}

func (m *mover) releaseOnly(ctx context.Context, ids []string) error {
	return driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := execIn(ctx, tx, releaseJobs, dbtime.Of(tx.Now()), ids); err != nil {
			return err
		}
		if err := execIn(ctx, tx, limitReleased, dbtime.Of(tx.Now()), ids); err != nil {
			return err
		}
		mark := markReleased
		if tx.Dialect() == driver.SQLite {
			mark += markedOnce
		}
		if err := execIn(ctx, tx, mark, ids); err != nil {
			return err
		}
		return m.notify(ctx, tx)
	})
}

// notify wakes those who work on the new database.
func (m *mover) notify(ctx context.Context, tx *driver.WriteTx) error {
	if waker, ok := m.to.(driver.Notifier); ok {
		return waker.Notify(ctx, tx)
	}
	return nil
}

// copyAll copies a table by portions, in the order of its key, and leaves what the new database has.
func (m *mover) copyAll(ctx context.Context, t table) (copied int, err error) {
	for after := []any(nil); ; {
		rows, err := t.page(ctx, m.from, after, m.cfg.Batch)
		if err != nil || len(rows) == 0 {
			return copied, err
		}
		after = rows[len(rows)-1]
		err = driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
			n, err := t.write(ctx, tx, rows)
			copied += n
			return err
		})
		if err != nil {
			return copied, err
		}
	}
}

// execIn runs a statement whose last argument is a list.
func execIn(ctx context.Context, tx *driver.WriteTx, statement string, args ...any) error {
	query, args, err := inQuery(tx.Dialect(), statement, args...)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, query, args...)
	return err
}

func inQuery(dialect driver.Dialect, statement string, args ...any) (string, []any, error) {
	query, args, err := sqlx.In(statement, args...)
	if err != nil {
		return "", nil, err
	}
	if dialect == driver.Postgres {
		query = sqlx.Rebind(sqlx.DOLLAR, query)
	}
	return strings.TrimSpace(query), args, nil
}
