package pipeline

import (
	"context"
	"errors"
	"strings"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A setup brings one account to the point where its mail is sorted.
type setup struct {
	*Pipeline
	account mailstore.Account
	await   func(context.Context, queue.NewJob) error // enqueues a job, and returns when it is completed
	start   func(context.Context, queue.NewJob) error // enqueues a job
}

// run starts the pipeline: first the labels that the rules need, then a backfill, then the changes since it began. It
// waits for the labels' job, since rules refer to labels by their ids.
func (s *setup) run(ctx context.Context) error {
	if err := s.takeRules(ctx); err != nil {
		return err
	}
	return s.begin(ctx)
}

// tellOld logs how many messages are left alone that came before the mailbox was added.
func (s *setup) tellOld(ctx context.Context, account mailstore.Account) error {
	old, err := s.Mail.CountOld(ctx, account)
	if err == nil && old > 0 {
		s.cfg.Logger.InfoContext(ctx, "messages from before the mailbox was added are stored, and nothing is done to them "+
			"until rules are applied to them", "account", account.Email, "messages", old, "before", account.DecideSince)
	}
	return err
}

// begin starts what takes in mail.
func (s *setup) begin(ctx context.Context) error {
	id := s.account.ID
	if err := s.RetryMissed(ctx, id); err != nil {
		return err
	}
	account, err := s.Mail.Account(ctx, id)
	if err != nil {
		return err
	}
	switch backfill := account.Backfill; backfill.State {
	case mailstore.BackfillNone:
		if !account.DecideSince.IsZero() {
			s.cfg.Logger.InfoContext(ctx, "mail from before the mailbox was added is stored, and nothing is done to it until "+
				"rules are applied to it", "account", account.Email, "before", account.DecideSince)
		}
		err = s.start(ctx, gmail.NewBackfillJob(id, s.cfg.Backfill, ""))
	case mailstore.BackfillDone:
		err = s.tellOld(ctx, account)
	case mailstore.BackfillFailed:
		err = s.start(ctx, gmail.NewBackfillJob(id, backfill.Query, backfill.Page))
	}
	if err != nil {
		return err
	}
	if s.ages() {
		if err := s.start(ctx, aging.NewJob(id)); err != nil {
			return err
		}
	}
	if s.cfg.Gmail.Topic != "" {
		if err := s.start(ctx, gmail.NewWatchJob(id)); err != nil {
			return err
		}
	}
	return s.start(ctx, gmail.NewHistorySyncJob(id, 0))
}

// note stores why the account cannot be set up; nil if it can.
func (s *setup) note(ctx context.Context, fault error) error {
	if isOver(ctx) { // it was stopped, which is no fault of the account
		return nil
	}
	why := ""
	if fault != nil {
		why = fault.Error()
	}
	if now, err := s.Mail.Account(ctx, s.account.ID); err != nil || now.SetupError == why {
		return err
	}
	return s.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return s.Mail.SetSetupError(ctx, tx, s.account.ID, why)
	})
}

func isOver(ctx context.Context) bool { return ctx.Err() != nil }

// takeRules creates the labels of the account's rules, and stores the rules. It asks for them again if they have
// changed meanwhile.
func (s *setup) takeRules(ctx context.Context) error {
	for {
		file, err := s.rules(ctx)
		if err != nil {
			return err
		}
		var labels []string
		if file != nil {
			labels = file.For(s.account.ID, s.account.Email).NeededLabels(s.cfg.Kinds)
		} else if err := s.letStored(ctx); err != nil {
			return err
		}
		labels = append(labels, s.cfg.Labels...)
		if err := s.await(ctx, gmail.NewLabelsSyncJob(s.account.ID, labels...)); err != nil || file == nil {
			return err
		}
		switch err := s.storeRules(ctx, file); {
		case err == nil:
			return s.letDecide(ctx, s.account.ID)
		case !errors.Is(err, errOtherRules):
			return err
		}
	}
}

// rules returns the rules of the host for the account; nil if the stored ones stay.
func (s *setup) rules(ctx context.Context) (*rulesfile.File, error) {
	if s.cfg.Rules == nil {
		return nil, nil
	}
	return s.cfg.Rules(ctx, s.account)
}

// letStored opens the gate for an account whose stored rules stay, if there are any or the host has said so. A host
// that says so of an account without rules wants none.
func (s *setup) letStored(ctx context.Context) error {
	if s.cfg.Rules == nil {
		if s.gate.holds(ctx, s.account.ID) {
			return nil
		}
		return s.letDecide(ctx, s.account.ID)
	}
	stored, err := s.Rules.Stored(ctx, s.account.ID)
	if err == nil && !stored {
		err = s.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Rules.Import(ctx, tx, s.account.ID, []rules.Rule{})
			return err
		})
	}
	if err != nil {
		return err
	}
	return s.letDecide(ctx, s.account.ID)
}

var errOtherRules = errors.New("the rules have been changed since they were read")

// storeRules converts label names in the rules to ids and stores the rules, unless they have changed since they were
// read: what a person has accepted meanwhile is not reverted.
func (s *setup) storeRules(ctx context.Context, file *rulesfile.File) error {
	labels, err := s.Mail.Labels(ctx, s.account.ID)
	if err != nil {
		return err
	}
	own := file.For(s.account.ID, s.account.Email) // the ids of labels, which replace their names, are the account's
	own.ResolveLabels(func(name string) (string, bool) {
		for i := range labels {
			if strings.EqualFold(labels[i].Name, name) {
				return labels[i].ID, true
			}
		}
		return "", false
	})
	return s.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if s.cfg.RulesChanged != nil {
			if err := s.Rules.Lock(ctx, tx); err != nil {
				return err
			}
			switch changed, err := s.cfg.RulesChanged(file); {
			case err != nil:
				return err
			case changed:
				return errOtherRules
			}
		}
		_, err := s.Rules.ImportFile(ctx, tx, s.account.ID, own.ImportSource())
		return err
	})
}
