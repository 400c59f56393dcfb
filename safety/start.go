package safety

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// Start makes a queued action executing, owned by the job. The same job may start it again after a crash; any other job gets a
// [*StateError]. While another action of the message is executing, the error is a [*postroom.BusyError]. ExecutedAt is set the
// first time.
//
// Start checks that the action is what was decided, and that a person has approved it if one was asked, whatever its state says,
// also when it continues an earlier attempt. An approval is used once. An action that was altered, or whose approval was used, has
// failed. An action whose approval was not used in time, was given under another key, or by a person who is no longer an approver,
// waits for a person again, and so does one that was permitted before the database was put back. Start writes that and returns the
// action in that state, without an error.
//
// A [postroom.Delete] is the last action of its message. While another is queued the error is a [*postroom.BusyError] without a
// job, and while one waits for a person a [*postroom.HeldError]. If a dangerous one has failed since the deletion was permitted,
// it waits for a person again.
//
// While the action may not start (see [Ledger.Stop], [Config].DryRun, [Breaker], [Quiet], [ErrRestored]) the error is a
// [*postroom.HeldError], also for the job that has started the action before: roll the transaction back, and try again later.
func (l *Ledger) Start(ctx context.Context, tx queue.Tx, actionID, jobID string) (postroom.Action, error) {
	if jobID == "" {
		return postroom.Action{}, fmt.Errorf("safety: start action %s: the job's id is empty", actionID)
	}
	p, err := l.permit(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State != postroom.ActionQueued && (p.State != postroom.ActionExecuting || p.JobID != jobID) {
		return l.tooLate(ctx, tx, actionID, "start")
	}
	if err := l.mayStart(ctx, tx, p, queue.Now(tx)); err != nil {
		return postroom.Action{}, err
	}
	if a, withheld, err := l.withhold(ctx, tx, p, jobID); withheld || err != nil {
		return a, err
	}
	if p.State == postroom.ActionExecuting {
		return p.value()
	}
	return l.begin(ctx, tx, p, jobID)
}

// begin makes a queued action executing, which uses its approval.
func (l *Ledger) begin(ctx context.Context, tx queue.Tx, p *permitRow, jobID string) (postroom.Action, error) {
	a, err := p.value()
	if err != nil {
		return a, err
	}
	sequence, err := l.lockMessage(ctx, tx, a, "")
	if err != nil {
		return a, err
	}
	// With the lock, since no other action ends from then on that was executing before.
	if doubt, err := l.beforeDeletion(ctx, tx, p); err != nil || doubt != "" {
		if err = errors.Join(err, l.unlockMessage(ctx, tx, a)); err != nil {
			return a, err
		}
		return l.hold(ctx, tx, p, doubt)
	}
	if p.ApprovalID != "" {
		used, err := dbquery.Exec(ctx, tx, useApproval, jobID, p.ApprovalID)
		if err == nil && used == 0 {
			err = errors.New("another job uses its approval at this moment: try again")
		}
		if err != nil {
			return a, errors.Join(fmt.Errorf("safety: start action %s: %w", a.ID, err), l.unlockMessage(ctx, tx, a))
		}
	}
	started, err := l.move(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionExecuting, jobID: jobID, sequence: sequence})
	if err != nil {
		return started, errors.Join(err, l.unlockMessage(ctx, tx, a))
	}
	if l.dangerous(a.Type) {
		err = l.checkpoint.step(tx, mark{p.ID, p.Rev})
	}
	return started, err
}

// dangerous reports whether an action of the type cannot be undone, or has no kind.
func (l *Ledger) dangerous(t postroom.ActionType) bool {
	return l.gate.kinds.Danger(t) == postroom.Dangerous
}

// mayStart returns a [*postroom.HeldError] if the action must wait.
func (l *Ledger) mayStart(ctx context.Context, q dbquery.Querier, p *permitRow, now time.Time) error {
	if err := l.heldByStop(&p.switchRow, false); err != nil {
		return err
	}
	if err := p.heldByBreaker(now); err != nil {
		return err
	}
	if err := l.checkpoint.check(ctx, q, l.cfg.Audit); err != nil {
		return err
	}
	if p.State == postroom.ActionExecuting {
		return nil // a started action continues in quiet hours
	}
	return l.gate.policy.Quiet.hold(p.Type, now)
}

