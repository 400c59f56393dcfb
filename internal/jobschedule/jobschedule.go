// Package jobschedule keeps the queue's schedules, in SQL that every engine speaks.
package jobschedule

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

const (
	columns = `name, cron, zone, catch_up, type, payload_json, options_json, paused, next_at, last_at, created_at, updated_at`

	insertSchedule = `
INSERT INTO job_schedules (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (name) DO NOTHING
RETURNING name`

	// Writing what is there locks the row, on engines that lock rows.
	lockSchedule = `
UPDATE job_schedules
SET paused = paused
WHERE name = $1
RETURNING ` + columns

	// The name is set to itself so that the parameters stand in the order of [columns].
	updateSchedule = `
UPDATE job_schedules
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
DELETE FROM job_schedules
WHERE name = $1
RETURNING name`

	selectSchedules = `
SELECT ` + columns + `
FROM job_schedules
ORDER BY name`

	// Both by the index job_schedules_next.
	selectDueSchedules = `
SELECT ` + columns + `
FROM job_schedules
WHERE next_at <= $1
ORDER BY next_at, name`

	selectNextInstant = `
SELECT MIN(next_at)
FROM job_schedules
WHERE next_at > $1`
)

// Add implements AddSchedule of [queue.Scheduler].
func Add(ctx context.Context, tx *queue.Tx, s queue.StoredSchedule) (bool, error) {
	return write(ctx, tx, insertSchedule, &s)
}

// Update implements UpdateSchedule of [queue.Scheduler].
func Update(ctx context.Context, tx *queue.Tx, s queue.StoredSchedule) error {
	found, err := write(ctx, tx, updateSchedule, &s)
	return orNotFound(found, err)
}

// write tells whether it has written a row.
func write(ctx context.Context, tx *queue.Tx, statement string, s *queue.StoredSchedule) (bool, error) {
	payload, err := json.Marshal(s.Job.Payload)
	if err != nil {
		return false, err
	}
	options, err := json.Marshal(s.Job.Options) //nolint:musttag // the names of its fields are a promise to users already
	if err != nil {
		return false, err
	}
	return answers(tx.QueryxContext(ctx, statement, s.Name, s.Cron, s.Zone, string(s.CatchUp), s.Job.Type, string(payload), string(options),
		s.Paused, dbtime.Of(s.NextAt), dbtime.Of(s.LastAt), dbtime.Of(s.CreatedAt), dbtime.Of(s.UpdatedAt)))
}

// Delete implements DeleteSchedule of [queue.Scheduler].
func Delete(ctx context.Context, tx *queue.Tx, name string) error {
	found, err := answers(tx.QueryxContext(ctx, deleteSchedule, name))
	return orNotFound(found, err)
}

// Lock implements LockSchedule of [queue.Scheduler].
func Lock(ctx context.Context, tx *queue.Tx, name string) (*queue.StoredSchedule, error) {
	rows, err := tx.QueryxContext(ctx, lockSchedule, name)
	list, err := jobrow.Collect(rows, err, scan)
	if err = orNotFound(len(list) > 0, err); err != nil {
		return nil, err
	}
	return &list[0], nil
}

// List implements Schedules of [queue.Scheduler].
func List(ctx context.Context, reader *sqlx.DB) ([]queue.StoredSchedule, error) {
	rows, err := reader.QueryxContext(ctx, selectSchedules)
	return jobrow.Collect(rows, err, scan)
}

// Due implements DueSchedules of [queue.Scheduler].
func Due(ctx context.Context, reader *sqlx.DB, now time.Time) (due []queue.StoredSchedule, next time.Time, err error) {
	rows, err := reader.QueryxContext(ctx, selectDueSchedules, dbtime.Of(now))
	if due, err = jobrow.Collect(rows, err, scan); err != nil {
		return nil, time.Time{}, err
	}
	var first dbtime.Time
	err = reader.QueryRowxContext(ctx, selectNextInstant, dbtime.Of(now)).Scan(&first)
	return due, first.Time, err
}

func answers(rows *sqlx.Rows, err error) (bool, error) {
	names, err := jobrow.Collect(rows, err, func(row jobrow.Scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	})
	return len(names) > 0, err
}

func orNotFound(found bool, err error) error {
	if err == nil && !found {
		err = queue.ErrScheduleNotFound
	}
	return err
}

func scan(row jobrow.Scanner) (queue.StoredSchedule, error) {
	var s queue.StoredSchedule
	var payload, options []byte
	var next, last, created, updated dbtime.Time
	err := row.Scan(&s.Name, &s.Cron, &s.Zone, &s.CatchUp, &s.Job.Type, &payload, &options,
		&s.Paused, &next, &last, &created, &updated)
	if err != nil {
		return s, err
	}
	// One that cannot be read must not keep the others from firing.
	if err := json.Unmarshal(options, &s.Job.Options); err != nil { //nolint:musttag // as above
		s.Fault = fmt.Sprintf("its options_json: %v", err)
	}
	s.Job.Payload = json.RawMessage(payload)
	s.NextAt, s.LastAt, s.CreatedAt, s.UpdatedAt = next.Time, last.Time, created.Time, updated.Time
	return s, nil
}
