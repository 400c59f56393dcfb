package safety

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/internal/keyring"
	"github.com/postroom-go/postroom/safety/stop"
)

// Start makes a queued action executing, owned by the job. The same job may start it again after a crash; any other
// job gets a [*StateError]. While another action of the message is executing, the error is a [*postroom.BusyError].
// ExecutedAt is set the first time.
//
// Start checks that the action is what was decided, and that a person has approved it if one was asked, whatever its
// state says, also when it continues an earlier attempt. An approval is used once. An action that was altered, or
// whose approval was used, has failed. An action whose approval was not used in time, was given under another key, or
// by a person who is no longer an approver, waits for a person again, and so does one that was permitted before the
// database was put back. Start writes that and returns the action in that state, without an error.
//
// A [postroom.Delete] is the last action of its message. While another is queued the error is a [*postroom.BusyError]
// without a job, and while one waits for a person a [*postroom.HeldError]. If a dangerous one has failed since the
// deletion was permitted, it waits for a person again.
//
// While the action may not start (see [stop.Switch], [Config].DryRun, [limits.Breaker], [limits.Quiet],
// [checkpoint.ErrRestored]) the error is a [*postroom.HeldError], also for the job that has started the action before:
// roll the transaction back, and try again later.
func (l *Ledger) Start(ctx context.Context, tx queue.Tx, actionID, jobID string) (postroom.Action, error) {
	if jobID == "" {
		return postroom.Action{}, fmt.Errorf("safety: start action %s: the job's id is empty", actionID)
	}
	p, err := l.keys.permit(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State != postroom.ActionQueued && (p.State != postroom.ActionExecuting || p.JobID != jobID) {
		return tooLate(ctx, tx, actionID, "start")
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
	sequence, err := lockMessage(ctx, tx, a, "")
	if err != nil {
		return a, err
	}
	// With the lock, since no other action ends from then on that was executing before.
	if doubt, err := beforeDeletion(ctx, tx, l.gate, p); err != nil || doubt != "" {
		if err = errors.Join(err, unlockMessage(ctx, tx, a)); err != nil {
			return a, err
		}
		return l.requests.hold(ctx, tx, p, doubt)
	}
	if p.ApprovalID != "" {
		used, err := dbquery.Exec(ctx, tx, useApproval, jobID, p.ApprovalID)
		if err == nil && used == 0 {
			err = errors.New("another job uses its approval at this moment: try again")
		}
		if err != nil {
			return a, errors.Join(fmt.Errorf("safety: start action %s: %w", a.ID, err), unlockMessage(ctx, tx, a))
		}
	}
	started, err := l.actions.move(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionExecuting, jobID: jobID,
		sequence: sequence})
	if err != nil {
		return started, errors.Join(err, unlockMessage(ctx, tx, a))
	}
	if l.gate.Dangerous(a.Type) {
		l.begun.add(tx, p.ID)
		err = l.checkpoint.Step(tx, p.ID, p.Rev)
	}
	return started, err
}

// heldByStop returns a [*postroom.HeldError] during a stop or a dry run.
func (l *Ledger) heldByStop(row *stop.Row, isUndo bool) error {
	if err := l.stop.Hold(row, isUndo); err != nil || !l.cfg.DryRun {
		return err
	}
	return held("this is a dry run: nothing is carried out", time.Time{})
}

// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox; otherwise nil or the error of the
// database. It is for changes that are no action of the ledger, such as the end of a snooze.
func (l *Ledger) Held(ctx context.Context) error {
	row, err := l.stop.Row(ctx)
	if err == nil {
		err = l.heldByStop(&row, false)
	}
	if err != nil {
		return err
	}
	return l.checkpoint.Check(ctx, l.cfg.DB.Reader())
}

// mayStart returns a [*postroom.HeldError] if the action must wait.
func (l *Ledger) mayStart(ctx context.Context, q dbquery.Querier, p *permitRow, now time.Time) error {
	if err := l.heldByStop(&p.stopped.Row, false); err != nil {
		return err
	}
	if p.ApprovalID == "" {
		if err := p.Hold(now); err != nil {
			return err
		}
	}
	if err := l.checkpoint.Check(ctx, q); err != nil {
		return err
	}
	if p.State == postroom.ActionExecuting {
		return nil // a started action continues in quiet hours
	}
	quiet := l.judge.gateOf(p.AccountID).Policy().Quiet
	return quiet.Hold(p.Type, now)
}

// HeldAction returns the [*postroom.HeldError] with which Start would refuse a queued action now; nil if the action
// may start, has ended, or waits for a person. Show it to the person who approves.
func (l *Ledger) HeldAction(ctx context.Context, actionID string) error {
	db := l.cfg.DB.Reader()
	p, err := readPermit(ctx, db, actionID)
	if err != nil || p.State != postroom.ActionQueued && p.State != postroom.ActionExecuting {
		return err
	}
	if err := l.mayStart(ctx, db, &p, time.Now()); err != nil {
		return err
	}
	if _, err := beforeDeletion(ctx, db, l.gate, &p); errors.Is(err, postroom.ErrHeld) {
		return err
	}
	return nil
}

// withhold refuses to start or to continue an action that is not what was permitted, and makes one wait for a person
// whose approval no longer counts. It returns false if nothing is wrong.
func (l *Ledger) withhold(ctx context.Context, tx queue.Tx, p *permitRow, jobID string) (a postroom.Action,
	withheld bool, err error) {
	begun := p.State == postroom.ActionExecuting
	refusal, waits := l.keys.refusalToStart(p, jobID, l.begun.has(p.ID)), ""
	switch {
	case refusal != "":
	case p.restored() && repeats(l.gate, p) && begun:
		refusal = putBack
	case p.restored() && repeats(l.gate, p):
		waits = putBack
	case begun || p.ApprovalID == "":
		return a, false, nil
	case l.keys.verify(p) == keyring.ByAnotherKey:
		waits = "it was approved under another key"
	case l.cfg.mayAnswer(p.Approver) != nil:
		waits = fmt.Sprintf("the approval was given by %s, who may no longer approve", p.Approver)
	case !queue.Now(tx).Before(p.until()):
		waits = fmt.Sprintf("the approval by %s was given on %s, and was not used in time", p.Approver,
			p.DecidedAt.Format(time.RFC3339))
	default:
		return a, false, nil
	}
	if refusal != "" {
		a, err = l.requests.refuse(ctx, tx, p, refusal)
	} else {
		a, err = l.requests.hold(ctx, tx, p, waits)
	}
	return a, true, err
}

// repeats reports whether an action may have been carried out in a database that was put back, and must not be twice:
// one that cannot be undone, or that a person has approved.
func repeats(g *gate.Gate, p *permitRow) bool { return p.ApprovalID != "" || g.Dangerous(p.Type) }
