package queue

import (
	"context"
	"log/slog"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/timetable"
)

const (
	// clockInterval is how often a dispatcher compares the machine's clock with the database's.
	clockInterval = time.Minute
	// rowsInterval is how often it looks for rows of the future; also when the clock was put back.
	rowsInterval = 10 * time.Minute
	// clockTolerance is the difference of clocks that is not reported.
	clockTolerance = time.Minute
	// farAhead is how far in the future the passed-over instants of a schedule must be for it to begin anew. With a
	// smaller difference, such as an hour by which a clock was put back, it waits until the time has come again, and
	// fires nothing twice. cron draws the same line.
	farAhead = 3 * time.Hour
)

// The clockwatch logs clocks that disagree, once each time they begin to. It resumes schedules that were fired far in
// the future.
type clockwatch struct {
	q   *Queue
	log *slog.Logger
	now func() time.Time

	latest, examined time.Time // of the database's clock: when last asked, and when last looked for rows
	differs, ahead   bool      // logged
}

func (w *clockwatch) run(ctx context.Context) {
	ticker := time.NewTicker(clockInterval)
	defer ticker.Stop()
	for {
		w.check(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (w *clockwatch) check(ctx context.Context) {
	now := w.now()
	w.compare(ctx, now)
	putBack := now.Before(w.latest.Add(-clockTolerance))
	w.latest = now
	if !putBack && now.Before(w.examined.Add(rowsInterval)) {
		return
	}
	w.examined = now
	if err := w.examine(ctx, now); err != nil && ctx.Err() == nil {
		w.log.WarnContext(ctx, "looking for rows of the future failed; trying again", logError, err)
	}
}

// compare compares the machine's clock with the database's.
func (w *clockwatch) compare(ctx context.Context, now time.Time) {
	machine := time.Now().Round(0)
	differs := machine.Sub(now.Round(0)).Abs() > clockTolerance
	if differs && !w.differs {
		w.log.WarnContext(ctx,
			"this machine's clock was set, or is wrong: the queue goes on by the database's; put the machine's right, "+
				"or wait where it is right now: on SQLite it is believed once it has stood for 5 minutes",
			"machine", machine.UTC(), "database", now.UTC())
	}
	if !differs && w.differs {
		w.log.InfoContext(ctx, "this machine's clock agrees with the database's", "database", now.UTC())
	}
	w.differs = differs
}

// examine looks for rows of the future.
func (w *clockwatch) examine(ctx context.Context, now time.Time) error {
	ctx, cancel := answered(ctx)
	defer cancel()
	schedules, err := w.q.driver.Schedules(ctx)
	if err != nil {
		return err
	}
	newest, err := w.newest(ctx)
	if err != nil {
		return err
	}
	for i := range schedules {
		for _, at := range []time.Time{schedules[i].LastAt, schedules[i].UpdatedAt} {
			if at.After(newest) {
				newest = at
			}
		}
		w.revive(ctx, &schedules[i], now)
	}
	ahead := newest.After(now.Add(clockTolerance))
	if ahead && !w.ahead {
		w.log.WarnContext(ctx,
			"the database has rows of the future: the clock was ahead when they were written, or is behind now; "+
				"jobs that were due then wait until the time has come: see queueadmin.Doctor", "newest", newest.UTC(),
			"now", now.UTC())
	}
	w.ahead = ahead
	return nil
}

// newest is the latest sign of life and the latest job.
func (w *clockwatch) newest(ctx context.Context) (at time.Time, err error) {
	workers, err := w.q.driver.Workers(ctx)
	if err != nil {
		return at, err
	}
	for i := range workers {
		if workers[i].BeatAt.After(at) {
			at = workers[i].BeatAt
		}
	}
	jobs, err := w.q.driver.Jobs(ctx, driver.Filter{Limit: 1})
	if err == nil && len(jobs) > 0 && jobs[0].CreatedAt.After(at) {
		at = jobs[0].CreatedAt
	}
	return at, err
}

// revive moves a schedule that has advanced to an instant far in the future back to its next instant from now on.
func (w *clockwatch) revive(ctx context.Context, row *driver.Schedule, now time.Time) {
	if !row.NextAt.After(now.Add(farAhead)) {
		return
	}
	seen := w.q.storedSchedule(row)
	table, err := seen.timetable()
	if err != nil || !isFarAhead(table, seen.NextAt, now) {
		return // the scheduler reports a schedule that cannot fire
	}
	revived := false
	err = w.q.writeSoon(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return w.q.editSchedule(ctx, tx, "revive", seen.Name, func(stored *StoredSchedule) bool {
			revived = stored.Cron == seen.Cron && stored.Zone == seen.Zone && isFarAhead(table, stored.NextAt, tx.Now())
			if revived {
				stored.NextAt = table.Next(tx.Now())
			}
			return revived
		})
	})
	switch {
	case err != nil && ctx.Err() == nil:
		w.log.ErrorContext(ctx, "a schedule that waits for a time far ahead cannot go on; trying again", logSchedule,
			seen.Name, logError, err)
	case err == nil && revived:
		w.log.WarnContext(ctx, "a schedule was fired or set while a clock was ahead; it goes on from now, but for instants "+
			"for which it was fired too early", logSchedule, seen.Name, "would_have_waited_until", seen.NextAt)
	}
}

// isFarAhead reports whether a schedule that is due next at nextAt has passed over instants that are far ahead.
func isFarAhead(table timetable.Timetable, nextAt, now time.Time) bool {
	if !nextAt.After(now) {
		return false // or paused
	}
	passed := []time.Time{now}
	if interval, ok := table.(timetable.Every); ok {
		passed[0] = nextAt.Add(-time.Duration(interval))
	} else {
		passed = append(passed, table.Due(now, nextAt.Add(-1), 1)...)
	}
	return passed[len(passed)-1].After(now.Add(farAhead))
}

// firedBefore are the instants from the next one on for which a schedule has fired already, while a clock was ahead, as
// far as the jobs are still stored.
func (q *Queue) firedBefore(ctx context.Context, s *StoredSchedule) (map[time.Time]bool, error) {
	ctx, cancel := answered(ctx)
	defer cancel()
	fired := make(map[time.Time]bool)
	filter := driver.Filter{Types: []string{s.Job.Type}, Tags: []string{tagSchedule + s.Name}, Limit: maxCatchUp}
	jobs, err := q.driver.Jobs(ctx, filter)
	for i := range jobs {
		if firing, ok := (*Job)(&jobs[i]).Firing(); ok && !firing.At.Before(s.NextAt) {
			fired[firing.At.UTC()] = true
		}
	}
	return fired, err
}
