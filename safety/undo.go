package safety

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// StartUndo records that the job takes a completed action back: a new action of type undo_<type>, executing from the start,
// linked to the original as its undo. Whether the original can be taken back is for package undo to judge.
//
// An action has at most one undo that has not failed and was not canceled. When it is the same job's, it is returned: the
// job goes on after a crash. When it is another's, nothing is written and the answer is an [*UndoneError].
func (l *Ledger) StartUndo(ctx context.Context, tx queue.Tx, originalID, jobID string) (postroom.Action, error) {
	original, err := l.ActionTx(ctx, tx, originalID)
	if err != nil {
		return original, err
	}
	if original.State != postroom.ActionCompleted {
		return postroom.Action{}, &StateError{Op: "undo", ActionID: originalID, State: original.State, JobID: original.JobID}
	}
	id, err := newID()
	if err != nil {
		return postroom.Action{}, err
	}
	res, err := tx.ExecContext(ctx, insertUndoLink, id, originalID, dbtime.Of(queue.Now(tx)))
	if err != nil {
		return postroom.Action{}, fmt.Errorf("safety: link undo of action %s: %w", originalID, err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return postroom.Action{}, err
	} else if n == 0 {
		return l.liveUndo(ctx, tx, originalID, jobID)
	}
	return insertActionRow(ctx, tx, postroom.Action{
		ID: id, AccountID: original.AccountID, MessageID: original.MessageID, DecisionID: original.DecisionID,
		Type: undoPrefix + original.Type, Parameters: original.Parameters,
		State: postroom.ActionExecuting, JobID: jobID, ExecutedAt: queue.Now(tx),
	})
}

func (l *Ledger) liveUndo(ctx context.Context, tx queue.Tx, originalID, jobID string) (postroom.Action, error) {
	undo, err := scanAction(tx.QueryRowContext(ctx, selectLiveUndo, originalID))
	if err != nil {
		return undo, fmt.Errorf("safety: read the undo of action %s: %w", originalID, err)
	}
	if undo.JobID == jobID {
		return undo, nil
	}
	return postroom.Action{}, &UndoneError{OriginalID: originalID, Undo: undo}
}

// Undos lists the undos of an action, newest first: at most one that is executing or completed, and those that came to
// nothing.
func (l *Ledger) Undos(ctx context.Context, originalID string) ([]postroom.Action, error) {
	return undosOf(ctx, l.cfg.DB.Reader(), originalID)
}

// UndosTx is [Ledger.Undos] inside a write transaction.
func (l *Ledger) UndosTx(ctx context.Context, tx queue.Tx, originalID string) ([]postroom.Action, error) {
	return undosOf(ctx, tx, originalID)
}

func undosOf(ctx context.Context, q dbquery.Querier, originalID string) ([]postroom.Action, error) {
	rows, err := q.QueryContext(ctx, selectUndos, originalID)
	undos, err := collect(rows, err, scanAction)
	if err != nil {
		return nil, fmt.Errorf("safety: list the undos of action %s: %w", originalID, err)
	}
	return undos, nil
}

// SetReport keeps what the execution of an action has to tell people, as JSON, with an executing action.
func (l *Ledger) SetReport(ctx context.Context, tx queue.Tx, actionID string, report json.RawMessage) error {
	res, err := tx.ExecContext(ctx, updateReport, string(report), actionID)
	if err != nil {
		return fmt.Errorf("safety: report about action %s: %w", actionID, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	_, err = l.tooLate(ctx, tx, actionID, "report about")
	return err
}

// Report returns what [Ledger.SetReport] has kept; nil when nothing was.
func (l *Ledger) Report(ctx context.Context, actionID string) (json.RawMessage, error) {
	var report sql.NullString
	err := l.cfg.DB.Reader().QueryRowContext(ctx, selectReport, actionID).Scan(&report)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("action", actionID)
	}
	if err != nil || !report.Valid {
		return nil, err
	}
	return json.RawMessage(report.String), nil
}
