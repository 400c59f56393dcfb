package undo

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// endOf returns how the action ends, or the undo, whose job has ended without it.
func (u *Undoer) endOf(ctx context.Context, actionID string) (postroom.ActionEnd, error) {
	a, err := u.ledger.Action(ctx, actionID)
	if err != nil {
		return postroom.ActionEnd{}, err
	}
	if box, ok := u.mailbox.(Ender); ok {
		return box.End(ctx, a)
	}
	return postroom.ActionEnd{State: postroom.ActionFailed, Reason: attempts.JobEnded}, nil
}

func (u *Undoer) end(ctx context.Context, tx queue.Tx, actionID string, end postroom.ActionEnd) error {
	if end.Commit != nil {
		if err := end.Commit(ctx, tx); err != nil {
			return err
		}
	}
	switch end.State {
	case postroom.ActionCompleted:
		return u.ledger.Complete(ctx, tx, actionID, end.Hint)
	case postroom.ActionCanceled:
		return u.ledger.Cancel(ctx, tx, actionID, end.Reason)
	}
	return u.ledger.Fail(ctx, tx, actionID, end.Reason)
}
