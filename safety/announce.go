package safety

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// Announce signs that the job of an executing action is about to take an irreversible step, before it does. The announcement is
// for the job itself: Start returns it to a later attempt in the [postroom.UndoHint] of the action, and the attempt finds out
// whether the step was taken and does not repeat it. Nil withdraws an announcement: nothing was done.
//
// a is the action as the job read it. If its content, its job or its announcement is not what the audit log says, Announce writes
// nothing and returns [ErrAltered], or an error that says that another attempt was first. Announce returns the updated action.
func (l *Ledger) Announce(ctx context.Context, tx queue.Tx, a postroom.Action, announced postroom.Parameters) (postroom.Action, error) {
	const op = "announce what is done by"
	p, err := l.permit(ctx, tx, a.ID)
	if err != nil {
		return a, err
	}
	if p.State != postroom.ActionExecuting || p.JobID != a.JobID {
		return l.tooLate(ctx, tx, a.ID, op)
	}
	known, err := encodeHint(a.UndoHint)
	if err != nil {
		return a, err
	}
	_, sound, err := l.sound(ctx, tx, p, op)
	switch {
	case err != nil:
		return a, err
	case !sound || p.Content != a.ContentSHA256:
		return a, fmt.Errorf("safety: %s action %s: %w", op, a.ID, ErrAltered)
	case p.UndoHint != known:
		return a, fmt.Errorf("safety: %s action %s: another attempt has announced it since: look what became of that", op, a.ID)
	}
	next := p.actionRow
	if next.UndoHint, err = encodeHint(announcement(announced)); err != nil {
		return a, err
	}
	if a, err := l.store(ctx, tx, &p.actionRow, &next, op, false); err != nil {
		return a, err
	}
	return p.value()
}

func announcement(announced postroom.Parameters) *postroom.UndoHint {
	if announced == nil {
		return nil
	}
	return &postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Announced: announced}
}
