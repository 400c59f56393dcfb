package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// How often it is looked whether only jobs are left that are for later, and how many are read at a time.
const (
	laterInterval = 250 * time.Millisecond
	laterPage     = 200
)

// runJobs works until nothing is left to do but what is for later, such as the wake-up of a snoozed message.
func (h *host) runJobs(ctx context.Context) error {
	d, err := h.dispatcher()
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
			if later, err := h.onlyLater(working); later && err == nil { // the dispatcher reports a database that fails
				stop()
			}
			select {
			case <-working.Done():
			case <-again.C:
			}
		}
	})
	err = d.RunUntilIdle(working)
	stop()
	looking.Wait()
	// A run that was interrupted stops in good order, and that is no error to the dispatcher.
	return errors.Join(err, ctx.Err())
}

// onlyLater reports whether there are jobs, and all of them were enqueued for a time to come, may not start now, or wait for a model
// that is not asked. Any other one that is tried again is not for later.
func (h *host) onlyLater(ctx context.Context) (bool, error) {
	filter := queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: laterPage}
	for found := false; ; found = true {
		jobs, err := h.queue.Jobs(ctx, filter)
		now := time.Now()
		switch {
		case err != nil:
			return false, err
		case slices.ContainsFunc(jobs, func(j queue.Job) bool { return !isLater(&j, now) }):
			return false, nil
		case len(jobs) < laterPage:
			return found || len(jobs) > 0, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

func isLater(j *queue.Job, now time.Time) bool {
	if waitsForModel(j, now) {
		return j.NotBefore.Sub(now) > modelPatience
	}
	held := strings.HasPrefix(j.LastError, postroom.ErrHeld.Error())
	return j.State == queue.StateQueued && (j.Attempt == 0 || held) && j.NotBefore.After(now)
}

// modelPatience is how long a run that is to end waits for a model: the minute of a rate limit, and no spent budget or refused key.
const modelPatience = 2 * time.Minute
