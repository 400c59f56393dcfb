package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
)

// The interval of checks whether only jobs for later are left, and the number of jobs that are read at a time.
const (
	LaterInterval = 250 * time.Millisecond
	laterPage     = 200
)

// RunJobs works until nothing is left to do except jobs for later, such as the wake-up of a snoozed message.
func (h *App) RunJobs(ctx context.Context) error {
	d, err := h.NewDispatcher()
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var looking sync.WaitGroup
	looking.Go(func() {
		again := time.NewTicker(LaterInterval)
		defer again.Stop()
		for working.Err() == nil {
			// The dispatcher reports a failing database.
			if later, err := h.OnlyLater(working, slices.Collect(maps.Keys(d.Handlers()))); later && err == nil {
				stop()
			}
			select {
			case <-working.Done():
			case <-again.C:
			}
		}
	})
	looking.Go(func() { h.Stopper.remember(working) })
	err = d.RunUntilIdle(working)
	stop()
	looking.Wait()
	// An interrupted run stops in an orderly way, which is not an error of the dispatcher.
	return errors.Join(err, ctx.Err())
}

// OnlyLater reports whether there are jobs of the types, and all of them were enqueued for a time to come, may not start now, or
// wait for a model that is not asked or for rules that are not stored, or have failed and are not tried again soon.
func (h *App) OnlyLater(ctx context.Context, types []string) (bool, error) {
	// While jobs run there is no need to go through those that wait, which are many then.
	if busy, err := h.busy(ctx, types); busy || err != nil {
		return false, err
	}
	limits, err := h.Queue.Limits(ctx)
	if err != nil {
		return false, err
	}
	filter := queue.Filter{Types: types, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: laterPage}
	for found := false; ; found = true {
		jobs, err := h.Queue.Jobs(ctx, filter)
		now := time.Now()
		switch {
		case err != nil:
			return false, err
		case slices.ContainsFunc(jobs, func(j queue.Job) bool { return !h.givenUp[j.LimitKey] && !IsPaused(&j, limits) && !h.isLater(&j, now) }):
			return false, nil
		case len(jobs) < laterPage:
			return found || len(jobs) > 0, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

// busy reports whether jobs run, but for those of accounts that are given up.
func (h *App) busy(ctx context.Context, types []string) (bool, error) {
	filter := queue.Filter{Types: types, States: []queue.State{queue.StateRunning}, Limit: laterPage}
	if len(h.givenUp) == 0 {
		counts, err := h.Queue.Counts(ctx, filter)
		return counts[queue.StateRunning] > 0, err
	}
	jobs, err := h.Queue.Jobs(ctx, filter)
	return slices.ContainsFunc(jobs, func(j queue.Job) bool { return !h.givenUp[j.LimitKey] }), err
}

// IsPaused reports whether nobody may start the job until somebody resumes what it is of.
func IsPaused(j *queue.Job, limits []queue.LimitStatus) bool {
	return j.State == queue.StateQueued && slices.ContainsFunc(limits, func(l queue.LimitStatus) bool {
		switch {
		case !l.Paused:
			return false
		case l.Kind == queue.TargetType:
			return l.Target == queue.ForAll() || l.Name == j.Type
		case l.Kind == queue.TargetKey:
			return l.Name == j.LimitKey
		}
		return strings.HasPrefix(j.LimitKey, l.Name)
	})
}

// tells are the jobs that only notify people of requests: the next run notifies people who cannot be reached now.
var tells = []string{string(discord.JobNotify), string(discord.JobExpire), string(discord.JobDigest), string(webhook.JobDeliver)}

func (h *App) isLater(j *queue.Job, now time.Time) bool {
	if slices.Contains(tells, j.Type) {
		return j.State == queue.StateQueued && j.NotBefore.After(now)
	}
	if WaitsForRules(j, now) {
		return h.isGated(j, now) // What stores them lets these go on
	}
	wait := j.NotBefore.Sub(now)
	if waitsForModel(j, now) {
		return wait > retryPatience
	}
	return j.State == queue.StateQueued && (wait > retryPatience || wait > 0 && (j.Attempt == 0 || IsHeld(j)))
}

// IsHeld reports whether a job waits because it may not do now what it is to do.
func IsHeld(j *queue.Job) bool { return strings.HasPrefix(j.LastError, postroom.ErrHeld.Error()) }

// retryPatience is how long a finite run waits for what is tried again: the minute of a rate limit and a short outage, about seven attempts,
// but no spent budget, refused key or dead server.
const retryPatience = 2 * time.Minute
