package jobsql

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

const (
	scheduleColumns = `name, cron, zone, catch_up, type, payload_json, options_json, paused, next_at, last_at, created_at, updated_at`

	insertSchedule = `
INSERT INTO /*q.*/job_schedules (` + scheduleColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (name) DO NOTHING
RETURNING name`

	// Writing what is there locks the row, on engines that lock rows.
	lockSchedule = `
UPDATE /*q.*/job_schedules
SET paused = paused
WHERE name = $1
RETURNING ` + scheduleColumns

	// The name is set to itself so that the parameters stand in the order of the columns.
	updateSchedule = `
UPDATE /*q.*/job_schedules
SET name = $1,
  cron = $2,
  zone = $3,
  catch_up = $4,
  type = $5,
  payload_json = $6,
  options_json = $7,
  paused = $8,
  next_at = $9,
  last_at = $10,
  created_at = $11,
  updated_at = $12
WHERE name = $1
RETURNING name`

	deleteSchedule = `
DELETE FROM /*q.*/job_schedules
WHERE name = $1
RETURNING name`

	selectSchedules = `
SELECT ` + scheduleColumns + `
FROM /*q.*/job_schedules
ORDER BY name`

	// Both by the index job_schedules_next.
	selectDueSchedules = `
SELECT ` + scheduleColumns + `
FROM /*q.*/job_schedules
WHERE next_at <= $1
ORDER BY next_at, name`

	selectNextInstant = `
SELECT MIN(next_at)
FROM /*q.*/job_schedules
WHERE next_at > $1`
)

// AddSchedule implements [driver.Scheduler].
func (s *Store) AddSchedule(ctx context.Context, tx *driver.WriteTx, row driver.Schedule) (bool, error) {
	return writeSchedule(ctx, tx, insertSchedule, &row)
}

// UpdateSchedule implements [driver.Scheduler].
func (s *Store) UpdateSchedule(ctx context.Context, tx *driver.WriteTx, row driver.Schedule) error {
	found, err := writeSchedule(ctx, tx, updateSchedule, &row)
	return orNotFound(found, err)
}

// writeSchedule reports whether it has written a row.
func writeSchedule(ctx context.Context, tx *driver.WriteTx, statement string, s *driver.Schedule) (bool, error) {
	return answers(tx.QueryContext(ctx, statement, s.Name, s.Cron, s.Zone, s.CatchUp, s.Type, string(s.Payload),
		string(s.Options),
		s.Paused, dbtime.Of(s.NextAt), dbtime.Of(s.LastAt), dbtime.Of(s.CreatedAt), dbtime.Of(s.UpdatedAt)))
}

// DeleteSchedule implements [driver.Scheduler].
func (s *Store) DeleteSchedule(ctx context.Context, tx *driver.WriteTx, name string) error {
	found, err := answers(tx.QueryContext(ctx, deleteSchedule, name))
	return orNotFound(found, err)
}

// LockSchedule implements [driver.Scheduler].
func (s *Store) LockSchedule(ctx context.Context, tx *driver.WriteTx, name string) (*driver.Schedule, error) {
	list, err := queryRows(ctx, tx, scanSchedule, lockSchedule, name)
	if err = orNotFound(len(list) > 0, err); err != nil {
		return nil, err
	}
	return &list[0], nil
}

// Schedules implements [driver.Scheduler].
func (s *Store) Schedules(ctx context.Context) ([]driver.Schedule, error) {
	return read(ctx, s, scanSchedule, selectSchedules)
}

// DueSchedules implements [driver.Scheduler].
func (s *Store) DueSchedules(ctx context.Context, now time.Time) (due []driver.Schedule, next time.Time, err error) {
	if due, err = read(ctx, s, scanSchedule, selectDueSchedules, dbtime.Of(now)); err != nil {
		return nil, time.Time{}, err
	}
	next, err = s.instant(ctx, selectNextInstant, dbtime.Of(now))
	return due, next, err
}

func answers(rows *sql.Rows, err error) (bool, error) {
	names, err := Collect(rows, err, ScanText)
	return len(names) > 0, err
}

func orNotFound(found bool, err error) error {
	if err == nil && !found {
		err = driver.ErrScheduleNotFound
	}
	return err
}

func scanSchedule(row Scanner) (driver.Schedule, error) {
	var s driver.Schedule
	var payload, options []byte
	var next, last, created, updated Instant
	err := row.Scan(&s.Name, &s.Cron, &s.Zone, &s.CatchUp, &s.Type, &payload, &options,
		&s.Paused, &next, &last, &created, &updated)
	s.Payload, s.Options = payload, options
	s.NextAt, s.LastAt, s.CreatedAt, s.UpdatedAt = next.Time, last.Time, created.Time, updated.Time
	return s, err
}
