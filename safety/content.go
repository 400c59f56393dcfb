package safety

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/internal/keyring"
)

// SetContent records the SHA-256, in lower-case hexadecimal, of what an action sends. From then on the open request
// for approval and each later one also name it: a person who approves the action approves these bytes, and the code
// that sends compares them. Call it before a person is asked. For an action that is already approved, the hash is
// signed with the rest of what was permitted, but the person has approved the parameters only.
//
// The first hash stays: setting the same hash again changes nothing, and another hash is [ErrContentSet]. Only a person
// replaces it, by an [Editor]. A final action is a [*StateError].
func (l *Ledger) SetContent(ctx context.Context, tx queue.Tx, actionID, sha256 string) error {
	const op = "set the content of"
	if !isSHA256(sha256) {
		return noSHA256(actionID, sha256)
	}
	p, err := l.keys.lockPermit(ctx, tx, actionID)
	switch {
	case err != nil:
		return err
	case p.Content == sha256:
		return nil
	case p.Content != "":
		return fmt.Errorf("safety: action %s: %w: %s", actionID, ErrContentSet, p.Content)
	case p.State.Final():
		_, err := tooLate(ctx, tx, actionID, op)
		return err
	}
	r, ok, err := l.keys.sound(ctx, tx, p)
	switch {
	case err != nil:
		return err
	case !ok:
		return alteredError(op, actionID)
	case r == nil && p.ApprovalID != "":
		r = &p.approvalRow
	}
	next := p.actionRow
	next.Content = sha256
	if _, err := l.actions.store(ctx, tx, &p.actionRow, &next, op); err != nil || r == nil {
		return err
	}
	return l.requests.nameContent(ctx, tx, p, r)
}

// DeclareIntent records that the job of an executing action is about to take an irreversible step, before it does.
// The intent is for the job itself: Start returns it to a later attempt in the [postroom.UndoHint] of the
// action, and the attempt finds out whether the step was taken and does not repeat it. Nil withdraws an intent:
// nothing was done.
//
// a is the action as the job read it. If its content or its intent is not what the ledger has, DeclareIntent
// writes nothing and returns [ErrAltered], or an error that says that another attempt was first. DeclareIntent
// returns the updated action.
func (l *Ledger) DeclareIntent(ctx context.Context, tx queue.Tx, a postroom.Action,
	declared postroom.Parameters) (postroom.Action, error) {
	const op = "declare what is done by"
	p, err := l.keys.permit(ctx, tx, a.ID)
	if err != nil {
		return a, err
	}
	if p.State != postroom.ActionExecuting || p.JobID != a.JobID {
		return tooLate(ctx, tx, a.ID, op)
	}
	if err := l.checkpoint.Check(ctx, tx); err != nil {
		return a, err
	}
	known, err := encodeHint(a.UndoHint)
	switch {
	case err != nil:
		return a, err
	case l.keys.verify(p) != keyring.Right || p.Content != a.ContentSHA256:
		return a, fmt.Errorf("safety: %s action %s: %w", op, a.ID, ErrAltered)
	case p.UndoHint != known:
		return a, fmt.Errorf("safety: %s action %s: another attempt has declared an intent since: look what became of that", op,
			a.ID)
	}
	next := p.actionRow
	if next.UndoHint, err = encodeHint(intent(declared)); err != nil {
		return a, err
	}
	if a, err := l.actions.store(ctx, tx, &p.actionRow, &next, op); err != nil {
		return a, err
	}
	return p.value()
}

func intent(declared postroom.Parameters) *postroom.UndoHint {
	if declared == nil {
		return nil
	}
	return &postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Intent: declared}
}
