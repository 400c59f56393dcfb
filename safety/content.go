package safety

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// SetContent records the SHA-256, in lower-case hexadecimal, of what an action sends. From then on the open request for approval
// and each later one also name it: a person who approves the action approves these bytes, and the code that sends compares them.
// Call it before a person is asked. For an action that is already approved, the hash is signed with the rest of what was
// permitted, but the person has approved the parameters only.
//
// The first hash stays: setting the same hash again changes nothing, and another hash is [ErrContentSet]. A final action is a
// [*StateError].
func (l *Ledger) SetContent(ctx context.Context, tx queue.Tx, actionID, sha256 string) error {
	const op = "set the content of"
	if sum, err := hex.DecodeString(sha256); err != nil || len(sum) != 32 {
		return fmt.Errorf("safety: content of action %s: %q is not a SHA-256 in hexadecimal", actionID, sha256)
	}
	p, err := l.lockPermit(ctx, tx, actionID)
	switch {
	case err != nil:
		return err
	case p.Content == sha256:
		return nil
	case p.Content != "":
		return fmt.Errorf("safety: action %s: %w: %s", actionID, ErrContentSet, p.Content)
	case p.State.Final():
		_, err := l.tooLate(ctx, tx, actionID, op)
		return err
	}
	r, ok, err := l.sound(ctx, tx, p)
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
	if _, err := l.store(ctx, tx, &p.actionRow, &next, op); err != nil || r == nil {
		return err
	}
	return l.nameContent(ctx, tx, p, r)
}

// nameContent signs a request or an approval again so that it covers the content.
func (l *Ledger) nameContent(ctx context.Context, tx queue.Tx, p *permitRow, r *approvalRow) error {
	next := *r
	if next.Outcome == OutcomeApproved {
		next.Signature = l.signRequest(p, &next)
	} else {
		next.Digest = l.signRequest(p, &next)
	}
	if ok, err := l.storeRequest(ctx, tx, r, &next); err != nil || ok {
		return err
	}
	return fmt.Errorf("safety: content of action %s: its request was answered at this moment: try again", p.ID)
}

// DeclareIntent records that the job of an executing action is about to take an irreversible step, before it does. The announcement is
// for the job itself: Start returns it to a later attempt in the [postroom.UndoHint] of the action, and the attempt finds out
// whether the step was taken and does not repeat it. Nil withdraws an announcement: nothing was done.
//
// a is the action as the job read it. If its content or its announcement is not what the ledger has, DeclareIntent writes nothing and
// returns [ErrAltered], or an error that says that another attempt was first. DeclareIntent returns the updated action.
func (l *Ledger) DeclareIntent(ctx context.Context, tx queue.Tx, a postroom.Action, announced postroom.Parameters) (postroom.Action, error) {
	const op = "announce what is done by"
	p, err := l.permit(ctx, tx, a.ID)
	if err != nil {
		return a, err
	}
	if p.State != postroom.ActionExecuting || p.JobID != a.JobID {
		return l.tooLate(ctx, tx, a.ID, op)
	}
	if err := l.checkpoint.check(ctx, tx, l.cfg.Audit); err != nil {
		return a, err
	}
	known, err := encodeHint(a.UndoHint)
	switch {
	case err != nil:
		return a, err
	case l.verify(p) != signedRight || p.Content != a.ContentSHA256:
		return a, fmt.Errorf("safety: %s action %s: %w", op, a.ID, ErrAltered)
	case p.UndoHint != known:
		return a, fmt.Errorf("safety: %s action %s: another attempt has announced it since: look what became of that", op, a.ID)
	}
	next := p.actionRow
	if next.UndoHint, err = encodeHint(announcement(announced)); err != nil {
		return a, err
	}
	if a, err := l.store(ctx, tx, &p.actionRow, &next, op); err != nil {
		return a, err
	}
	return p.value()
}

func announcement(announced postroom.Parameters) *postroom.UndoHint {
	if announced == nil {
		return nil
	}
	return &postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Intent: announced}
}
