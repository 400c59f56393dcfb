package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/internal/keyring"
)

// Approve releases a waiting action: it becomes queued and is passed to [Config.Execute]; an action of type none
// completes at once. The ledger records who approved it and when, and signs that together with the action: nothing
// else is executed.
//
// Approve returns [ErrNotApprover], [ErrApprovalExpired], [ErrApprovalVoid] or [checkpoint.ErrRestored];
// [ErrInvalidDecision] if the action can no longer be carried out, because its kind is gone or the time of a snooze has
// passed; or a [*StateError] with the answer that was given, if the action is no longer waiting. It then writes
// nothing.
func (l *Ledger) Approve(ctx context.Context, tx queue.Tx, actionID, approver string) (postroom.Action, error) {
	if err := l.cfg.mayAnswer(approver); err != nil {
		return postroom.Action{}, err
	}
	p, r, err := l.requests.waiting(ctx, tx, actionID, "approve")
	if err != nil {
		return postroom.Action{}, err
	}
	if err := l.requests.check(ctx, tx, p, r); err != nil {
		return postroom.Action{}, err
	}
	if err := l.judge.checkPossible(ctx, tx, p); err != nil {
		return postroom.Action{}, err
	}
	given := r.answered(OutcomeApproved, approver, "", queue.Now(tx))
	given.Content = p.Content
	given.Signature = l.keys.signRequest(p, given)
	a, err := l.actions.move(ctx, tx, &p.actionRow, change{op: "approve", to: postroom.ActionQueued, approval: &r.ID})
	if err != nil {
		return postroom.Action{}, err
	}
	closed, err := l.requests.close(ctx, tx, r, given)
	switch {
	case err != nil:
		return postroom.Action{}, err
	case !closed:
		return postroom.Action{}, fmt.Errorf("safety: action %s: %w: the request is gone", actionID, ErrApprovalVoid)
	case a.Type == postroom.None:
		return l.actions.finishNone(ctx, tx, &p.actionRow)
	}
	return a, l.cfg.Execute(ctx, tx, a)
}

