package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// Approval returns one request for approval, or [postroom.ErrNotFound].
func (l *Ledger) Approval(ctx context.Context, id string) (Approval, error) {
	return findApproval(ctx, l.cfg.DB.Reader(), id)
}

func findApproval(ctx context.Context, q dbquery.Querier, id string) (Approval, error) {
	r, err := get[approvalRow, Approval](ctx, q, selectApproval, id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, notFound("request for approval", id)
	}
	if err != nil {
		return r, fmt.Errorf("safety: read request for approval %s: %w", id, err)
	}
	return r, nil
}

// ApproveRequest is [Ledger.Approve] for a person who was shown the request as shown: it approves that request and no other. If
// the request was renewed since, or the action's content was composed, the error is [ErrApprovalVoid]. On an error the caller
// must roll the transaction back.
func (l *Ledger) ApproveRequest(ctx context.Context, tx queue.Tx, shown Approval, approver string) (postroom.Action, error) {
	return l.answerRequest(ctx, tx, shown, OutcomeApproved, func() (postroom.Action, error) {
		return l.Approve(ctx, tx, shown.ActionID, approver)
	})
}

// RejectRequest is [Ledger.Reject] for a person who was shown the request as shown; see [Ledger.ApproveRequest]. An expired
// request can be rejected.
func (l *Ledger) RejectRequest(ctx context.Context, tx queue.Tx, shown Approval, approver, why string) (postroom.Action, error) {
	return l.answerRequest(ctx, tx, shown, OutcomeRejected, func() (postroom.Action, error) {
		return l.Reject(ctx, tx, shown.ActionID, approver, why)
	})
}

func (l *Ledger) answerRequest(
	ctx context.Context, tx queue.Tx, shown Approval, outcome Outcome, answer func() (postroom.Action, error),
) (postroom.Action, error) {
	r, err := findApproval(ctx, tx, shown.ID)
	if err != nil {
		return postroom.Action{}, err
	}
	if r.ActionID != shown.ActionID || r.Outcome == OutcomeWaiting && r.Digest != shown.Digest {
		return postroom.Action{}, fmt.Errorf("safety: request %s: %w: look at it again", r.ID, ErrApprovalVoid)
	}
	if r.Outcome != OutcomeWaiting {
		a, err := l.tooLate(ctx, tx, r.ActionID, "answer the request about")
		if a.State == postroom.ActionPendingApproval {
			err = fmt.Errorf("safety: request %s: %w: it was withdrawn, and another one waits", r.ID, ErrApprovalVoid)
		}
		return a, err
	}
	a, err := answer()
	if err != nil {
		return a, err
	}
	// Between the two statements another transaction may have renewed the request. The answer must be to the request that was
	// shown, or to none.
	if r, err = findApproval(ctx, tx, shown.ID); err == nil && r.Outcome != outcome {
		err = fmt.Errorf("safety: request %s: %w: it was withdrawn meanwhile", r.ID, ErrApprovalVoid)
	}
	return a, err
}

// OpenRequestTx returns the open request for approval of a waiting action, inside a write transaction, as [Config].Ask sees it.
// Without one the error is [postroom.ErrNotFound].
func (l *Ledger) OpenRequestTx(ctx context.Context, tx queue.Tx, actionID string) (Approval, error) {
	r, err := get[approvalRow, Approval](ctx, tx, selectRequest, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return r, notFound("open request for approval of action", actionID)
	}
	if err != nil {
		return r, fmt.Errorf("safety: read the request for approval of action %s: %w", actionID, err)
	}
	return r, nil
}

// CheckRequest returns nil if the request for approval of a waiting action is what was asked, and its action and decision are
// unchanged. Otherwise it returns [ErrApprovalVoid], [ErrRestored], or a [*StateError] if the action does not wait. A request must
// not be shown as genuine unless CheckRequest returns nil, because its text is read from the database and may have been altered
// there. [Ledger.Approve] makes the same check. CheckRequest may read a later state of the database than the caller;
// [Ledger.Approvals] and [Ledger.Waiting] return what they have checked.
func (l *Ledger) CheckRequest(ctx context.Context, actionID string) error {
	db := l.cfg.DB.Reader()
	p, err := l.permit(ctx, db, actionID)
	if err != nil {
		return err
	}
	r, err := openRequest(ctx, db, actionID)
	if err != nil {
		return err
	}
	if r == nil || p.State != postroom.ActionPendingApproval {
		return &StateError{Op: "check the request about", ActionID: actionID, State: p.State, JobID: p.JobID}
	}
	if err := l.checkpoint.check(ctx, db, l.cfg.Audit); err != nil {
		return err
	}
	return l.genuine(p, r)
}

// Waiting returns an action that waits for approval, with its request. An action that does not wait is a [*StateError].
func (l *Ledger) Waiting(ctx context.Context, actionID string) (w Waiting, err error) {
	if err := l.keys.load(ctx, l.cfg.DB.Reader()); err != nil {
		return w, err
	}
	list, err := l.readWaiting(ctx, selectWaiting, []any{actionID})
	if err != nil {
		return w, fmt.Errorf("safety: read the request about action %s: %w", actionID, err)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	a, err := l.Action(ctx, actionID)
	if err != nil {
		return w, err
	}
	return w, &StateError{Op: "read the request about", ActionID: actionID, State: a.State, JobID: a.JobID}
}

// Request returns a request for approval, whether it waits or was answered, with its action and its decision, or
// [postroom.ErrNotFound]. Its Fault is nil if it was asked so, and answered so if it was approved; otherwise it is
// [ErrApprovalVoid] or [ErrRestored], and nobody must be told what it says.
func (l *Ledger) Request(ctx context.Context, id string) (w Waiting, err error) {
	db := l.cfg.DB.Reader()
	var r approvalRow
	if err := dbquery.Get(ctx, db, &r, selectApproval, id); errors.Is(err, sql.ErrNoRows) {
		return w, notFound("request for approval", id)
	} else if err != nil {
		return w, fmt.Errorf("safety: read request for approval %s: %w", id, err)
	}
	p, err := l.permit(ctx, db, r.ActionID)
	if err != nil {
		return w, err
	}
	row := waitingRow{entryRow{p.actionRow, p.decisionRow}, r}
	if w, err = row.value(); err != nil {
		return w, err
	}
	w.Fault = l.checkpoint.check(ctx, db, l.cfg.Audit)
	unnamed := *p
	unnamed.Content = "" // it may have been composed after the request was answered
	if w.Fault == nil && l.verifyRequest(p, &r) != signedRight && l.verifyRequest(&unnamed, &r) != signedRight {
		w.Fault = fmt.Errorf("safety: request %s: %w: %w, or signed with another key", r.ID, ErrApprovalVoid, ErrAltered)
	}
	return w, nil
}
