package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/jobschedule"
	"github.com/postroom-go/postroom/queue"
)

// AddSchedule implements [queue.Scheduler].
func (db *DB) AddSchedule(ctx context.Context, tx *queue.Tx, s queue.StoredSchedule) (bool, error) {
	return jobschedule.Add(ctx, tx, s)
}

// LockSchedule implements [queue.Scheduler].
func (db *DB) LockSchedule(ctx context.Context, tx *queue.Tx, name string) (*queue.StoredSchedule, error) {
	return jobschedule.Lock(ctx, tx, name)
}

// UpdateSchedule implements [queue.Scheduler].
func (db *DB) UpdateSchedule(ctx context.Context, tx *queue.Tx, s queue.StoredSchedule) error {
	return jobschedule.Update(ctx, tx, s)
}

// DeleteSchedule implements [queue.Scheduler].
func (db *DB) DeleteSchedule(ctx context.Context, tx *queue.Tx, name string) error {
	return jobschedule.Delete(ctx, tx, name)
}

// Schedules implements [queue.Scheduler].
func (db *DB) Schedules(ctx context.Context) ([]queue.StoredSchedule, error) {
	return jobschedule.List(ctx, db.db)
}

// DueSchedules implements [queue.Scheduler].
func (db *DB) DueSchedules(ctx context.Context, now time.Time) ([]queue.StoredSchedule, time.Time, error) {
	return jobschedule.Due(ctx, db.db, now)
}
