package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// An outageView is a model that is not called, and the reason.
type outageView struct {
	Model   string    `json:"model"`
	Mailbox string    `json:"mailbox,omitempty"` // the address of the one whose budget is spent
	Reason  string    `json:"reason"`
	Failure string    `json:"failure"`
	Since   time.Time `json:"since"`
	Calls   int64     `json:"calls"` // that were refused
	Until   time.Time `json:"until,omitzero"`
}

// String returns one line for people.
func (o outageView) String() string {
	text := o.Model + " since " + printer.Clock(o.Since)
	if !o.Until.IsZero() {
		text += ", until " + printer.Clock(o.Until)
	}
	if o.Mailbox != "" {
		text += ", for " + o.Mailbox
	}
	return text + ": " + o.Failure
}

// outages returns the configured models that are not called.
func (h *host) outages(ctx context.Context) ([]outageView, error) {
	found, err := h.records.Outages(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	emails := map[string]string{}
	for _, a := range accounts {
		emails[a.ID] = a.Email
	}
	configured := map[string]bool{}
	for _, name := range h.models() {
		configured[name] = true
	}
	views := []outageView{}
	for _, o := range found {
		if configured[o.Model] {
			views = append(views, viewOutage(o, emails[o.AccountID]))
		}
	}
	return views, nil
}

func viewOutage(o llm.Outage, email string) outageView {
	return outageView{Model: o.Model, Mailbox: email, Reason: o.Reason, Failure: o.Failure, Since: o.Since, Calls: o.Calls, Until: o.Until}
}

// An undecided counts the messages about which nothing is decided yet, by what they wait for.
type undecided struct{ model, rules int }

func (h *host) countUndecided(ctx context.Context) (n undecided, err error) {
	now := time.Now()
	_, err = h.deferred(ctx, func(j *queue.Job) bool {
		switch {
		case waitsForRules(j, now):
			n.rules++
		case waitsForModel(j, now):
			n.model++
		}
		return false
	})
	return n, err
}

// deferred lists the queued jobs that decide about a message, of those that are wanted.
func (h *host) deferred(ctx context.Context, wanted func(*queue.Job) bool) (ids []string, err error) {
	jobs, err := h.queued(ctx, queue.Filter{Types: []string{string(rules.JobClassify)}}, wanted)
	return jobIDs(jobs), err
}

func jobIDs(jobs []queue.Job) []string {
	ids := make([]string, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	return ids
}

// queued lists the queued jobs of a filter that are wanted.
func (h *host) queued(ctx context.Context, filter queue.Filter, wanted func(*queue.Job) bool) ([]queue.Job, error) {
	filter.States = []queue.State{queue.StateQueued}
	return h.jobsOf(ctx, filter, wanted)
}

// jobsOf lists all jobs of a filter that are wanted, newest first.
func (h *host) jobsOf(ctx context.Context, filter queue.Filter, wanted func(*queue.Job) bool) (list []queue.Job, err error) {
	filter.Limit = laterPage
	for {
		jobs, err := h.queue.Jobs(ctx, filter)
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

// askAgain makes the jobs due that decide and were given back, and those that find mail and labels and have failed: who has set a key
// right, or the network, starts the program anew.
func (h *host) askAgain(ctx context.Context) error {
	now := time.Now()
	ids, err := h.deferred(ctx, func(j *queue.Job) bool { return isDeferred(j, now) })
	if err != nil {
		return err
	}
	failed, err := h.queued(ctx, queue.Filter{Types: askedAgain}, func(j *queue.Job) bool { return j.Failures > 0 })
	if err != nil {
		return err
	}
	return h.makeDue(ctx, append(ids, jobIDs(failed)...))
}

// makeDue lets queued jobs run now that were to run later.
func (h *host) makeDue(ctx context.Context, ids []string) error {
	for batch := range slices.Chunk(ids, laterPage) {
		err := h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			for _, id := range batch {
				err := h.queue.CancelTx(ctx, tx, id)
				if errors.Is(err, queue.ErrFinished) || errors.Is(err, queue.ErrJobNotFound) {
					continue // another process was faster
				}
				if err != nil {
					return err
				}
				if err := h.queue.RetryTx(ctx, tx, id); err != nil {
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

// isGivenBack reports whether a job has been given back, to be tried later. One that was interrupted otherwise is due at once.
func isGivenBack(j *queue.Job, now time.Time) bool {
	return j.State == queue.StateQueued && j.Interruptions > 0 && j.NotBefore.After(now)
}

// isDeferred reports whether a job that decides about a message has been given back.
func isDeferred(j *queue.Job, now time.Time) bool {
	return j.Type == string(rules.JobClassify) && isGivenBack(j, now)
}

// waitsForModel reports whether a job has been given back by a model: but for the rules, nothing else does that.
func waitsForModel(j *queue.Job, now time.Time) bool {
	return isDeferred(j, now) && !waitsForRules(j, now)
}
