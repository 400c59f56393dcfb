package queue

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// An idleCheck decides when [Dispatcher.RunUntilIdle] returns, and logs what it waits for.
type idleCheck struct {
	driver  driver.Driver
	log     *slog.Logger
	running *runningSet
	types   []string

	ended int       // handlers that had returned when the wait began
	since time.Time // when it began; zero: it has not
	said  bool      // logged, for this wait
}

// sayAfter is how long a wait is when it is worth a line.
const sayAfter = 5 * time.Second

// The jobs that are left, of the types that are handled.
type jobsLeft struct{ queued, running, paused int }

// nothing reports whether no job can start any more without an intervention.
func (l jobsLeft) nothing() bool { return l.running == 0 && l.queued == l.paused }

// idle is asked when nothing runs here and nothing was claimed; nextDue is when a job becomes due, zero when that is not known.
func (i *idleCheck) idle(ctx context.Context, nextDue time.Time) bool {
	left, err := i.left(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			i.log.ErrorContext(ctx, "counting jobs failed; trying again", logError, err)
		}
		return false
	case left.nothing():
		if left.paused > 0 {
			i.log.InfoContext(ctx, "idle: all jobs that are left are paused", "paused", left.paused)
		}
		return true
	}
	i.say(ctx, left, nextDue)
	return false
}

func (i *idleCheck) say(ctx context.Context, left jobsLeft, nextDue time.Time) {
	if ended := i.running.load().ended; i.since.IsZero() || ended != i.ended {
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
	i.log.InfoContext(ctx, "not idle yet: waiting for jobs that are not due, limited, or running in other processes", attrs...)
}

func (i *idleCheck) left(ctx context.Context) (left jobsLeft, err error) {
	counts, err := i.driver.Counts(ctx, driver.Filter{States: []State{StateQueued, StateRunning}, Types: i.types})
	if err != nil || counts[StateQueued] == 0 {
		return jobsLeft{running: counts[StateRunning]}, err
	}
	left = jobsLeft{queued: counts[StateQueued], running: counts[StateRunning]}
	limits, err := i.driver.Limits(ctx)
	if err != nil || !slices.ContainsFunc(limits, func(l driver.LimitStatus) bool { return l.Paused }) {
		return left, err
	}
	free, err := i.free(ctx, limits)
	left.paused = max(0, left.queued-free)
	return left, err
}

// free counts queued jobs that are not paused. Where keys are paused it may stop at the first.
func (i *idleCheck) free(ctx context.Context, limits []driver.LimitStatus) (int, error) {
	var types []string
	for _, t := range i.types {
		if !pausedType(limits, t) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return 0, nil
	}
	filter := driver.Filter{States: []State{StateQueued}, Types: types}
	counts, err := i.driver.Counts(ctx, filter)
	if err != nil || counts[StateQueued] == 0 {
		return 0, err
	}
	if !slices.ContainsFunc(limits, func(l driver.LimitStatus) bool { return l.Paused && l.Kind != driver.TargetType }) {
		return counts[StateQueued], nil
	}
	for filter.Limit = maxListing; ; {
		jobs, err := i.driver.Jobs(ctx, filter)
		free := slices.ContainsFunc(jobs, func(j driver.Job) bool { return !pausedKey(limits, j.LimitKey) })
		switch {
		case err != nil:
			return 0, err
		case free:
			return counts[StateQueued], nil
		case len(jobs) < filter.Limit:
			return 0, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

func pausedType(limits []driver.LimitStatus, jobType string) bool {
	return slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused && l.Kind == driver.TargetType && (l.Name == jobType || l.Name == driver.AllTypes)
	})
}

// pausedKey reports whether the key or a beginning of it is paused.
func pausedKey(limits []driver.LimitStatus, key string) bool {
	return key != "" && slices.ContainsFunc(limits, func(l driver.LimitStatus) bool {
		return l.Paused && (l.Kind == driver.TargetKey && l.Name == key || l.Kind == driver.TargetKeyPrefix && strings.HasPrefix(key, l.Name))
	})
}
