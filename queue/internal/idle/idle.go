// Package idle tells when a dispatcher has nothing left to wait for.
package idle

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Check decides when a dispatcher that runs until it is idle returns, and logs what it waits for.
type Check struct {
	Driver driver.Driver
	Log    *slog.Logger
	Types  []string   // that are handled
	Ended  func() int // returns the number of handlers that have returned

	ended int       // handlers that had returned when the wait began
	since time.Time // when it began; zero: it has not
	said  bool      // logged, for this wait
}

// sayAfter is how long a wait is when it is worth a line.
const sayAfter = 5 * time.Second

// listed bounds the jobs that are read at a time.
const listed = 1000

// The jobs that are left, of the types that are handled.
type jobsLeft struct {
	queued, running, paused int
	stopped                 int // behind others of their sequences that cannot start; 0 where some are paused
	limits                  []driver.LimitStatus
}

// nothing reports whether no job can start any more without an intervention.
func (l jobsLeft) nothing() bool { return l.running == 0 && l.queued == l.paused+l.stopped }

// Idle is asked when nothing runs here and nothing was claimed; nextDue is when a job becomes due, zero when that is
// not known.
func (i *Check) Idle(ctx context.Context, nextDue time.Time) bool {
	left, err := i.left(ctx)
	forever, tasks := false, false
	if err == nil && left.running == 0 && !left.nothing() && (nextDue.IsZero() || !nextDue.Before(driver.Never)) {
		forever, err = i.forever(ctx, left)
	}
	if err == nil && (left.nothing() || forever) {
		tasks, err = driver.TasksLeft(ctx, i.Driver)
	}
	switch {
	case err != nil:
		if ctx.Err() == nil {
			i.Log.ErrorContext(ctx, "counting jobs failed; trying again", "error", err)
		}
		return false
	case tasks: // the next claim does them, and may open nodes
		return false
	case left.nothing():
		if left.paused > 0 {
			i.Log.InfoContext(ctx, "idle: all jobs that are left are paused, or behind others in their sequences or "+
				"flows that cannot start, or wait for signals, without a bound", "paused", left.paused)
		}
		if left.stopped > 0 {
			i.Log.WarnContext(ctx, "idle: all jobs that are left wait behind failed jobs of their sequences; see Doctor",
				"stopped", left.stopped)
		}
		return true
	case forever:
		i.Log.InfoContext(ctx, "idle: all jobs that are left wait for signals, without a bound, or behind others in their "+
			"flows that cannot start", "waiting", left.queued)
		return true
	}
	i.say(ctx, left, nextDue)
	return false
}

// forever reports whether all queued jobs wait for signals without a bound, or in a flow that cannot go on, but those
// that are stopped.
func (i *Check) forever(ctx context.Context, left jobsLeft) (bool, error) {
	stopped, l := left.stopped, i.look(left.limits)
	filter := driver.Filter{States: []driver.State{driver.StateQueued}, Types: i.Types, Limit: listed}
	for {
		jobs, err := i.Driver.Jobs(ctx, filter)
		for n := 0; n < len(jobs) && stopped >= 0 && err == nil; n++ {
			waits := !jobs[n].NotBefore.Before(driver.Never)
			if !waits {
				waits, err = l.waits(ctx, &jobs[n])
			}
			if !waits {
				stopped--
			}
		}
		if err != nil || stopped < 0 {
			return false, err
		}
		if len(jobs) < filter.Limit {
			return true, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

func (i *Check) say(ctx context.Context, left jobsLeft, nextDue time.Time) {
	if ended := i.Ended(); i.since.IsZero() || ended != i.ended {
		i.since, i.ended, i.said = time.Now(), ended, false
		return
	}
	if i.said || time.Since(i.since) < sayAfter {
		return
	}
	i.said = true
	attrs := []any{"queued", left.queued, "running_elsewhere", left.running, "paused", left.paused}
	if !nextDue.IsZero() {
		attrs = append(attrs, "next_due", nextDue)
	}
	i.Log.InfoContext(ctx, "not idle yet: waiting for jobs that are not due, limited, or running in other processes",
		attrs...)
}

func (i *Check) left(ctx context.Context) (left jobsLeft, err error) {
	counts, err := i.Driver.Counts(ctx,
		driver.Filter{States: []driver.State{driver.StateQueued, driver.StateRunning}, Types: i.Types})
	if err != nil || counts[driver.StateQueued] == 0 {
		return jobsLeft{running: counts[driver.StateRunning]}, err
	}
	left = jobsLeft{queued: counts[driver.StateQueued], running: counts[driver.StateRunning]}
	if left.limits, err = i.Driver.Limits(ctx); err != nil {
		return left, err
	}
	if !slices.ContainsFunc(left.limits, func(l driver.LimitStatus) bool { return l.Paused }) {
		if sequences, ok := driver.As[driver.SequenceStore](i.Driver); ok {
			left.stopped, err = sequences.CountStopped(ctx, i.Types)
		}
		return left, err
	}
	free, err := i.free(ctx, left.limits)
	left.paused = max(0, left.queued-free)
	return left, err
}

// free counts queued jobs that are not paused, wait for no signal without a bound, and are not behind a job of their
// sequence or flow that cannot start. It may stop at the first.
func (i *Check) free(ctx context.Context, limits []driver.LimitStatus) (int, error) {
	var types []string
	for _, t := range i.Types {
		if !pausedType(limits, t) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return 0, nil
	}
	l := i.look(limits)
	filter := driver.Filter{States: []driver.State{driver.StateQueued}, Types: types, Limit: listed}
	for {
		jobs, err := i.Driver.Jobs(ctx, filter)
		if err != nil {
			return 0, err
		}
		for n := range jobs {
			starts, err := l.starts(ctx, &jobs[n])
			if err != nil {
				return 0, err
			}
			if starts {
				counts, err := i.Driver.Counts(ctx, driver.Filter{States: filter.States, Types: types})
				return counts[driver.StateQueued], err
			}
		}
		if len(jobs) < filter.Limit {
			return 0, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

// starts reports whether a job of a type that is not paused may start without an intervention.
func (l *look) starts(ctx context.Context, j *driver.Job) (bool, error) {
	if !l.released(j) {
		return false, nil
	}
	if waits, err := l.waits(ctx, j); waits || err != nil {
		return false, err
	}
	sequences, ok := driver.As[driver.SequenceStore](l.driver)
	if j.Sequence == "" || !ok {
		return true, nil
	}
	if starts, known := l.firsts[j.Sequence]; known {
		return starts, nil
	}
	id, _, err := sequences.Place(ctx, j.ID, 1)
	if err != nil || id == "" || id == j.ID {
		return err == nil, err
	}
	first, err := l.driver.Job(ctx, id)
	if errors.Is(err, driver.ErrJobNotFound) {
		return true, nil // it has just ended
	}
	if err == nil {
		l.firsts[j.Sequence] = first.State != driver.StateFailed && l.released(first)
	}
	return l.firsts[j.Sequence], err
}

func pausedType(limits []driver.LimitStatus, jobType string) bool {
	return slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused && l.Kind == driver.TargetType && (l.Name == jobType || l.Name == driver.AllTypes)
	})
}

// pausedKey reports whether the key or a beginning of it is paused.
func pausedKey(limits []driver.LimitStatus, key string) bool {
	return key != "" && slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused && (l.Kind == driver.TargetKey && l.Name == key || l.Kind == driver.TargetKeyPrefix &&
			strings.HasPrefix(key, l.Name))
	})
}
