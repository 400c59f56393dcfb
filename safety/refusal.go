package safety

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// Refusals knows what would be refused when it is carried out, whoever approves it; *gmail.Refusals implements it.
type Refusals interface {
	// Refusal says to people why the action cannot be carried out for the account, and what to do; empty if nothing is known to speak
	// against it. failed reports whether something is to be put right; otherwise the action is rightly left undone. msg is the message that is
	// decided about; it is nil when a person approves the action: what the message says does not change.
	Refusal(
		ctx context.Context, tx queue.Tx, accountID string, msg *postroom.Message, action postroom.ActionType, parameters postroom.Parameters,
	) (why string, failed bool, err error)
}

// refusedMark begins the reason of an action that was refused when it was decided: it counts for no cap, share or breaker.
const refusedMark = "cannot be carried out: "

// refusal returns the reason for which the action of a decision ends at once, and the state in which it does.
func (l *Ledger) refusal(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) (state postroom.ActionState, why string, err error) {
	if l.cfg.Refusals == nil || msg == nil {
		return "", "", nil
	}
	why, failed, err := l.cfg.Refusals.Refusal(ctx, tx, msg.AccountID, msg, d.Action, d.Parameters)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("safety: ask whether %s of message %s would be refused: %w", d.Action, msg.ID, err)
	case why == "":
		return "", "", nil
	case failed:
		return postroom.ActionFailed, dbvalue.Clean(refusedMark + why), nil
	}
	return postroom.ActionCanceled, dbvalue.Clean(refusedMark + why), nil
}

// checkPossible returns an error if an action that a person approves could not be carried out.
func (l *Ledger) checkPossible(ctx context.Context, tx queue.Tx, a *postroom.Action) error {
	if err := l.cfg.Kinds.Check(a.Type, a.Parameters, queue.Now(tx)); err != nil {
		return fmt.Errorf("safety: action %s: %w: %w: reject it", a.ID, ErrInvalidDecision, err)
	}
	if l.cfg.Refusals == nil {
		return nil
	}
	why, _, err := l.cfg.Refusals.Refusal(ctx, tx, a.AccountID, nil, a.Type, a.Parameters)
	switch {
	case err != nil:
		return fmt.Errorf("safety: ask whether action %s would be refused: %w", a.ID, err)
	case why != "":
		return fmt.Errorf("safety: action %s: %w: it %s%s", a.ID, ErrInvalidDecision, refusedMark, why)
	}
	return nil
}

// endsAtOnce returns the reason for which the action of a decision ends before it begins, and the state in which it does: it is
// forbidden, would be refused, or would only send what was sent before.
func (l *Ledger) endsAtOnce(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, v *Verdict,
) (state postroom.ActionState, why string, err error) {
	if why, err = l.forbidden(ctx, tx, msg, d, v); why != "" || err != nil {
		return postroom.ActionCanceled, why, err
	}
	if state, why, err = l.refusal(ctx, tx, msg, d); why != "" || err != nil {
		return state, why, err
	}
	why, err = l.sentBefore(ctx, tx, msg, d, v)
	return postroom.ActionCanceled, why, err
}
