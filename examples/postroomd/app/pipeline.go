package app

import (
	"context"
	"errors"
	"os"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A Pipeline sorts one mailbox: that of the demo, or those of run.
type Pipeline struct {
	App       *App
	Rules     *rulesfile.File // nil: the stored rules stay
	AccountID string
}

// Sort starts the pipeline: first the labels that the rules need, then a backfill, then the changes since it began. It waits for
// the labels' job, since rules refer to labels by their ids.
func (p *Pipeline) Sort(ctx context.Context, await, start func(context.Context, queue.NewJob) error) error {
	if err := p.TakeRules(ctx, await); err != nil {
		return err
	}
	return p.begin(ctx, start)
}

// begin starts what takes in mail.
func (p *Pipeline) begin(ctx context.Context, start func(context.Context, queue.NewJob) error) error {
	if err := p.TakeInMissed(ctx); err != nil {
		return err
	}
	account, err := p.App.Mail.Account(ctx, p.AccountID)
	if err != nil {
		return err
	}
	switch backfill := account.Backfill; backfill.State {
	case mailstore.BackfillNone:
		err = start(ctx, gmail.NewBackfillJob(p.AccountID, p.App.Env.Config.Gmail.Backfill, ""))
	case mailstore.BackfillFailed:
		err = start(ctx, gmail.NewBackfillJob(p.AccountID, backfill.Query, backfill.Page))
	}
	if err != nil {
		return err
	}
	if p.App.Env.Config.Gmail.Topic != "" {
		if err := start(ctx, gmail.NewWatchJob(p.AccountID)); err != nil {
			return err
		}
	}
	return start(ctx, gmail.NewHistorySyncJob(p.AccountID, 0))
}

// Process enqueues a job and runs jobs until nothing is left to do.
func (p *Pipeline) Process(ctx context.Context, job queue.NewJob) error {
	if _, err := p.App.Queue.Enqueue(ctx, job); err != nil {
		return err
	}
	return p.App.RunJobs(ctx)
}

// TakeRules creates the labels of the user's rules, and stores the rules. It reads the file again if that has changed meanwhile.
func (p *Pipeline) TakeRules(ctx context.Context, await func(context.Context, queue.NewJob) error) error {
	for {
		var labels []string
		if p.Rules != nil {
			labels = p.Rules.NeededLabels(environment.Kinds)
		}
		if err := await(ctx, gmail.NewLabelsSyncJob(p.AccountID, labels...)); err != nil || p.Rules == nil {
			return err
		}
		err := p.importRules(ctx)
		if err == nil {
			return p.App.LetDecide(ctx, p.AccountID)
		}
		if !errors.Is(err, errOtherRules) {
			return err
		}
		if p.Rules, err = p.App.Env.ReadRules(); err != nil {
			return err
		}
	}
}

var errOtherRules = errors.New("the rules file has been changed since it was read")

// importRules converts label names in the user's rules to ids and stores the rules, unless the file has changed since it was
// read: a proposal that a person has accepted meanwhile is not reverted. See changeRules.
func (p *Pipeline) importRules(ctx context.Context) error {
	id, err := p.App.RuleEditor.LabelIDs(ctx, p.AccountID)
	if err != nil {
		return err
	}
	p.Rules.ResolveLabels(id)
	return p.App.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if path := string(p.App.Env.Config.Paths.Rules); path != "" {
			if err := p.App.Rules.Lock(ctx, tx); err != nil {
				return err
			}
			switch there, err := os.ReadFile(path); {
			case err != nil:
				return err
			case string(there) != p.Rules.Source:
				return errOtherRules
			}
		}
		_, err := p.App.Rules.ImportFile(ctx, tx, p.AccountID, p.Rules.ImportSource())
		return err
	})
}

// Known returns the number of messages that the pipeline has ingested, broken ones included.
func (p *Pipeline) Known(ctx context.Context) (int, error) { return p.App.CountMail(ctx, p.AccountID) }

// OpenConfiguredAccount makes the configured account, or returns the one that is there.
func (h *App) OpenConfiguredAccount(ctx context.Context) (accountID string, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = h.Mail.EnsureAccount(ctx, tx, h.Env.Config.Gmail.Address)
		return err
	})
	return accountID, err
}

// CountMail counts the stored messages of an account, and those that could not be read.
func (h *App) CountMail(ctx context.Context, accountID string) (int, error) {
	read, err := h.Mail.CountMessages(ctx, accountID)
	if err != nil {
		return 0, err
	}
	broken, err := h.Mail.Broken(ctx, accountID)
	return read + len(broken), err
}
