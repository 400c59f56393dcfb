package safety

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// Permit returns what permits an action: itself, its decision, and who has approved it. A job that takes an irreversible step
// without an approver compares the message with the decision before. Nothing permits an action that waits for a person.
func (l *Ledger) Permit(ctx context.Context, actionID string) (permit postroom.Permit, err error) {
	p, err := l.permit(ctx, l.cfg.DB.Reader(), actionID)
	if err != nil {
		return permit, err
	}
	if permit.Action, err = p.value(); err != nil {
		return permit, err
	}
	decided, err := p.decided.value()
	permit.Decision, permit.DecidedAt, permit.Approver = decided.Decision, decided.CreatedAt, p.Approver
	permit.Verified = l.verify(p) == signedRight
	if err != nil || !permit.Verified || permit.Action.State.Final() {
		return permit, err
	}
	permit.Before, err = l.beforeOurs(ctx, &permit)
	return permit, err
}

// beforeOurs returns the message as it was before the first action that was carried out on it since a decision; nil if there was
// none.
func (l *Ledger) beforeOurs(ctx context.Context, p *postroom.Permit) (*postroom.Snapshot, error) {
	past, err := l.History(ctx, p.Action.AccountID, p.Action.MessageID)
	for i := range past {
		if hint := past[i].UndoHint; hint != nil && hint.Before != nil && !past[i].ExecutedAt.Before(p.DecidedAt) {
			return hint.Before, err
		}
	}
	return nil, err
}

// Verified returns an action, and reports whether it is what was permitted, or what a person is asked about. Compose content only
// from the action that Verified returns, since [Ledger.SetContent] signs any hash.
func (l *Ledger) Verified(ctx context.Context, actionID string) (a postroom.Action, ok bool, err error) {
	p, err := l.permit(ctx, l.cfg.DB.Reader(), actionID)
	if err != nil {
		return a, false, err
	}
	if _, ok, err = l.sound(ctx, l.cfg.DB.Reader(), p); err != nil || !ok {
		return a, false, err
	}
	a, err = p.value()
	return a, true, err
}

// sound reports whether an action that has not ended is what was permitted, or what a person was asked about. It returns the open
// request of a waiting action.
func (l *Ledger) sound(ctx context.Context, q dbquery.Querier, p *permitRow) (r *approvalRow, ok bool, err error) {
	if p.State != postroom.ActionPendingApproval {
		return nil, l.verify(p) == signedRight, nil
	}
	r, err = openRequest(ctx, q, p.ID)
	return r, err == nil && r != nil && l.verifyRequest(p, r) == signedRight, err
}
