package safety

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/checkpoint"
)

// before is the state machine: the states that each state may follow, at most three. Record, Refuse and StartUndo
// write the first state.
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

// actions write the rows of actions.
type actions struct {
	audit      *auditor
	checkpoint *checkpoint.Checkpoint
	onEnded    func(ctx context.Context, tx queue.Tx, a postroom.Action) error // may be nil
}

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

// move changes the row of an action, as it was read. If its state does not allow the change, or the row has changed
// since, it returns a [*StateError].
func (as *actions) move(ctx context.Context, tx queue.Tx, row *actionRow, c change) (postroom.Action, error) {
	if !CanFollow(row.State, c.to) {
		return tooLate(ctx, tx, row.ID, c.op)
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
	if a, err := as.store(ctx, tx, row, &next, c.op); err != nil {
		return a, err
	}
	a, err := row.value()
	if err != nil || as.onEnded == nil || !a.State.Final() || a.State == postroom.ActionCompleted {
		return a, err
	}
	return a, as.onEnded(ctx, tx, a)
}

// store writes the next version of an action, if the row is still the one that was read.
func (as *actions) store(ctx context.Context, tx queue.Tx, row, next *actionRow,
	op string) (a postroom.Action, err error) {
	next.UpdatedAt, next.Rev = dbtime.Of(dbtime.Truncate(queue.Now(tx))), row.Rev+1
	stored, err := dbquery.Exec(ctx, tx, updateAction, string(next.State), next.Error, next.UndoHint, next.JobID,
		next.Content, next.Sequence,
		next.ExecutedAt, next.UpdatedAt, next.ApprovalID, next.Rev, next.endedAt(), row.ID, string(row.State), row.Rev)
	switch {
	case err != nil:
		return a, fmt.Errorf("safety: %s action %s: %w", op, row.ID, err)
	case stored == 0:
		return overtaken(ctx, tx, row, op)
	}
	as.checkpoint.Reach(tx, next.ID, next.Rev)
	if err := as.audit.auditAction(ctx, tx, next); err != nil {
		return a, err
	}
	*row = *next
	return a, nil
}

// overtaken returns why the row of an action is no longer the one that was read.
func overtaken(ctx context.Context, q dbquery.Querier, row *actionRow, op string) (postroom.Action, error) {
	a, err := tooLate(ctx, q, row.ID, op)
	if a.State == row.State {
		return a, fmt.Errorf("safety: %s action %s: another has changed it at this moment: try again", op, row.ID)
	}
	return a, err
}

// tooLate returns the action in its present state and a [*StateError].
func tooLate(ctx context.Context, q dbquery.Querier, actionID, op string) (postroom.Action, error) {
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

// end is endAs for an undo that has not undone anything: its original can be undone again.
func (as *actions) end(ctx context.Context, tx queue.Tx, actionID string, c change) (postroom.Action, error) {
	a, err := as.endAs(ctx, tx, actionID, c)
	if err != nil || !IsUndo(a.Type) {
		return a, err
	}
	return a, voidLinks(ctx, tx, voidUndoLink, actionID)
}

func (as *actions) endAs(ctx context.Context, tx queue.Tx, actionID string, c change) (postroom.Action, error) {
	row, err := findRow(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	return as.finish(ctx, tx, row, c)
}

// voidLinks runs a statement that voids the links of an undo.
func voidLinks(ctx context.Context, tx queue.Tx, statement, actionID string) error {
	if _, err := tx.ExecContext(ctx, statement, dbtime.Of(queue.Now(tx)), actionID); err != nil {
		return fmt.Errorf("safety: void the links of action %s: %w", actionID, err)
	}
	return nil
}

// finish moves an action to a final state, and ends its lock if it had one.
func (as *actions) finish(ctx context.Context, tx queue.Tx, row *actionRow, c change) (postroom.Action, error) {
	a, err := as.move(ctx, tx, row, c)
	if err != nil {
		return a, err
	}
	return a, unlockMessage(ctx, tx, a)
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
func (as *actions) finishNone(ctx context.Context, tx queue.Tx, row *actionRow) (postroom.Action, error) {
	if _, err := as.move(ctx, tx, row, change{op: "start", to: postroom.ActionExecuting}); err != nil {
		return postroom.Action{}, err
	}
	return as.move(ctx, tx, row, change{op: "complete", to: postroom.ActionCompleted, hint: nothingDone()})
}

// revision returns how often an action was written; 0 if there is none.
func revision(ctx context.Context, q dbquery.Querier, actionID string) (rev int, err error) {
	return rev, dbquery.Get(ctx, q, &rev, selectRev, actionID)
}

// The types of undos: undo_<type> undoes an action, and redo_<type> undoes that.
const (
	undoPrefix = "undo_"
	redoPrefix = "redo_"
)

// IsUndo reports whether t is the type of an undo: "undo_" and the type of the action that it undoes, or, of an undo
// of an undo, "redo_" and the type of the first action.
func IsUndo(t postroom.ActionType) bool { return strings.HasPrefix(string(t), undoPrefix) || IsRedo(t) }

// IsRedo reports whether t is the type of an undo of an undo.
func IsRedo(t postroom.ActionType) bool { return strings.HasPrefix(string(t), redoPrefix) }

// Undone returns the type of the action that an undo of type t undoes, or does again. Any other type is returned
// unchanged.
func Undone(t postroom.ActionType) postroom.ActionType {
	return postroom.ActionType(strings.TrimPrefix(strings.TrimPrefix(string(t), undoPrefix), redoPrefix))
}

// UndoType returns the type of an undo of an action of type t.
func UndoType(t postroom.ActionType) postroom.ActionType {
	if IsUndo(t) {
		return redoPrefix + Undone(t)
	}
	return undoPrefix + t
}

// begun are the actions that cannot be undone and that this process has started: their rows may be put back.
type begun struct{ ids sync.Map }

func (b *begun) has(actionID string) bool {
	_, ok := b.ids.Load(actionID)
	return ok
}

// add adds an action once its start is committed.
func (b *begun) add(tx queue.Tx, actionID string) {
	add := func() { b.ids.Store(actionID, true) }
	if !queue.OnCommit(tx, add) {
		add()
	}
}
