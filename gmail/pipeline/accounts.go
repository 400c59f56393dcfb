package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// AddAccount adds the account with the address, or returns the one that is there. If the pipeline runs, it sets the
// account up at once; in another process it does so within seconds.
func (p *Pipeline) AddAccount(ctx context.Context, email string) (accountID string, err error) {
	err = p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = p.EnsureAccount(ctx, tx, email)
		return err
	})
	if err == nil {
		select {
		case p.added <- struct{}{}:
		default: // it will be looked at
		}
	}
	return accountID, err
}

// EnsureAccount is the transaction of [Pipeline.AddAccount], for a host that stores more with it. A running pipeline
// sets the account up within seconds.
func (p *Pipeline) EnsureAccount(ctx context.Context, tx queue.Tx, email string) (accountID string, err error) {
	since := queue.Now(tx)
	if p.cfg.SortOldMail {
		since = time.Time{}
	}
	return p.Mail.EnsureAccount(ctx, tx, email, since)
}

// RemoveAccount removes an account: its mail, its jobs and schedules, its rules, and what waits for a person. The
// records of decisions and actions stay; see [gmail.RemoveAccount]. If it is interrupted, another call finishes.
//
// It cancels waiting actions first, so that people who were asked are notified at once, and again at the end, together
// with executing ones: until then a running process may have decided about mail.
//
// rest removes what the host keeps for the account. It is called after the above, and before the account is deleted: if
// it fails or is interrupted, the other call calls it again.
func (p *Pipeline) RemoveAccount(ctx context.Context, accountID string, rest ...func(ctx context.Context) error) error {
	if err := p.cancelActions(ctx, accountID, mailboxRemoved, undone...); err != nil {
		return err
	}
	own := func(ctx context.Context) error {
		p.gate.forgets(accountID)
		return errors.Join(
			p.cancelDeciding(ctx, accountID),
			p.cancelActions(ctx, accountID, mailboxRemoved, undone...),
			p.cancelActions(ctx, accountID, mailboxRemoved+" while this was carried out; what it has done at Gmail stays",
				postroom.ActionExecuting),
			p.removeSchedules(ctx, accountID), p.removeRules(ctx, accountID), p.forgetAway(ctx, accountID),
			p.forgetLessons(ctx, accountID))
	}
	err := gmail.RemoveAccount(ctx, p.Mail, p.Queue, accountID, append([]func(context.Context) error{own}, rest...)...)
	if err == nil {
		p.Clients.Forget(accountID)
	}
	return err
}

const mailboxRemoved = "the mailbox was removed"

// undone are the states of actions that have not begun.
var undone = []postroom.ActionState{postroom.ActionPendingApproval, postroom.ActionQueued}

// cancelDeciding cancels the jobs that decide about the mail of an account. They have no limit key.
func (p *Pipeline) cancelDeciding(ctx context.Context, accountID string) error {
	jobs, err := p.Backlog.Queued(ctx, queue.Filter{Types: deciding},
		func(j *queue.Job) bool {
			of, ok := accountOf(j)
			return ok && of == accountID
		})
	if err != nil {
		return err
	}
	for i := range jobs {
		err := p.Queue.Cancel(ctx, jobs[i].ID)
		if err != nil && !errors.Is(err, queue.ErrFinished) && !errors.Is(err, queue.ErrJobNotFound) {
			return err
		}
	}
	return nil
}

// cancelActions cancels the actions of an account in the given states: nobody can carry them out without the mailbox.
func (p *Pipeline) cancelActions(ctx context.Context, accountID, why string, states ...postroom.ActionState) error {
	for f := (safety.Filter{AccountID: accountID, States: states, Limit: 100}); ; {
		page, err := p.Ledger.Actions(ctx, f)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			err := p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				return p.Ledger.Cancel(ctx, tx, e.Action.ID, why)
			})
			if err != nil && !errors.Is(err, safety.ErrState) {
				return err
			}
		}
		f.Before = page[len(page)-1].Action.ID
	}
}

// removeRules deletes the rules of an account. Their versions stay, to which decisions refer.
func (p *Pipeline) removeRules(ctx context.Context, accountID string) error {
	err := p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := p.Rules.Import(ctx, tx, accountID, []rules.Rule{})
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the rules of account %s: %w", accountID, err)
	}
	return nil
}

// CountMail counts the stored messages of an account, and those that could not be read. It takes the longer the more
// there are; see [Pipeline.CountMailUpTo].
func (p *Pipeline) CountMail(ctx context.Context, accountID string) (int, error) {
	read, err := p.Mail.CountMessages(ctx, accountID)
	if err != nil {
		return 0, err
	}
	broken, err := p.Mail.Broken(ctx, accountID)
	return read + len(broken), err
}

// CountMailUpTo is [Pipeline.CountMail] that ends at a number: it returns at most so many.
func (p *Pipeline) CountMailUpTo(ctx context.Context, accountID string, most int) (int, error) {
	read, err := p.Mail.CountMessagesUpTo(ctx, accountID, most)
	if err != nil || read == most {
		return read, err
	}
	broken, err := p.Mail.Broken(ctx, accountID)
	return min(read+len(broken), most), err
}

// CountAged counts what the rules of an account have been asked again about, since it has become old enough.
func (p *Pipeline) CountAged(ctx context.Context, accountID string) (aging.Counts, error) {
	return aging.Count(ctx, p.Mail, accountID)
}

// accounts lists those that are not being removed.
func (p *Pipeline) accounts(ctx context.Context) (list []mailstore.Account, err error) {
	all, err := p.Mail.Accounts(ctx)
	for i := range all {
		if all[i].State != mailstore.AccountRemoving {
			list = append(list, all[i])
		}
	}
	return list, err
}
