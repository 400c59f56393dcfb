package safety

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// before is the state machine: the states that each state may follow, at most three. Record, Refuse and StartUndo write the
// first state.
var before = map[postroom.ActionState][]postroom.ActionState{
	postroom.ActionQueued:          {postroom.ActionPendingApproval},
	postroom.ActionExecuting:       {postroom.ActionQueued},
	postroom.ActionPendingApproval: {postroom.ActionQueued},
	postroom.ActionCompleted:       {postroom.ActionExecuting},
	postroom.ActionFailed:          {postroom.ActionQueued, postroom.ActionExecuting},
	postroom.ActionCanceled:        {postroom.ActionQueued, postroom.ActionExecuting, postroom.ActionPendingApproval},
	postroom.ActionRejected:        {postroom.ActionQueued, postroom.ActionPendingApproval},
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

	sequence int64   // 0 keeps the action's
	approval *string // the id of the approval; nil keeps the action's
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
	if c.sequence != 0 {
		next.Sequence = sql.NullInt64{Int64: c.sequence, Valid: true}
	}
	if c.to == postroom.ActionExecuting && next.ExecutedAt.IsZero() {
		next.ExecutedAt = dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	}
	if c.approval != nil {
		next.ApprovalID = *c.approval
	}
	if a, err := l.store(ctx, tx, row, &next, c.op); err != nil {
		return a, err
	}
	return row.value()
}

// store writes the next version of an action, if the row is still the one that was read.
func (l *Ledger) store(ctx context.Context, tx queue.Tx, row, next *actionRow, op string) (a postroom.Action, err error) {
	next.UpdatedAt, next.Rev = dbtime.Of(dbtime.Truncate(queue.Now(tx))), row.Rev+1
	stored, err := dbquery.Exec(ctx, tx, updateAction, string(next.State), next.Error, next.UndoHint, next.JobID, next.Content, next.Sequence,
		next.ExecutedAt, next.UpdatedAt, next.ApprovalID, next.Rev, row.ID, string(row.State), row.Rev)
	switch {
	case err != nil:
		return a, fmt.Errorf("safety: %s action %s: %w", op, row.ID, err)
	case stored == 0:
		return l.overtaken(ctx, tx, row, op)
	}
	l.checkpoint.reach(tx, mark{next.ID, next.Rev})
	if err := l.auditAction(ctx, tx, next); err != nil {
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

// Complete makes an executing action completed and stores its hint. Completing an undo of an undo makes the original action count
// as not undone.
func (l *Ledger) Complete(ctx context.Context, tx queue.Tx, actionID string, hint postroom.UndoHint) error {
	a, err := l.endAs(ctx, tx, actionID, change{op: "complete", to: postroom.ActionCompleted, hint: &hint})
	if err != nil || !IsUndo(a.Type) {
		return err
	}
	if err := voidLinks(ctx, tx, voidUndone, actionID); err != nil || IsRedo(a.Type) {
		return err
	}
	return l.tripAfter(ctx, tx, a, l.gate.policy.Breaker.Undos, countUndone, "were undone")
}

// Fail makes a queued or executing action failed, with the reason for people. If an undo fails, its original can be undone again.
// If the action is a snooze whose wake-up has the lock of the message, Fail takes the lock from it, and changes nothing else.
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
	_, err := l.end(ctx, tx, actionID, change{op: "cancel", to: postroom.ActionCanceled, error: reason})
	if err != nil {
		return err
	}
	return l.withdraw(ctx, tx, actionID, reason)
}

// withdraw withdraws the open request about an action, if there is one.
func (l *Ledger) withdraw(ctx context.Context, tx queue.Tx, actionID, why string) error {
	r, err := openRequest(ctx, tx, actionID)
	if err != nil || r == nil {
		return err
	}
	_, err = l.close(ctx, tx, r, r.answered(OutcomeWithdrawn, "", why, queue.Now(tx)))
	return err
}

// end is endAs for an undo that has not undone anything: its original can be undone again.
func (l *Ledger) end(ctx context.Context, tx queue.Tx, actionID string, c change) (postroom.Action, error) {
	a, err := l.endAs(ctx, tx, actionID, c)
	if err != nil || !IsUndo(a.Type) {
		return a, err
	}
	return a, voidLinks(ctx, tx, voidUndoLink, actionID)
}

func (l *Ledger) endAs(ctx context.Context, tx queue.Tx, actionID string, c change) (postroom.Action, error) {
	row, err := findRow(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	return l.finish(ctx, tx, row, c)
}

// finish moves an action to a final state, and ends its lock if it had one.
func (l *Ledger) finish(ctx context.Context, tx queue.Tx, row *actionRow, c change) (postroom.Action, error) {
	a, err := l.move(ctx, tx, row, c)
	if err != nil {
		return a, err
	}
	return a, l.unlockMessage(ctx, tx, a)
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
	r, err := findRow(ctx, q, id)
	if err != nil {
		return postroom.Action{}, err
	}
	return r.value()
}

func findRow(ctx context.Context, q dbquery.Querier, id string) (*actionRow, error) {
	var r actionRow
	err := dbquery.Get(ctx, q, &r, selectAction, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("action", id)
	}
	if err != nil {
		return nil, fmt.Errorf("safety: read action %s: %w", id, err)
	}
	return &r, nil
}

// finishNone completes an action of type none.
func (l *Ledger) finishNone(ctx context.Context, tx queue.Tx, row *actionRow) (postroom.Action, error) {
	if _, err := l.move(ctx, tx, row, change{op: "start", to: postroom.ActionExecuting}); err != nil {
		return postroom.Action{}, err
	}
	return l.move(ctx, tx, row, change{op: "complete", to: postroom.ActionCompleted, hint: nothingDone()})
}
