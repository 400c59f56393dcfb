package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// An Undecided counts the messages about which nothing is decided yet, or not yet anew, by what they wait for.
type Undecided struct {
	Model, Rules int
	Tried        int // by a dry run, for a run that is none
}

// deciding are the types of the jobs that decide about one message.
var deciding = []string{string(rules.JobClassify), string(rules.JobDecideAgain)}

// CountUndecided counts the messages that wait. A job that looks whether it still has to wait, as one does now and
// then, counts too.
func (b *Backlog) CountUndecided(ctx context.Context) (n Undecided, err error) {
	now := time.Now()
	filter := queue.Filter{Types: deciding, States: []queue.State{queue.StateQueued, queue.StateRunning}}
	_, err = b.jobsOf(ctx, filter, func(j *queue.Job) bool {
		switch {
		case j.Interruptions > 0 && lacksRules(j):
			n.Rules++
		case wasTried(j):
			n.Tried++
		case WaitsForModel(j, now):
			n.Model++
		}
		return false
	})
	return n, err
}

// A Backlog lists the jobs that wait, and lets them run. It is a part of a [Pipeline].
type Backlog struct {
	db    queue.DB
	queue *queue.Queue
	mail  *mailstore.Store
}

// deferred lists the queued jobs that decide about a message, of those that are wanted.
func (b *Backlog) deferred(ctx context.Context, wanted func(*queue.Job) bool) (ids []string, err error) {
	jobs, err := b.Queued(ctx, queue.Filter{Types: deciding}, wanted)
	return jobIDs(jobs), err
}

func jobIDs(jobs []queue.Job) []string {
	ids := make([]string, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	return ids
}

// Queued lists the queued jobs of a filter that are wanted.
func (b *Backlog) Queued(ctx context.Context, filter queue.Filter, wanted func(*queue.Job) bool) ([]queue.Job, error) {
	filter.States = []queue.State{queue.StateQueued}
	return b.jobsOf(ctx, filter, wanted)
}

// jobsOf lists all jobs of a filter that are wanted, newest first.
func (b *Backlog) jobsOf(ctx context.Context, filter queue.Filter, wanted func(*queue.Job) bool) (list []queue.Job,
	err error) {
	filter.Limit = laterPage
	for {
		jobs, err := b.queue.Jobs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("list jobs: %w", err)
		}
		for i := range jobs {
			if wanted(&jobs[i]) {
				list = append(list, jobs[i])
			}
		}
		if len(jobs) < laterPage {
			return list, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

// askedAgain are the types of the jobs, one of an account each, that others wait for.
var askedAgain = []string{string(gmail.JobLabelsSync), string(gmail.JobHistorySync), string(gmail.JobBackfill)}

// mostInOrder is how many jobs become due one after the other, the newest first.
const mostInOrder = 1000

// AskAgain makes the jobs due that decide and were given back, and those that find mail and labels and have failed: a
// person who has corrected a key, or the network, starts the program anew. The newest mail is decided about first. Call
// it at a start.
func (b *Backlog) AskAgain(ctx context.Context) error {
	now := time.Now()
	ids, err := b.deferred(ctx, func(j *queue.Job) bool { return IsDeferred(j, now) })
	if err != nil {
		return err
	}
	failed, err := b.Queued(ctx, queue.Filter{Types: askedAgain}, func(j *queue.Job) bool { return j.Failures > 0 })
	if err != nil {
		return err
	}
	first := ids[:min(len(ids), mostInOrder)] // ids has the newest first; jobs due at one time run oldest first
	for i := range first {
		if err := b.makeDue(ctx, first[i:i+1]); err != nil {
			return err
		}
	}
	return b.makeDue(ctx, append(ids[len(first):], jobIDs(failed)...))
}

// makeDue lets queued jobs run now that were to run later.
func (b *Backlog) makeDue(ctx context.Context, ids []string) error {
	for batch := range slices.Chunk(ids, laterPage) {
		err := b.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			for _, id := range batch {
				err := b.queue.CancelTx(ctx, tx, id)
				if errors.Is(err, queue.ErrFinished) || errors.Is(err, queue.ErrJobNotFound) {
					continue // another process was faster
				}
				if err != nil {
					return err
				}
				if err := b.queue.RetryTx(ctx, tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("make jobs due: %w", err)
		}
	}
	return nil
}

// isGivenBack reports whether a job has been given back, to be tried later. One that was interrupted otherwise is due
// at once.
func isGivenBack(j *queue.Job, now time.Time) bool {
	return j.State == queue.StateQueued && j.Interruptions > 0 && j.NotBefore.After(now)
}

// IsDeferred reports whether a job that decides about a message has been given back.
func IsDeferred(j *queue.Job, now time.Time) bool {
	return slices.Contains(deciding, j.Type) && isGivenBack(j, now)
}

// WaitsForModel reports whether a job has been given back by a model: but for the rules, what they ask Gmail about the
// sender and a dry run, nothing else does that.
func WaitsForModel(j *queue.Job, now time.Time) bool {
	return IsDeferred(j, now) && !WaitsForRules(j, now) && !wasTried(j) &&
		!strings.Contains(j.LastError, rules.ErrSenders.Error())
}
