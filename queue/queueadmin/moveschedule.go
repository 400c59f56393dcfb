package queueadmin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

var schedulesTable = table{name: "job_schedules", keys: 1, columns: columns(
	"name", "cron", "zone", "catch_up", "type", "payload_json", "options_json").and(truth, "paused").and(instant,
	"next_at", "last_at", "created_at", "updated_at")}

// frozen begins the cron text of a schedule that is being moved. Such a one does not fire; what follows is when it would
// next have, and its own text.
const frozen = "moving "

const (
	freezeSchedule = `
UPDATE job_schedules
SET cron = $1,
  next_at = NULL
WHERE name = $2
  AND cron = $3
  AND COALESCE(next_at, created_at) = COALESCE($4, created_at)`

	deleteFrozen = `
DELETE FROM job_schedules
WHERE name = $1
  AND cron = $2`
)

// moveSchedules moves each in three commits: it is frozen here, set there, and deleted here. At no time does it fire in
// both databases, and it is lost in neither: what the process leaves behind when it dies is found by the next call.
func (m *mover) moveSchedules(ctx context.Context) error {
	for {
		rows, err := schedulesTable.page(ctx, m.from, nil, m.cfg.Batch)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := m.moveSchedule(ctx, row); err != nil {
				return fmt.Errorf("schedule %s: %w", textOf(row[0]).String, err)
			}
		}
	}
}

func (m *mover) moveSchedule(ctx context.Context, row []any) error {
	name, cron, next := textOf(row[0]).String, textOf(row[1]), instantOf(row[8])
	mark := cron.String
	if !strings.HasPrefix(mark, frozen) {
		mark = freezing(next.Time, cron.String)
		done, err := m.execOne(ctx, freezeSchedule, mark, name, cron.String, *next)
		if err != nil || !done {
			return err // it has fired, or was edited: it comes again as what it is now
		}
	}
	var err error
	if next.Time, cron.String, err = thawed(mark); err != nil {
		return err
	}
	err = driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		n, err := schedulesTable.write(ctx, tx, [][]any{row})
		m.report.Schedules += n
		if err != nil {
			return err
		}
		return m.notify(ctx, tx)
	})
	if err != nil {
		return err
	}
	_, err = m.execOne(ctx, deleteFrozen, name, mark)
	return err
}

func freezing(next time.Time, cron string) string {
	due := "-" // paused
	if !next.IsZero() {
		due = dbtime.Format(next)
	}
	return frozen + due + " " + cron
}

func thawed(mark string) (next time.Time, cron string, err error) {
	due, cron, _ := strings.Cut(strings.TrimPrefix(mark, frozen), " ")
	if due != "-" {
		next, err = time.Parse(dbtime.Layout, due)
	}
	return next, cron, err
}

// execOne changes at most one row of the old database, and tells whether it did.
func (m *mover) execOne(ctx context.Context, statement string, args ...any) (done bool, err error) {
	err = driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		res, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		done = n == 1
		return err
	})
	return done, err
}
