package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	text := o.Model + " since " + clock(o.Since)
	if !o.Until.IsZero() {
		text += ", until " + clock(o.Until)
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

// countUndecided counts the messages that wait for a model.
func (h *host) countUndecided(ctx context.Context) (int, error) {
	ids, err := h.undecided(ctx)
	return len(ids), err
}

// undecided returns the jobs that wait for a model.
func (h *host) undecided(ctx context.Context) (ids []string, err error) {
	filter := queue.Filter{Types: []string{string(rules.JobClassify)}, States: []queue.State{queue.StateQueued}, Limit: laterPage}
	for now := time.Now(); ; {
		jobs, err := h.queue.Jobs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("list what waits for a model: %w", err)
		}
		for i := range jobs {
			if waitsForModel(&jobs[i], now) {
				ids = append(ids, jobs[i].ID)
			}
		}
		if len(jobs) < laterPage {
			return ids, nil
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

// askAgain makes the jobs due that wait for a model: a person who has corrected a key restarts the program.
func (h *host) askAgain(ctx context.Context) error {
	ids, err := h.undecided(ctx)
	if err != nil {
		return err
	}
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
			return fmt.Errorf("ask the model again: %w", err)
		}
	}
	return nil
}

// waitsForModel reports whether a job was deferred: of the jobs that decide about a message, only those that wait for a model
// are. A job that was interrupted otherwise is due at once.
func waitsForModel(j *queue.Job, now time.Time) bool {
	return j.Type == string(rules.JobClassify) && j.State == queue.StateQueued && j.Interruptions > 0 && j.NotBefore.After(now)
}
