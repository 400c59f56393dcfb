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
}

// nothing reports whether no job can start any more without an intervention.
func (l jobsLeft) nothing() bool { return l.running == 0 && l.queued == l.paused+l.stopped }

// Idle is asked when nothing runs here and nothing was claimed; nextDue is when a job becomes due, zero when that is
// not known.
func (i *Check) Idle(ctx context.Context, nextDue time.Time) bool {
	left, err := i.left(ctx)
	tasks := false
	if err == nil && left.nothing() {
		tasks, err = driver.TasksLeft(ctx, i.Driver)
	}
	forever := false
	if err == nil && left.running == 0 && !nextDue.Before(driver.Never) {
		forever, err = i.forever(ctx, left.stopped)
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
			i.Log.InfoContext(ctx, "idle: all jobs that are left are paused, or behind others in their sequences that are, "+
				"or have failed", "paused", left.paused)
		}
		if left.stopped > 0 {
			i.Log.WarnContext(ctx, "idle: all jobs that are left wait behind failed jobs of their sequences; see Doctor",
				"stopped", left.stopped)
		}
		return true
	case forever:
		i.Log.InfoContext(ctx, "idle: all jobs that are left wait for signals, without a bound", "waiting", left.queued)
		return true
	}
	i.say(ctx, left, nextDue)
	return false
}

// forever reports whether all queued jobs wait for signals without a bound, but those that are stopped.
func (i *Check) forever(ctx context.Context, stopped int) (bool, error) {
	filter := driver.Filter{States: []driver.State{driver.StateQueued}, Types: i.Types, Limit: listed}
	for {
		jobs, err := i.Driver.Jobs(ctx, filter)
		for _, j := range jobs {
			if j.NotBefore.Before(driver.Never) {
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
	limits, err := i.Driver.Limits(ctx)
	if err != nil {
		return left, err
	}
	if !slices.ContainsFunc(limits, func(l driver.LimitStatus) bool { return l.Paused }) {
		if sequences, ok := driver.As[driver.SequenceStore](i.Driver); ok {
			left.stopped, err = sequences.CountStopped(ctx, i.Types)
		}
		return left, err
	}
	free, err := i.free(ctx, limits)
	left.paused = max(0, left.queued-free)
	return left, err
}

// free counts queued jobs that are not paused, nor behind a job of their sequence that cannot start. It may stop at the
// first.
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
	firsts := make(map[string]bool) // whether the first of a sequence can start
	filter := driver.Filter{States: []driver.State{driver.StateQueued}, Types: types, Limit: listed}
	for {
		jobs, err := i.Driver.Jobs(ctx, filter)
		if err != nil {
			return 0, err
		}
		for n := range jobs {
			starts, err := i.starts(ctx, limits, &jobs[n], firsts)
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
func (i *Check) starts(
	ctx context.Context, limits []driver.LimitStatus, j *driver.Job, firsts map[string]bool,
) (bool, error) {
	sequences, ok := driver.As[driver.SequenceStore](i.Driver)
	if pausedKey(limits, j.LimitKey) || j.Sequence == "" || !ok {
		return !pausedKey(limits, j.LimitKey), nil
	}
	if starts, known := firsts[j.Sequence]; known {
		return starts, nil
	}
	id, _, err := sequences.Place(ctx, j.ID, 1)
	if err != nil || id == "" || id == j.ID {
		return err == nil, err
	}
	first, err := i.Driver.Job(ctx, id)
	if errors.Is(err, driver.ErrJobNotFound) {
		return true, nil // it has just ended
	}
	if err == nil {
		firsts[j.Sequence] = first.State != driver.StateFailed && first.NotBefore.Before(driver.Never) &&
			!pausedType(limits, first.Type) && !pausedKey(limits, first.LimitKey)
	}
	return firsts[j.Sequence], err
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
