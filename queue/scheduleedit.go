package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/timetable"
)

// Schedules lists all schedules by name.
func (q *Queue) Schedules(ctx context.Context) ([]StoredSchedule, error) {
	all, err := q.driver.Schedules(ctx)
	if err != nil {
		return nil, wrap("schedules", "", err)
	}
	return mapped(all, func(row driver.Schedule) StoredSchedule {
		s := q.storedSchedule(&row)
		if _, err := s.timetable(); err != nil {
			s.Fault = err.Error()
		}
		return s
	}), nil
}

// timetable fails when the schedule cannot fire as it is stored.
func (s *StoredSchedule) timetable() (timetable.Timetable, error) {
	if s.Fault != "" {
		return nil, errors.New(s.Fault)
	}
	return timetable.New(s.Cron, s.Zone)
}

// RemoveSchedule ends a schedule; jobs it has enqueued stay. The error is [ErrScheduleNotFound] if it does not exist.
func (q *Queue) RemoveSchedule(ctx context.Context, name string) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.RemoveScheduleTx(ctx, tx,
			name)
	})
}

// RemoveScheduleTx is RemoveSchedule as part of a transaction.
func (q *Queue) RemoveScheduleTx(ctx context.Context, tx Tx, name string) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return scheduleError("remove", name, err)
	}
	defer leave()
	return scheduleError("remove", name, q.driver.DeleteSchedule(ctx, w, lookup(name)))
}

// PauseSchedule keeps a schedule from firing until [Queue.ResumeSchedule]; pausing it again changes nothing. The error
// is [ErrScheduleNotFound] if it does not exist.
func (q *Queue) PauseSchedule(ctx context.Context, name string) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.PauseScheduleTx(ctx, tx, name)
	})
}

// PauseScheduleTx is PauseSchedule as part of a transaction.
func (q *Queue) PauseScheduleTx(ctx context.Context, tx Tx, name string) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return scheduleError("pause", name, err)
	}
	defer leave()
	return q.editSchedule(ctx, w, "pause", name, func(stored *StoredSchedule) bool {
		if stored.Paused {
			return false
		}
		stored.Paused, stored.NextAt = true, time.Time{}
		return true
	})
}

// ResumeSchedule lets a paused schedule fire again, from its first instant from now on: instants during the pause are
// skipped. Resuming a schedule that is not paused changes nothing. The error is [ErrScheduleNotFound] if it does not
// exist.
func (q *Queue) ResumeSchedule(ctx context.Context, name string) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.ResumeScheduleTx(ctx, tx,
			name)
	})
}

// ResumeScheduleTx is ResumeSchedule as part of a transaction.
func (q *Queue) ResumeScheduleTx(ctx context.Context, tx Tx, name string) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return scheduleError("resume", name, err)
	}
	defer leave()
	var fault error
	err = q.editSchedule(ctx, w, "resume", name, func(stored *StoredSchedule) bool {
		if !stored.Paused {
			return false
		}
		var table timetable.Timetable
		if table, fault = stored.timetable(); fault != nil {
			return false
		}
		stored.Paused, stored.NextAt = false, table.Next(w.Now())
		return true
	})
	return errors.Join(err, scheduleError("resume", name, fault))
}

// FireSchedule enqueues a schedule's job now, as a firing for this instant, even if the schedule is paused. Its next
// instant stays. The error is [ErrScheduleNotFound], or that of [Queue.Enqueue].
func (q *Queue) FireSchedule(ctx context.Context, name string) (result EnqueueResult, err error) {
	err = q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		result, err = q.FireScheduleTx(ctx, tx, name)
		return err
	})
	return result, err
}

// FireScheduleTx is FireSchedule as part of a transaction.
func (q *Queue) FireScheduleTx(ctx context.Context, tx Tx, name string) (EnqueueResult, error) {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return EnqueueResult{}, scheduleError("fire", name, err)
	}
	defer leave()
	stored, err := q.lockSchedule(ctx, w, name)
	if err == nil && stored.Fault != "" {
		err = errors.New(stored.Fault)
	}
	if err != nil {
		return EnqueueResult{}, scheduleError("fire", name, err)
	}
	stored.LastAt = w.Now()
	if err := q.updateSchedule(ctx, w, *stored); err != nil {
		return EnqueueResult{}, scheduleError("fire", name, err)
	}
	return q.EnqueueTx(ctx, w, stored.jobFor(w.Now()))
}

// editSchedule changes a stored schedule as fn does, if it does.
func (q *Queue) editSchedule(
	ctx context.Context, tx *driver.WriteTx, op, name string, fn func(stored *StoredSchedule) (changed bool),
) error {
	stored, err := q.lockSchedule(ctx, tx, name)
	if err != nil {
		return scheduleError(op, name, err)
	}
	if !fn(stored) {
		return nil
	}
	stored.UpdatedAt = tx.Now()
	if err := q.updateSchedule(ctx, tx, *stored); err != nil {
		return scheduleError(op, name, err)
	}
	return scheduleError(op, name, q.rescheduled(ctx, tx))
}

// rescheduled makes the schedulers check again once the transaction has committed: those of this process at once, those
// of others when they are notified.
func (q *Queue) rescheduled(ctx context.Context, tx *driver.WriteTx) error {
	tx.OnCommit(q.local.reschedule)
	return q.driver.Notify(ctx, tx)
}

func scheduleError(op, name string, err error) error {
	return wrap(fmt.Sprintf("%s schedule %q", op, cutID(name)), "", err)
}

// SetSchedule stores a schedule under its name. Call it at every start: setting the same schedule again changes
// nothing.
//
// A different schedule of that name is replaced, also while dispatchers run. With another Cron or Zone it begins anew,
// at the first instant from now on; otherwise its next instant stays. A paused schedule stays paused. A schedule that
// is no longer set continues until [Queue.RemoveSchedule]. The error is [ErrInvalidSchedule] and names the field.
func (q *Queue) SetSchedule(ctx context.Context, s Schedule) error {
	s, table, err := s.normal(q)
	if err != nil {
		return scheduleError("set", s.Name, err)
	}
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.setSchedule(ctx, tx, s, table)
	})
}

// SetScheduleTx is SetSchedule as part of a transaction.
func (q *Queue) SetScheduleTx(ctx context.Context, tx Tx, s Schedule) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return scheduleError("set", s.Name, err)
	}
	defer leave()
	s, table, err := s.normal(q)
	if err != nil {
		return scheduleError("set", s.Name, err)
	}
	return q.setSchedule(ctx, w, s, table)
}

func (q *Queue) setSchedule(ctx context.Context, tx *driver.WriteTx, s Schedule, table timetable.Timetable) error {
	next := table.Next(tx.Now())
	added, err := q.addSchedule(ctx, tx, StoredSchedule{Schedule: s, NextAt: next, CreatedAt: tx.Now(),
		UpdatedAt: tx.Now()})
	if err == nil && added {
		err = q.rescheduled(ctx, tx)
	}
	if err != nil || added {
		return scheduleError("set", s.Name, err)
	}
	return q.editSchedule(ctx, tx, "set", s.Name, func(stored *StoredSchedule) bool {
		if stored.Fault == "" && stored.same(s) {
			return false
		}
		if !stored.Paused && (stored.Cron != s.Cron || stored.Zone != s.Zone) {
			stored.NextAt = next
		}
		stored.Schedule = s
		return true
	})
}
