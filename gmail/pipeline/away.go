package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

func (p *Pipeline) openAway() (err error) {
	p.Away, err = away.New(away.Config{Store: p.Mail, Clients: p.Clients, Now: p.cfg.Now, Logger: p.cfg.Logger,
		Correspondents: senders.Correspondents{Store: p.Mail}, Cancel: p.cancelAnswer,
		CancelExpired: p.cancelExpired})
	return err
}

// beside is that of the configuration of package rules: it answers mail while its owner is away.
func (p *Pipeline) beside(ledger rules.Ledger) func(ctx context.Context, msg *postroom.Message,
	decided []postroom.Decision) (func(ctx context.Context, tx queue.Tx) error, error) {
	if p.Away == nil {
		return nil
	}
	return func(ctx context.Context, msg *postroom.Message, decided []postroom.Decision) (
		func(ctx context.Context, tx queue.Tx) error, error) {
		return p.Away.Decide(ctx, msg, decided, ledger)
	}
}

// confirmAway returns why a message is not answered any more while its owner is away: the owner is not asked then.
func (p *Pipeline) confirmAway(ctx context.Context, msg *postroom.Message, permit postroom.Permit) error {
	if p.Away == nil {
		return fmt.Errorf("%w: nothing is sent here", gmail.ErrNotWanted)
	}
	fault, err := p.Away.Confirm(ctx, msg, permit)
	return notWanted(fault, err)
}

// wanted is that of gmail.Config: an approved answer is not sent when its absence is over.
func (p *Pipeline) wanted(ctx context.Context, permit postroom.Permit) error {
	if p.Away == nil || !away.IsRule(permit.Decision.RuleID) {
		return nil
	}
	fault, err := p.Away.Wanted(ctx, permit)
	return notWanted(fault, err)
}

func notWanted(fault string, err error) error {
	if err == nil && fault != "" {
		err = fmt.Errorf("%w: %s", gmail.ErrNotWanted, fault)
	}
	return err
}

// cancelAnswer cancels an answer that has not begun.
func (p *Pipeline) cancelAnswer(ctx context.Context, tx queue.Tx, actionID, reason string) error {
	a, err := p.Ledger.ActionTx(ctx, tx, actionID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil
	case err != nil || !slices.Contains(undone, a.State):
		return err
	}
	return p.Ledger.Cancel(ctx, tx, actionID, reason)
}

// cancelExpired cancels an answer if the request to approve it has expired.
func (p *Pipeline) cancelExpired(ctx context.Context, tx queue.Tx, actionID, reason string) error {
	requests, err := p.Ledger.ApprovalsOfTx(ctx, tx, actionID)
	if err != nil || len(requests) == 0 {
		return err
	}
	last := requests[len(requests)-1]
	if last.Outcome != safety.OutcomeWaiting || queue.Now(tx).Before(last.ExpiresAt) {
		return nil
	}
	return p.cancelAnswer(ctx, tx, actionID, reason)
}

func (p *Pipeline) forgetAway(ctx context.Context, accountID string) error {
	return p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return away.Forget(ctx, tx, accountID) })
}

// storedRules are the rules of the owners and their absences, to the ledger.
type storedRules struct{ p *Pipeline }

// StoredRule implements the Rules of package safety.
func (s storedRules) StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error) {
	if s.p.Away != nil && away.IsRule(id) {
		return s.p.Away.StoredRule(ctx, tx, id)
	}
	return s.p.Rules.StoredRule(ctx, tx, id)
}

// Kinds returns the kinds of actions of the rules.
func (s storedRules) Kinds() *postroom.Kinds { return s.p.Rules.Kinds() }
