package safety

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// StartUndo records that the job undoes a completed action. It inserts an action of type undo_<type>, or redo_<type>
// if the original is an undo, executing from the start, and links it to the original. Package undo decides whether
// the original can be undone.
//
// An action has at most one undo that has not failed, been canceled or been undone itself. If that undo belongs to
// the same job, StartUndo returns it, so that the job continues after a crash. If it belongs to another job,
// StartUndo writes nothing and returns an [*UndoneError]. If the action is not what was decided, the error is
// [ErrAltered]. While another action of the message is executing, StartUndo writes nothing and returns a
// [*postroom.BusyError]; while nothing may start, as with [Ledger.Start], a [*postroom.HeldError].
func (l *Ledger) StartUndo(ctx context.Context, tx queue.Tx, originalID, jobID string) (postroom.Action, error) {
	if jobID == "" {
		return postroom.Action{}, fmt.Errorf("safety: undo action %s: the job's id is empty", originalID)
	}
	p, err := l.keys.permit(ctx, tx, originalID)
	if err != nil {
		return postroom.Action{}, err
	}
	if err := l.heldByStop(&p.stopped.Row, true); err != nil {
		return postroom.Action{}, err
	}
	if err := l.checkpoint.Check(ctx, tx); err != nil {
		return postroom.Action{}, err
	}
	original, err := p.value()
	if err != nil {
		return original, err
	}
	if original.State != postroom.ActionCompleted {
		return postroom.Action{}, &StateError{Op: "undo", ActionID: originalID, State: original.State, JobID: original.JobID}
	}
	if !p.coherent() {
		return postroom.Action{}, fmt.Errorf("safety: undo action %s: %w: it is not what was decided", originalID, ErrAltered)
	}
	live, err := l.LiveUndoTx(ctx, tx, originalID)
	switch {
	case err != nil:
		return postroom.Action{}, err
	case live == nil:
		return l.actions.insertUndo(ctx, tx, p, original, jobID)
	case live.JobID == jobID && live.State == postroom.ActionExecuting:
		return *live, nil
	}
	return postroom.Action{}, &UndoneError{OriginalID: originalID, Undo: *live}
}

// RequestUndo puts it on record that the job is to undo the action, and who has requested it, which may be empty. It
// belongs to the transaction that enqueues the job.
func (l *Ledger) RequestUndo(ctx context.Context, tx queue.Tx, originalID, jobID, by string) error {
	original, err := findAction(ctx, tx, originalID)
	if err != nil {
		return err
	}
	return l.audit.auditUndo(ctx, tx, original, jobID, dbvalue.Clean(by))
}

// LiveUndo returns the undo of an action that is executing or completed and has not been undone itself; nil if there
// is none.
func (l *Ledger) LiveUndo(ctx context.Context, originalID string) (*postroom.Action, error) {
	return liveUndo(ctx, l.cfg.DB.Reader(), originalID)
}

// LiveUndoTx is [Ledger.LiveUndo] inside a write transaction.
func (l *Ledger) LiveUndoTx(ctx context.Context, tx queue.Tx, originalID string) (*postroom.Action, error) {
	return liveUndo(ctx, tx, originalID)
}

// Undos lists the undos of an action, newest first: at most one that counts (see [Ledger.LiveUndo]), and those that
// failed, were canceled or were undone themselves.
func (l *Ledger) Undos(ctx context.Context, originalID string) ([]postroom.Action, error) {
	undos, err := all[actionRow, postroom.Action](ctx, l.cfg.DB.Reader(), selectUndos, originalID)
	if err != nil {
		return nil, fmt.Errorf("safety: list the undos of action %s: %w", originalID, err)
	}
	return undos, nil
}

// SetReport stores a report about the execution with an executing action, as JSON.
func (l *Ledger) SetReport(ctx context.Context, tx queue.Tx, actionID string, report json.RawMessage) error {
	n, err := dbquery.Exec(ctx, tx, updateReport, string(report), actionID)
	switch {
	case err != nil:
		return fmt.Errorf("safety: report about action %s: %w", actionID, err)
	case n == 1:
		return nil
	}
	_, err = tooLate(ctx, tx, actionID, "report about")
	return err
}

// Report returns the report that [Ledger.SetReport] stored; nil if there is none.
func (l *Ledger) Report(ctx context.Context, actionID string) (json.RawMessage, error) {
	var report sql.NullString
	err := dbquery.Get(ctx, l.cfg.DB.Reader(), &report, selectReport, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("action", actionID)
	}
	if err != nil || !report.Valid {
		return nil, err
	}
	return json.RawMessage(report.String), nil
}
