package safety

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// before is the state machine: the states that each state may follow, at most three. Record, Refuse and StartUndo write the
// first state.
var before = map[postroom.ActionState][]postroom.ActionState{
	postroom.ActionQueued:          {postroom.ActionApprovedPending},
	postroom.ActionExecuting:       {postroom.ActionQueued},
	postroom.ActionApprovedPending: {postroom.ActionQueued},
	postroom.ActionCompleted:       {postroom.ActionExecuting},
	postroom.ActionFailed:          {postroom.ActionQueued, postroom.ActionExecuting},
	postroom.ActionCanceled:        {postroom.ActionQueued, postroom.ActionExecuting, postroom.ActionApprovedPending},
	postroom.ActionRejected:        {postroom.ActionQueued, postroom.ActionApprovedPending},
}

// CanFollow reports whether an action may change from state from to state to.
func CanFollow(from, to postroom.ActionState) bool { return slices.Contains(before[to], from) }

// A change is a transition: its name, the new state and the other columns that it writes.
type change struct {
	op    string
	to    postroom.ActionState
	error string
	hint  *postroom.UndoHint // nil keeps the action's
	jobID string             // empty keeps the action's
	turn  int64              // 0 keeps the action's
	seal  *string            // nil keeps the action's

	altered bool // the row was altered; the entry about the change verifies nothing
	last    int  // of an altered row: the last revision in the audit log
}

// move changes the row of an action, as it was read. If its state does not allow the change, or the row has changed since, it
// returns a [*StateError].
func (l *Ledger) move(ctx context.Context, tx queue.Tx, row *actionRow, c change) (postroom.Action, error) {
	if !CanFollow(row.State, c.to) {
		return l.tooLate(ctx, tx, row.ID, c.op)
	}
	next := *row
	next.State, next.Error = c.to, dbvalue.Clean(c.error)
	if c.hint != nil {
		hint, err := encodeHint(c.hint)
		if err != nil {
			return postroom.Action{}, err
		}
		next.UndoHint = hint
	}
	next.JobID = cmp.Or(dbvalue.Clean(c.jobID), row.JobID)
	if c.turn != 0 {
		next.Turn = sql.NullInt64{Int64: c.turn, Valid: true}
	}
	if c.to == postroom.ActionExecuting && next.ExecutedAt.IsZero() {
		next.ExecutedAt = dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	}
	if c.seal != nil {
		next.Seal = sql.NullString{String: *c.seal, Valid: true}
	}
	next.Rev = max(row.Rev, c.last)
	if a, err := l.store(ctx, tx, row, &next, c.op, c.altered); err != nil {
		return a, err
	}
	return row.value()
}

// store writes and signs the next version of an action, if the row is still the one that was read. If the database stores
// something else, nothing is written.
func (l *Ledger) store(ctx context.Context, tx queue.Tx, row, next *actionRow, op string, altered bool) (a postroom.Action, err error) {
	next.UpdatedAt, next.Rev = dbtime.Of(dbtime.Truncate(queue.Now(tx))), next.Rev+1
	content := sql.NullString{String: next.Content, Valid: next.Content != ""}
	var stored actionRow
	err = dbquery.Get(ctx, tx, &stored, updateAction, string(next.State), next.Error, next.UndoHint, next.JobID, content, next.Turn, next.ExecutedAt,
		next.UpdatedAt, next.Seal, next.Rev, row.ID, string(row.State), row.Rev)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return l.overtaken(ctx, tx, row, op)
	case err != nil:
		return a, fmt.Errorf("safety: %s action %s: %w", op, row.ID, err)
	case !slices.Equal(stored.parts(), next.parts()):
		return a, fmt.Errorf("safety: %s action %s: %w at this moment, by something in the database", op, row.ID, ErrAltered)
	}
	if err := l.logAction(ctx, tx, next, altered); err != nil {
		return a, err
	}
	*row = *next
	return a, nil
}

// overtaken returns why the row of an action is no longer the one that was read.
func (l *Ledger) overtaken(ctx context.Context, q dbquery.Querier, row *actionRow, op string) (postroom.Action, error) {
	a, err := l.tooLate(ctx, q, row.ID, op)
	if a.State == row.State {
		return a, fmt.Errorf("safety: %s action %s: another has changed it at this moment: try again", op, row.ID)
	}
	return a, err
}

