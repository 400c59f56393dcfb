package safety

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
)

// Permit returns what an action may be carried out by: itself, its decision, and who has approved it. Whoever cannot take back what an action
// does, and has no approver, looks by its decision whether the message is still what was decided about. Of an action that waits for
// a person nothing is vouched for.
func (l *Ledger) Permit(ctx context.Context, actionID string) (permit postroom.Permit, err error) {
	err = l.snapshot(ctx, func(tx *snapshot) error {
		if err := l.keys.load(ctx, tx); err != nil {
			return err
		}
		p, err := readPermit(ctx, tx, actionID)
		if err != nil {
			return err
		}
		if permit.Action, err = p.value(); err != nil {
			return err
		}
		decided, err := p.decided.value()
		permit.Decision, permit.DecidedAt, permit.Approver = decided.Decision, decided.CreatedAt, p.Approver
		permit.Vouched = l.vouched(&p) == signedRight
		return err
	})
	if err != nil || !permit.Vouched || permit.Action.State.Final() {
		return permit, err
	}
	permit.Before, err = l.beforeOurs(ctx, &permit)
	return permit, err
}

// beforeOurs returns the message as it was before what was done to it since a decision. Where that was altered it cannot be told, and the
// message is taken for what it is now.
func (l *Ledger) beforeOurs(ctx context.Context, p *postroom.Permit) (*postroom.Image, error) {
	past, err := l.History(ctx, p.Action.AccountID, p.Action.MessageID)
	if errors.Is(err, ErrAltered) {
		return nil, nil //nolint:nilnil // none is no error, and no image
	}
	for i := range past {
		if hint := past[i].UndoHint; hint != nil && hint.Before != nil && !past[i].ExecutedAt.Before(p.DecidedAt) {
			return hint.Before, err
		}
	}
	return nil, err
}