// Reject ends an action that is waiting, or that the gate has let pass and no job has started. why may be empty. An
// action that a person has approved is not rejected: the first answer stands, and the [*StateError] has it. Use
// [Ledger.Cancel] to stop an approved action that has not started.
func (l *Ledger) Reject(ctx context.Context, tx queue.Tx, actionID, approver, why string) (postroom.Action, error) {
	if err := l.cfg.mayAnswer(approver); err != nil {
		return postroom.Action{}, err
	}
	p, err := l.keys.lockPermit(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State == postroom.ActionQueued && p.ApprovalID != "" {
		return tooLate(ctx, tx, actionID, "reject")
	}
	if err := l.checkpoint.Check(ctx, tx); err != nil {
		return postroom.Action{}, err
	}
	reason := "rejected by " + approver
	if why != "" {
		reason += ": " + why
	}
	a, err := l.actions.move(ctx, tx, &p.actionRow, change{op: "reject", to: postroom.ActionRejected, error: reason})
	if err != nil {
		return postroom.Action{}, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil && r != nil {
		_, err = l.requests.close(ctx, tx, r, r.answered(OutcomeRejected, approver, why, queue.Now(tx)))
	}
	return a, err
}

// Hold makes a queued action wait for approval, for the given reason. The job that was to execute the action must end
// in the same transaction, completed by itself or canceled, so that [Config.Execute] finds its key free when the
// person approves. If the action was altered in the database, Hold returns [ErrAltered] and writes nothing, because a
// person would be asked about something else.
func (l *Ledger) Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error) {
	p, err := l.keys.lockPermit(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State == postroom.ActionQueued && l.keys.verify(p) == keyring.Wrong {
		return postroom.Action{}, alteredError("hold", actionID)
	}
	return l.requests.hold(ctx, tx, p, reason)
}

// Renew withdraws the request of a waiting action and makes a new one, with a new expiry. Use it when the request has
// expired, or was made under another key. If the action or the request was altered in the database, Renew returns
// [ErrAltered], because a new request would sign the alteration. Reject it.
func (l *Ledger) Renew(ctx context.Context, tx queue.Tx, actionID string) error {
	p, r, err := l.requests.waiting(ctx, tx, actionID, "renew the approval of")
	if err != nil {
		return err
	}
	if err := l.checkpoint.Check(ctx, tx); err != nil {
		return err
	}
	reasons, err := l.keys.askedFor(p, r)
	if err != nil {
		return err
	}
	closed, err := l.requests.close(ctx, tx, r, r.answered(OutcomeWithdrawn, "", "renewed", queue.Now(tx)))
	if err != nil {
		return err
	}
	if !closed {
		_, err := tooLate(ctx, tx, actionID, "renew the approval of")
		return err
	}
	return l.requests.ask(ctx, tx, p, reasons)
}

// ApprovalsOf lists the requests for approval of one action, with their outcomes, oldest first.
func (l *Ledger) ApprovalsOf(ctx context.Context, actionID string) ([]Approval, error) {
	return approvalsOf(ctx, l.cfg.DB.Reader(), actionID)
}

// ApprovalsOfTx is [Ledger.ApprovalsOf] inside a write transaction.
func (l *Ledger) ApprovalsOfTx(ctx context.Context, tx queue.Tx, actionID string) ([]Approval, error) {
	return approvalsOf(ctx, tx, actionID)
}

func approvalsOf(ctx context.Context, q dbquery.Querier, actionID string) ([]Approval, error) {
	requests, err := all[approvalRow, Approval](ctx, q, selectApprovals, actionID)
	if err != nil {
		return nil, fmt.Errorf("safety: list the requests for approval of action %s: %w", actionID, err)
	}
	return requests, nil
}

// ApproveRequest is [Ledger.Approve] for a person who was shown the request as shown: it approves that request and no
// other. If the request was renewed since, or the action's content was composed, the error is [ErrApprovalVoid]; if the
// content was edited, it is [ErrEdited]. On an error the caller must roll the transaction back.
func (l *Ledger) ApproveRequest(ctx context.Context, tx queue.Tx, shown Approval,
	approver string) (postroom.Action, error) {
	return l.answerRequest(ctx, tx, shown, OutcomeApproved, func() (postroom.Action, error) {
		return l.Approve(ctx, tx, shown.ActionID, approver)
	})
}

// RejectRequest is [Ledger.Reject] for a person who was shown the request as shown; see [Ledger.ApproveRequest]. An
// expired request can be rejected.
func (l *Ledger) RejectRequest(ctx context.Context, tx queue.Tx, shown Approval, approver,
	why string) (postroom.Action, error) {
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
		a, err := tooLate(ctx, tx, r.ActionID, "answer the request about")
		if a.State == postroom.ActionPendingApproval {
			err = r.replaced()
		}
		return a, err
	}
	a, err := answer()
	if err != nil {
		return a, err
	}
	// Between the two statements another transaction may have renewed the request. The answer must be to the request
	// that was shown, or to none.
	if r, err = findApproval(ctx, tx, shown.ID); err == nil && r.Outcome != outcome {
		err = r.replaced()
	}
	return a, err
}

// replaced is the error of an answer to a request that was withdrawn while another one about its action waits.
func (r *Approval) replaced() error {
	if r.ReplacedBy != "" {
		return fmt.Errorf("safety: request %s: %w", r.ID, ErrEdited)
	}
	return fmt.Errorf("safety: request %s: %w: it was withdrawn, and another one waits", r.ID, ErrApprovalVoid)
}

// Approver returns the person who approved the action, and the time before which it must start; empty if nobody has,
// because the gate let it pass. Start checks that an action that has started is the one that was approved.
func (l *Ledger) Approver(ctx context.Context, tx queue.Tx, actionID string) (approver string, until time.Time,
	err error) {
	var given approvalRow
	err = dbquery.Get(ctx, tx, &given, selectApprover, actionID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", until, fmt.Errorf("safety: who has approved action %s: %w", actionID, err)
	}
	if given.Approver != "" {
		until = given.until()
	}
	return given.Approver, until, nil
}

// Approval returns one request for approval, or [postroom.ErrNotFound].
func (l *Ledger) Approval(ctx context.Context, id string) (Approval, error) {
	return findApproval(ctx, l.cfg.DB.Reader(), id)
}

// Waiting returns an action that waits for approval, with its request. An action that does not wait is a [*StateError].
func (l *Ledger) Waiting(ctx context.Context, actionID string) (w Waiting, err error) {
	if err := l.keys.Load(ctx, l.cfg.DB.Reader()); err != nil {
		return w, err
	}
	list, err := l.requests.readWaiting(ctx, selectWaiting, []any{actionID})
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
// [ErrApprovalVoid] or [checkpoint.ErrRestored], and nobody must be told what it says.
func (l *Ledger) Request(ctx context.Context, id string) (w Waiting, err error) {
	db := l.cfg.DB.Reader()
	var r approvalRow
	if err := dbquery.Get(ctx, db, &r, selectApproval, id); errors.Is(err, sql.ErrNoRows) {
		return w, notFound("request for approval", id)
	} else if err != nil {
		return w, fmt.Errorf("safety: read request for approval %s: %w", id, err)
	}
	p, err := l.keys.permit(ctx, db, r.ActionID)
	if err != nil {
		return w, err
	}
	row := waitingRow{entryRow{p.actionRow, p.decisionRow}, r}
	if w, err = row.value(); err != nil {
		return w, err
	}
	w.Fault = l.checkpoint.Check(ctx, db)
	then := *p
	then.Content = r.Content // it may have been composed, or edited, after the request was answered
	if w.Fault == nil && l.keys.verifyRequest(p, &r) != keyring.Right &&
		l.keys.verifyRequest(&then, &r) != keyring.Right {
		w.Fault = fmt.Errorf("safety: request %s: %w: %w, or signed with another key", r.ID, ErrApprovalVoid, ErrAltered)
	}
	return w, nil
}