// tooLate returns the action in its present state and a [*StateError].
func (l *Ledger) tooLate(ctx context.Context, q dbquery.Querier, actionID, op string) (postroom.Action, error) {
	a, err := findAction(ctx, q, actionID)
	if err != nil {
		return a, err
	}
	answer, err := get[approvalRow, Approval](ctx, q, selectAnswer, actionID)
	switch {
	case err == nil:
		return a, &StateError{Op: op, ActionID: a.ID, State: a.State, JobID: a.JobID, Answer: &answer}
	case errors.Is(err, sql.ErrNoRows):
		return a, &StateError{Op: op, ActionID: a.ID, State: a.State, JobID: a.JobID}
	}
	return a, fmt.Errorf("safety: %s action %s: %w", op, actionID, err)
}

// Start makes a queued action executing, owned by the job. The same job may start it again after a crash; any other job gets a
// [*StateError]. While another action of the message is executing, the error is a [*postroom.BusyError]. ExecutedAt is set the
// first time.
//
// Start checks that the action matches its last entry in the audit log and the signature over what the gate or a person has
// permitted, also when it continues an earlier attempt. An action that was altered or put back has failed; so has a started
// action that is signed with an unknown key. An action whose approval was not used in time, was given under another key, or by a
// person who is no longer an approver, waits for a person again. Start writes that and returns the action in that state, without
// an error.
//
// A [postroom.Delete] is the last action of its message. While another is queued the error is a [*postroom.BusyError] without a job, and
// while one waits for a person a [*postroom.HeldError]. If a dangerous one has failed since the deletion was permitted, it waits for a
// person again.
//
// While the action may not start (see [Ledger.Stop], [Config].DryRun, [Breaker], [Quiet]) the error is a [*postroom.HeldError],
// also for the job that has started the action before: roll the transaction back, and try again later.
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
	if err := l.mayStart(queue.Now(tx), p); err != nil {
		return postroom.Action{}, err
	}
	if a, withheld, err := l.withhold(ctx, tx, p); withheld || err != nil {
		return a, err
	}
	a, err := p.value()
	if err != nil || a.State == postroom.ActionExecuting {
		return a, err
	}
	turn, err := l.takeTurn(ctx, tx, a)
	if err != nil {
		return a, err
	}
	// With the turn, since no other action ends from then on that was executing before.
	if doubt, err := l.beforeDeletion(ctx, tx, p); err != nil || doubt != "" {
		if err = errors.Join(err, l.endTurn(ctx, tx, a)); err != nil {
			return a, err
		}
		return l.hold(ctx, tx, p, doubt)
	}
	started, err := l.move(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionExecuting, jobID: jobID, turn: turn})
	if err != nil {
		return started, errors.Join(err, l.endTurn(ctx, tx, a))
	}
	return started, nil
}

