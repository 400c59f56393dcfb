package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A pipeline sorts one mailbox: that of the demo, or those of run.
type pipeline struct {
	app       *host
	rules     *rulesfile.File // nil: the stored rules stay
	accountID string
}

// openAccount makes the configured account, or returns the one that is there.
func (h *host) openAccount(ctx context.Context) (accountID string, err error) {
	err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = h.mail.EnsureAccount(ctx, tx, h.env.Config.Gmail.Address)
		return err
	})
	return accountID, err
}

// sort starts the pipeline: first the labels that the rules need, then a backfill, then the changes since it began. It waits for
// the labels' job, since rules refer to labels by their ids.
func (p *pipeline) sort(ctx context.Context, await, start func(context.Context, queue.NewJob) error) error {
	if err := p.takeRules(ctx, await); err != nil {
		return err
	}
	return p.begin(ctx, start)
}

// begin starts what takes in mail.
func (p *pipeline) begin(ctx context.Context, start func(context.Context, queue.NewJob) error) error {
	if err := p.takeInMissed(ctx); err != nil {
		return err
	}
	account, err := p.app.mail.Account(ctx, p.accountID)
	if err != nil {
		return err
	}
	switch backfill := account.Backfill; backfill.State {
	case gmail.BackfillNone:
		err = start(ctx, gmail.NewBackfillJob(p.accountID, p.app.env.Config.Gmail.Backfill, ""))
	case gmail.BackfillFailed:
		err = start(ctx, gmail.NewBackfillJob(p.accountID, backfill.Query, backfill.Page))
	}
	if err != nil {
		return err
	}
	if p.app.env.Config.Gmail.Topic != "" {
		if err := start(ctx, gmail.NewWatchJob(p.accountID)); err != nil {
			return err
		}
	}
	return start(ctx, gmail.NewHistorySyncJob(p.accountID, 0))
}

// process enqueues a job and runs jobs until nothing is left to do.
func (p *pipeline) process(ctx context.Context, job queue.NewJob) error {
	if _, err := p.app.queue.Enqueue(ctx, job); err != nil {
		return err
	}
	return p.app.runJobs(ctx)
}

// takeRules creates the labels of the user's rules, and stores the rules. It reads the file again if that has changed meanwhile.
func (p *pipeline) takeRules(ctx context.Context, await func(context.Context, queue.NewJob) error) error {
	for {
		var labels []string
		if p.rules != nil {
			labels = p.rules.NeededLabels(environment.Kinds)
		}
		if err := await(ctx, gmail.NewLabelsSyncJob(p.accountID, labels...)); err != nil || p.rules == nil {
			return err
		}
		err := p.importRules(ctx)
		if err == nil {
			return p.app.letDecide(ctx, p.accountID)
		}
		if !errors.Is(err, errOtherRules) {
			return err
		}
		if p.rules, err = p.app.env.ReadRules(); err != nil {
			return err
		}
	}
}

var errOtherRules = errors.New("the rules file has been changed since it was read")

// importRules converts label names in the user's rules to ids and stores the rules, unless the file has changed since it was
// read: a proposal that a person has accepted meanwhile is not reverted. See changeRules.
func (p *pipeline) importRules(ctx context.Context) error {
	id, err := p.app.labelIDs(ctx, p.accountID)
	if err != nil {
		return err
	}
	p.rules.ResolveLabels(id)
	return p.app.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if path := string(p.app.env.Config.Paths.Rules); path != "" {
			if err := p.app.rules.Lock(ctx, tx); err != nil {
				return err
			}
			switch there, err := os.ReadFile(path); {
			case err != nil:
				return err
			case string(there) != p.rules.Source:
				return errOtherRules
			}
		}
		_, err := p.app.rules.ImportFile(ctx, tx, p.accountID, p.rules.ImportSource())
		return err
	})
}

// labelIDs returns a function that finds the id of a label of the account by its name.
func (h *host) labelIDs(ctx context.Context, accountID string) (id func(name string) (string, bool), err error) {
	labels, err := h.mail.Labels(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return func(name string) (string, bool) {
		i := slices.IndexFunc(labels, func(l postroom.Label) bool { return strings.EqualFold(l.Name, name) })
		if i < 0 {
			return "", false
		}
		return labels[i].ID, true
	}, nil
}

// known returns the number of messages that the pipeline has ingested, broken ones included.
func (p *pipeline) known(ctx context.Context) (int, error) { return p.app.countMail(ctx, p.accountID) }

func (h *host) countMail(ctx context.Context, accountID string) (int, error) {
	read, err := h.mail.CountMessages(ctx, accountID)
	if err != nil {
		return 0, err
	}
	broken, err := h.mail.Broken(ctx, accountID)
	return read + len(broken), err
}
