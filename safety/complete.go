package safety

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// Complete makes an executing action completed and stores its hint. Completing an undo of an undo makes the original
// action count as not undone.
func (l *Ledger) Complete(ctx context.Context, tx queue.Tx, actionID string, hint postroom.UndoHint) error {
	a, err := l.actions.endAs(ctx, tx, actionID, change{op: "complete", to: postroom.ActionCompleted, hint: &hint})
	if err != nil || !IsUndo(a.Type) {
		return err
	}
	if err := voidLinks(ctx, tx, voidUndone, actionID); err != nil || IsRedo(a.Type) {
		return err
	}
	return l.breakers.Undone(ctx, tx, a)
}

// Fail makes a queued or executing action failed, with the reason for people. If an undo fails, its original can be
// undone again. If the action is a snooze whose wake-up has the lock of the message, Fail takes the lock from it, and
// changes nothing else.
func (l *Ledger) Fail(ctx context.Context, tx queue.Tx, actionID, reason string) error {
	a, err := l.actions.end(ctx, tx, actionID, change{op: "fail", to: postroom.ActionFailed, error: reason})
	if _, ended := errors.AsType[*StateError](err); ended {
		return failWakeUp(ctx, tx, a, err)
	}
	if err != nil || IsUndo(a.Type) {
		return err
	}
	return l.breakers.Failed(ctx, tx, a)
}

// Cancel makes an action that is not final canceled, with the reason for people, and withdraws its open request for
// approval. The job of an executing action gets a [*StateError] when it completes the action; its changes at the
// provider stay.
func (l *Ledger) Cancel(ctx context.Context, tx queue.Tx, actionID, reason string) error {
	_, err := l.actions.end(ctx, tx, actionID, change{op: "cancel", to: postroom.ActionCanceled, error: reason})
	if err != nil {
		return err
	}
	return l.requests.withdraw(ctx, tx, actionID, reason)
}

// Action returns one action, or [postroom.ErrNotFound].
func (l *Ledger) Action(ctx context.Context, id string) (postroom.Action, error) {
	return findAction(ctx, l.cfg.DB.Reader(), id)
}

// ActionTx is [Ledger.Action] inside a write transaction.
func (l *Ledger) ActionTx(ctx context.Context, tx queue.Tx, id string) (postroom.Action, error) {
	return findAction(ctx, tx, id)
}