// mayStart returns a [*postroom.HeldError] if the action must wait.
func (l *Ledger) mayStart(now time.Time, p *permitRow) error {
	if err := l.heldByStop(&p.switchRow, false); err != nil {
		return err
	}
	if err := p.heldByBreaker(now); err != nil {
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
	p, err := readPermit(ctx, l.cfg.DB.Reader(), actionID)
	if err != nil || p.State != postroom.ActionQueued && p.State != postroom.ActionExecuting {
		return err
	}
	if err := l.mayStart(time.Now(), &p); err != nil {
		return err
	}
	if _, err := l.beforeDeletion(ctx, l.cfg.DB.Reader(), &p); errors.Is(err, postroom.ErrHeld) {
		return err
	}
	return l.heldByLog(ctx, &p)
}

// Complete makes an executing action completed and stores its hint. Completing an undo of an undo makes the original action count
// as not undone. If the action was altered in the database since it started, it is completed, because its job has done what was
// started; the audit log records the alteration, and the action cannot be undone.
func (l *Ledger) Complete(ctx context.Context, tx queue.Tx, actionID string, hint postroom.UndoHint) error {
	a, err := l.endNoted(ctx, tx, actionID, change{op: "complete", to: postroom.ActionCompleted, hint: &hint})
	if err != nil || !IsUndo(a.Type) {
		return err
	}
	err = errors.Join(l.voidLinks(ctx, tx, voidUndone, a.AccountID, actionID), l.endRequest(ctx, tx, a))
	if err != nil || IsRedo(a.Type) {
		return err
	}
	return l.tripAfter(ctx, tx, a, l.gate.policy.Breaker.Undos, countUndone, "were undone")
}

// Fail makes a queued or executing action failed, with the reason for people. If an undo fails, its original can be undone again.
// If the action is a snooze whose wake-up has the turn of the message, Fail takes the turn from it, and changes nothing else.
func (l *Ledger) Fail(ctx context.Context, tx queue.Tx, actionID, reason string) error {
	a, err := l.end(ctx, tx, actionID, change{op: "fail", to: postroom.ActionFailed, error: reason})
	if _, ended := errors.AsType[*StateError](err); ended {
		return l.failWakeUp(ctx, tx, a, err)
	}
	if err != nil || IsUndo(a.Type) {
		return err
	}
	return l.tripAfter(ctx, tx, a, l.gate.policy.Breaker.Failures, countFailed, "failed")
}

// Cancel makes an action that is not final canceled, with the reason for people, and withdraws its open request for approval. The
// job of an executing action gets a [*StateError] when it completes the action; its changes at the provider stay.
func (l *Ledger) Cancel(ctx context.Context, tx queue.Tx, actionID, reason string) error {
	a, err := l.end(ctx, tx, actionID, change{op: "cancel", to: postroom.ActionCanceled, error: reason})
	if err == nil && IsUndo(a.Type) {
		err = l.endRequest(ctx, tx, a)
	}
	if err != nil {
		return err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil {
		_, err = l.close(ctx, tx, r, OutcomeWithdrawn, "", reason)
	}
	return err
}

func (l *Ledger) end(ctx context.Context, tx queue.Tx, actionID string, c change) (postroom.Action, error) {
	a, err := l.endNoted(ctx, tx, actionID, c)
	if err != nil || !IsUndo(a.Type) {
		return a, err
	}
	return a, l.voidLinks(ctx, tx, voidUndoLink, a.AccountID, actionID)
}

// endNoted is finish for an action that may have been altered, which it logs.
func (l *Ledger) endNoted(ctx context.Context, tx queue.Tx, actionID string, c change) (postroom.Action, error) {
	asStarted, err := l.asStarted(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if asStarted != nil {
		return l.finish(ctx, tx, asStarted, c)
	}
	p, err := l.permitAlone(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if CanFollow(p.State, c.to) {
		if c.altered, err = l.noteSuspect(ctx, tx, p, c.op); err != nil {
			return postroom.Action{}, err
		}
		c.last = p.Last.rev
	}
	return l.finish(ctx, tx, &p.actionRow, c)
}

// finish moves an action to a final state, and ends its turn if it had one.
func (l *Ledger) finish(ctx context.Context, tx queue.Tx, row *actionRow, c change) (postroom.Action, error) {
	a, err := l.move(ctx, tx, row, c)
	if err != nil {
		return a, err
	}
	return a, l.endTurn(ctx, tx, a)
}

// Action returns one action, or [postroom.ErrNotFound].
func (l *Ledger) Action(ctx context.Context, id string) (postroom.Action, error) {
	return findAction(ctx, l.cfg.DB.Reader(), id)
}

// ActionTx is [Ledger.Action] inside a write transaction.
func (l *Ledger) ActionTx(ctx context.Context, tx queue.Tx, id string) (postroom.Action, error) {
	return findAction(ctx, tx, id)
}

func findAction(ctx context.Context, q dbquery.Querier, id string) (postroom.Action, error) {
	a, err := get[actionRow, postroom.Action](ctx, q, selectAction, id)
	if errors.Is(err, sql.ErrNoRows) {
		return a, notFound("action", id)
	}
	if err != nil {
		return a, fmt.Errorf("safety: read action %s: %w", id, err)
	}
	return a, nil
}

// finishNone completes an action of type none.
func (l *Ledger) finishNone(ctx context.Context, tx queue.Tx, row *actionRow) (postroom.Action, error) {
	if _, err := l.move(ctx, tx, row, change{op: "start", to: postroom.ActionExecuting}); err != nil {
		return postroom.Action{}, err
	}
	return l.move(ctx, tx, row, change{op: "complete", to: postroom.ActionCompleted, hint: nothingDone()})
}
