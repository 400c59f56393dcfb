package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// frozen begins the cron text of a schedule that is being moved. Such a schedule does not fire. Its next time and its
// own text follow.
const frozen = "moving "

// moveSchedules moves each schedule in three commits: it is frozen in the old database, added to the new one, and
// deleted in the old one. It never fires in both and is never lost: if the process dies, the next call continues.
func (m *mover) moveSchedules(ctx context.Context) error {
	for {
		schedules, err := m.from.Schedules(ctx)
		if err != nil || len(schedules) == 0 {
			return err
		}
		for i := range schedules {
			if err := m.moveSchedule(ctx, schedules[i]); err != nil {
				return fmt.Errorf("schedule %s: %w", schedules[i].Name, err)
			}
		}
	}
}

func (m *mover) moveSchedule(ctx context.Context, s driver.Schedule) error {
	mark := s.Cron
	if !strings.HasPrefix(mark, frozen) {
		mark = freezing(s.NextAt, s.Cron)
		done, err := m.freeze(ctx, s, mark)
		if err != nil || !done {
			return err // it has fired, or was edited: it is moved later in its new state
		}
	}
	var err error
	if s.NextAt, s.Cron, err = thawed(mark); err != nil {
		return err
	}
	err = driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		added, err := m.to.AddSchedule(ctx, tx, s)
		if err != nil {
			return err
		}
		if added {
			m.report.Schedules++
		}
		return m.to.Notify(ctx, tx)
	})
	if err != nil {
		return err
	}
	_, err = m.ifUnchanged(ctx, s.Name, func(now *driver.Schedule) bool { return now.Cron == mark },
		func(ctx context.Context, tx *driver.WriteTx, now *driver.Schedule) error {
			return m.from.DeleteSchedule(ctx, tx, now.Name)
		})
	return err
}

// freeze reports whether the schedule was unchanged, and so is frozen now.
func (m *mover) freeze(ctx context.Context, s driver.Schedule, mark string) (bool, error) {
	same := func(now *driver.Schedule) bool { return now.Cron == s.Cron && now.NextAt.Equal(s.NextAt) }
	return m.ifUnchanged(ctx, s.Name, same, func(ctx context.Context, tx *driver.WriteTx, now *driver.Schedule) error {
		now.Cron, now.NextAt = mark, time.Time{}
		return m.from.UpdateSchedule(ctx, tx, *now)
	})
}

// ifUnchanged writes about a schedule of the old database, if it exists and is unchanged.
func (m *mover) ifUnchanged(ctx context.Context, name string, same func(*driver.Schedule) bool,
	write func(ctx context.Context, tx *driver.WriteTx, now *driver.Schedule) error,
) (done bool, err error) {
	err = driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		now, err := m.from.LockSchedule(ctx, tx, name)
		if errors.Is(err, driver.ErrScheduleNotFound) {
			return nil
		}
		if err != nil || !same(now) {
			return err
		}
		done = true
		return write(ctx, tx, now)
	})
	return done, err
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