// HeldAction returns the [*postroom.HeldError] with which Start would refuse a queued action now; nil if the action may start,
// has ended, or waits for a person. Show it to the person who approves.
func (l *Ledger) HeldAction(ctx context.Context, actionID string) error {
	db := l.cfg.DB.Reader()
	p, err := readPermit(ctx, db, actionID)
	if err != nil || p.State != postroom.ActionQueued && p.State != postroom.ActionExecuting {
		return err
	}
	if err := l.mayStart(ctx, db, &p, time.Now()); err != nil {
		return err
	}
	if _, err := l.beforeDeletion(ctx, db, &p); errors.Is(err, postroom.ErrHeld) {
		return err
	}
	return nil
}

// The reasons for which an action is refused when it is to start.
const (
	notPermitted = "it is not what was permitted: the action, its decision or its approval was altered in the database"
	notApproved  = "a person was asked to approve it, and none has: its state was altered in the database"
	usedBefore   = "its approval was used before, or it was carried out before: its state was altered in the database"
	putBack      = "the database was put back since, and does not tell whether it was carried out: look at the message first"
)

// withhold refuses to start or to continue an action that is not what was permitted, and makes one wait for a person whose
// approval no longer counts. It returns false if nothing is wrong.
func (l *Ledger) withhold(ctx context.Context, tx queue.Tx, p *permitRow, jobID string) (a postroom.Action, withheld bool, err error) {
	begun := p.State == postroom.ActionExecuting
	refusal, waits := l.refusalToStart(p, jobID), ""
	switch {
	case refusal != "":
	case p.restored() && l.repeats(p) && begun:
		refusal = putBack
	case p.restored() && l.repeats(p):
		waits = putBack
	case begun || p.ApprovalID == "":
		return a, false, nil
	case l.verify(p) == signedByAnotherKey:
		waits = "it was approved under another key"
	case l.mayAnswer(p.Approver) != nil:
		waits = fmt.Sprintf("the approval was given by %s, who may no longer approve", p.Approver)
	case !queue.Now(tx).Before(p.until()):
		waits = fmt.Sprintf("the approval by %s was given on %s, and was not used in time", p.Approver, p.DecidedAt.Format(time.RFC3339))
	default:
		return a, false, nil
	}
	if refusal != "" {
		a, err = l.refuse(ctx, tx, p, refusal)
	} else {
		a, err = l.hold(ctx, tx, p, waits)
	}
	return a, true, err
}

// refusalToStart returns why an action must not start or continue, whoever is asked; empty if nothing speaks against it.
func (l *Ledger) refusalToStart(p *permitRow, jobID string) string {
	begun, fits := p.State == postroom.ActionExecuting, l.verify(p)
	switch {
	case fits == signedWrong && p.coherent() && p.ApprovalID == "":
		return notApproved
	case fits == signedWrong, fits == signedByAnotherKey && begun:
		return notPermitted
	case !begun && l.checkpoint.has(p.ID):
		return usedBefore
	case p.ApprovalID == "":
		return ""
	case begun && p.UsedBy != jobID, !begun && p.UsedBy != "":
		return usedBefore
	}
	return ""
}

// repeats reports whether an action may have been carried out in a database that was put back, and must not be twice: one that
// cannot be undone, or that a person has approved.
func (l *Ledger) repeats(p *permitRow) bool { return p.ApprovalID != "" || l.dangerous(p.Type) }

// restored reports whether the action was permitted before a person accepted a database that was put back.
func (p *permitRow) restored() bool {
	permitted := p.CreatedAt
	if p.ApprovalID != "" {
		permitted = p.DecidedAt
	}
	return !p.AcceptedAt.IsZero() && !permitted.After(p.AcceptedAt.Time)
}

// refuse fails an action that is not what was permitted, and withdraws its open request. The lock that ends is that of the
// decision's message.
func (l *Ledger) refuse(ctx context.Context, tx queue.Tx, p *permitRow, reason string) (postroom.Action, error) {
	locked := postroom.Action{ID: p.ID, AccountID: p.decided.AccountID, MessageID: p.decided.MessageID}
	if err := l.unlockMessage(ctx, tx, locked); err != nil {
		return postroom.Action{}, err
	}
	a, err := l.finish(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionFailed, error: reason})
	if err != nil {
		return a, err
	}
	return a, l.withdraw(ctx, tx, p.ID, reason)
}
