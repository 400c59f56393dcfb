package pipeline

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
)

// The interval of checks whether only jobs for later are left, and the number of jobs that are read at a time.
const (
	laterInterval = 250 * time.Millisecond
	laterPage     = 200
)

// RunJobs runs jobs until nothing is left to do except jobs for later, such as the wake-up of a snoozed message. It
// sets up no account; see [Pipeline.RunUntilIdle].
func (p *Pipeline) RunJobs(ctx context.Context) error {
	end, err := p.begin()
	if err != nil {
		return err
	}
	defer end()
	p.givenUp = nil
	return p.runJobs(ctx)
}

func (p *Pipeline) runJobs(ctx context.Context) error {
	d, err := p.NewDispatcher()
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var looking sync.WaitGroup
	looking.Go(func() {
		again := time.NewTicker(laterInterval)
		defer again.Stop()
		for working.Err() == nil {
			// The dispatcher reports a failing database.
			if later, err := p.onlyLater(working, slices.Collect(maps.Keys(d.Handlers()))); later && err == nil {
				stop()
			}
			select {
			case <-working.Done():
			case <-again.C:
			}
		}
	})
	looking.Go(func() { p.remember(working) })
	err = d.RunUntilIdle(working)
	stop()
	looking.Wait()
	// An interrupted run stops in an orderly way, which is not an error of the dispatcher.
	return errors.Join(err, ctx.Err())
}

// onlyLater reports whether there are jobs of the types, and all of them were enqueued for a time to come, may not
// start now, or wait for a model that is not asked or for rules that are not stored, or have failed and are not tried
// again soon.
func (p *Pipeline) onlyLater(ctx context.Context, types []string) (bool, error) {
	// While jobs run there is no need to go through those that wait, which are many then.
	if busy, err := p.busy(ctx, types); busy || err != nil {
		return false, err
	}
	limits, err := p.Queue.Limits(ctx)
	if err != nil {
		return false, err
	}
	filter := queue.Filter{Types: types, States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: laterPage}
	for found := false; ; found = true {
		jobs, err := p.Queue.Jobs(ctx, filter)
		now := time.Now()
		switch {
		case err != nil:
			return false, err
		case slices.ContainsFunc(jobs, func(j queue.Job) bool {
			return !p.givenUp[j.LimitKey] && !IsPaused(&j, limits) && !p.isLater(ctx, &j, now)
		}):
			return false, nil
		case len(jobs) < laterPage:
			return found || len(jobs) > 0, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

// busy reports whether jobs run, but for those of accounts that are given up.
func (p *Pipeline) busy(ctx context.Context, types []string) (bool, error) {
	filter := queue.Filter{Types: types, States: []queue.State{queue.StateRunning}, Limit: laterPage}
	if len(p.givenUp) == 0 {
		counts, err := p.Queue.Counts(ctx, filter)
		return counts[queue.StateRunning] > 0, err
	}
	jobs, err := p.Queue.Jobs(ctx, filter)
	return slices.ContainsFunc(jobs, func(j queue.Job) bool { return !p.givenUp[j.LimitKey] }), err
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

// notifies begins the types of the jobs that only notify people of requests: the next run notifies people who cannot be
// reached now.
const notifies = "approval."

func (p *Pipeline) isLater(ctx context.Context, j *queue.Job, now time.Time) bool {
	if strings.HasPrefix(j.Type, notifies) {
		return j.State == queue.StateQueued && j.NotBefore.After(now)
	}
	if WaitsForRules(j, now) {
		return p.isGated(ctx, j, now) // what stores them lets these go on
	}
	wait := j.NotBefore.Sub(now)
	if WaitsForModel(j, now) {
		return wait > retryPatience
	}
	return j.State == queue.StateQueued && (wait > retryPatience || wait > 0 && (j.Attempt == 0 || IsHeld(j)))
}

// IsHeld reports whether a job waits because it may not do now what it is to do.
func IsHeld(j *queue.Job) bool { return strings.HasPrefix(j.LastError, postroom.ErrHeld.Error()) }

// retryPatience is how long a finite run waits for what is tried again: the minute of a rate limit and a short
// outage, about seven attempts, but no spent budget, refused key or dead server.
const retryPatience = 2 * time.Minute
