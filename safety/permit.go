package safety

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety/internal/keyring"
)

// Permit returns what permits an action: itself, its decision, and who has approved it. A job that takes an
// irreversible step without an approver compares the message with the decision before. Nothing permits an action that
// waits for a person.
func (l *Ledger) Permit(ctx context.Context, actionID string) (permit postroom.Permit, err error) {
	p, err := l.keys.permit(ctx, l.cfg.DB.Reader(), actionID)
	if err != nil {
		return permit, err
	}
	if permit.Action, err = p.value(); err != nil {
		return permit, err
	}
	decided, err := p.decided.value()
	permit.Decision, permit.DecidedAt, permit.Approver = decided.Decision, decided.CreatedAt, p.Approver
	permit.Verified = l.keys.verify(p) == keyring.Right
	if err != nil || !permit.Verified || permit.Action.State.Final() {
		return permit, err
	}
	past, err := l.History(ctx, p.AccountID, p.MessageID)
	for i := range past {
		hint := past[i].UndoHint
		if hint != nil && hint.Before != nil && !past[i].ExecutedAt.Before(permit.DecidedAt) {
			permit.Before = hint.Before // as it was before the first action that was carried out since the decision
			break
		}
	}
	return permit, err
}

// Verified returns an action, and reports whether it is what was permitted, or what a person is asked about. Compose
// content only from the action that Verified returns, since [Ledger.SetContent] signs any hash.
func (l *Ledger) Verified(ctx context.Context, actionID string) (a postroom.Action, ok bool, err error) {
	p, err := l.keys.permit(ctx, l.cfg.DB.Reader(), actionID)
	if err != nil {
		return a, false, err
	}
	if _, ok, err = l.keys.sound(ctx, l.cfg.DB.Reader(), p); err != nil || !ok {
		return a, false, err
	}
	a, err = p.value()
	return a, true, err
}
