package queue

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/timetable"
)

const logSchedule = "schedule"

// The scheduler fires the schedules that are due. It checks when the next one becomes due, when one is changed in this
// process, a second after a notification from the database, and in any case every half minute, since not every change
// is notified and the clock may have been set.
type scheduler struct {
	q    *Queue
	log  *slog.Logger
	now  func() time.Time
	poll time.Duration

	woken  chan struct{}
	hinted chan struct{}
	// faults are the reasons why schedules cannot fire, so that each is logged once.
	faults map[string]string
}

const (
	maxSchedulerPause = 30 * time.Second
	// hintPause is the time between a notification and the check. Nearly all notifications are about jobs: on a busy
	// queue they cost one check a second, and none delays the start of a job.
	hintPause = time.Second
)

// wake makes it check at once.
func (s *scheduler) wake() { tell(s.woken) }

// hint makes it check soon: a schedule may have been changed in another process.
func (s *scheduler) hint() { tell(s.hinted) }

func (s *scheduler) run(ctx context.Context) {
	for ctx.Err() == nil {
		s.wait(ctx, s.fireDue(ctx))
	}
}

func (s *scheduler) wait(ctx context.Context, pause time.Duration) {
	end := time.NewTimer(pause)
	defer end.Stop()
	var soon <-chan time.Time
	for hinted := s.hinted; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.woken:
			return
		case <-end.C:
			return
		case <-soon:
			return
		case <-hinted:
			soon, hinted = time.After(hintPause), nil
		}
	}
}

// fireDue fires due schedules and returns how long to wait before the next check.
func (s *scheduler) fireDue(ctx context.Context) time.Duration {
	due, next, err := s.due(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.log.ErrorContext(ctx, "looking for due schedules failed; trying again", logError, err)
		}
		return min(s.poll, claimAgain)
	}
	pause := s.shorten(maxSchedulerPause, next)
	for i := range due {
		if ctx.Err() == nil {
			seen := s.q.storedSchedule(&due[i])
			pause = s.shorten(pause, s.fire(ctx, &seen))
		}
	}
	return pause
}

func (s *scheduler) due(ctx context.Context) (due []driver.Schedule, next time.Time, err error) {
	ctx, cancel := answered(ctx)
	defer cancel()
	return s.q.driver.DueSchedules(ctx, s.now())
}

// shorten cuts the pause at an instant, unless that is zero.
func (s *scheduler) shorten(pause time.Duration, at time.Time) time.Duration {
	if at.IsZero() {
		return pause
	}
	return min(pause, at.Sub(s.now()))
}

// fire returns when the schedule is to be examined again; zero when that need not be soon.
func (s *scheduler) fire(ctx context.Context, seen *StoredSchedule) (next time.Time) {
	table, err := seen.timetable()
	if err != nil {
		s.complain(ctx, seen.Name, err)
		return time.Time{}
	}
	var before map[time.Time]bool
	if !seen.LastAt.Before(seen.NextAt) {
		before, err = s.q.firedBefore(ctx, seen)
	}
	if err == nil {
		err = s.q.writeSoon(ctx, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			next, err = s.fireTx(ctx, tx, seen, table, before)
			return err
		})
	}
	switch {
	case errors.Is(err, ErrScheduleNotFound) || ctx.Err() != nil:
		return time.Time{}
	case err != nil:
		s.complain(ctx, seen.Name, err)
		return s.now().Add(min(s.poll, claimAgain))
	}
	delete(s.faults, seen.Name)
	return next
}

func (s *scheduler) complain(ctx context.Context, name string, err error) {
	if fault := err.Error(); s.faults[name] != fault {
		s.faults[name] = fault
		s.log.ErrorContext(ctx, "schedule cannot fire; trying again, the others go on", logSchedule, name, logError,
			err)
	}
}

// fireTx enqueues the jobs and advances the schedule, unless another machine has done so, or it was changed, since it
// was read. It fires no instant twice.
func (s *scheduler) fireTx(
	ctx context.Context, tx *driver.WriteTx, seen *StoredSchedule, table timetable.Timetable, before map[time.Time]bool,
) (next time.Time, err error) {
	stored, err := s.q.lockSchedule(ctx, tx, seen.Name)
	switch {
	case err != nil:
		return time.Time{}, err
	case stored.NextAt.IsZero() || stored.NextAt.After(tx.Now()):
		return stored.NextAt, nil
	case stored.Cron != seen.Cron || stored.Zone != seen.Zone:
		return tx.Now(), nil // check again
	case stored.Fault != "":
		return time.Time{}, errors.New(stored.Fault)
	}
	instants, next := stored.CatchUp.choose(table, stored.NextAt, tx.Now())
	stored.NextAt = next
	instants = slices.DeleteFunc(instants, func(at time.Time) bool { return before[at.UTC()] })
	if n := len(instants); n > 0 && instants[n-1].After(stored.LastAt) {
		stored.LastAt = instants[n-1]
	}
	if err := s.q.updateSchedule(ctx, tx, *stored); err != nil {
		return time.Time{}, err
	}
	return next, s.enqueue(ctx, tx, &stored.Schedule, instants)
}

// choose picks, of the instants from first to now, those to fire for, and returns the one after now.
func (c CatchUp) choose(table timetable.Timetable, first, now time.Time) (instants []time.Time, next time.Time) {
	limit := 1
	if c == CatchUpAll {
		limit = maxCatchUp
	}
	instants = table.Due(first, now, limit)
	if len(instants) == 0 {
		// The zone's rules, as this machine knows them, have changed since first was reckoned.
		return nil, table.Next(now)
	}
	latest := instants[len(instants)-1]
	if c == CatchUpSkip && now.Sub(latest) > onTime {
		instants = nil
	}
	return instants, table.Next(latest)
}

func (s *scheduler) enqueue(ctx context.Context, tx *driver.WriteTx, schedule *Schedule, instants []time.Time) error {
	if len(instants) == 0 {
		return nil
	}
	jobs := make([]NewJob, len(instants))
	for i, at := range instants {
		jobs[i] = schedule.jobFor(at)
	}
	_, err := s.q.EnqueueManyTx(ctx, tx, jobs)
	if errors.Is(err, ErrKeyConflict) {
		// Nothing is written: the firings have one key. That another job has it must not hold the schedule up.
		s.log.WarnContext(ctx, "schedule has fired for nothing", logSchedule, schedule.Name, logError, err)
		return nil
	}
	return err
}
