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
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// StartUndo records that the job undoes a completed action: it inserts an action of type undo_<type>, executing from the
// start, and links it to the original. Package undo decides whether the original can be undone.
//
// An action has at most one undo that has neither failed nor been canceled. If it belongs to the same job, StartUndo returns
// it, so that the job continues after a crash. If it belongs to another job, StartUndo writes nothing and returns an
// [*UndoneError].
func (l *Ledger) StartUndo(ctx context.Context, tx queue.Tx, originalID, jobID string) (postroom.Action, error) {
	if jobID == "" {
		return postroom.Action{}, fmt.Errorf("safety: undo action %s: the job's id is empty", originalID)
	}
	original, err := l.ActionTx(ctx, tx, originalID)
	if err != nil {
		return original, err
	}
	if original.State != postroom.ActionCompleted {
		return postroom.Action{}, &StateError{Op: "undo", ActionID: originalID, State: original.State, JobID: original.JobID}
	}
	id, err := uuid7.New()
	if err != nil {
		return postroom.Action{}, err
	}
	linked, err := dbquery.Exec(ctx, tx, insertUndoLink, id, originalID, dbtime.Of(queue.Now(tx)))
	if err != nil {
		return postroom.Action{}, fmt.Errorf("safety: link undo of action %s: %w", originalID, err)
	}
	if linked == 0 {
		return l.liveUndo(ctx, tx, originalID, jobID)
	}
	return insertActionRow(ctx, tx, postroom.Action{
		ID: id, AccountID: original.AccountID, MessageID: original.MessageID, DecisionID: original.DecisionID,
		Type: undoPrefix + original.Type, Parameters: original.Parameters,
		State: postroom.ActionExecuting, JobID: jobID, ExecutedAt: queue.Now(tx),
	})
}

func (l *Ledger) liveUndo(ctx context.Context, tx queue.Tx, originalID, jobID string) (postroom.Action, error) {
	undo, err := get[actionRow, postroom.Action](ctx, tx, selectLiveUndo, originalID)
	if err != nil {
		return undo, fmt.Errorf("safety: read the undo of action %s: %w", originalID, err)
	}
	if undo.JobID == jobID {
		return undo, nil
	}
	return postroom.Action{}, &UndoneError{OriginalID: originalID, Undo: undo}
}

// Undos lists the undos of an action, newest first: at most one that is executing or completed, and those that failed or
// were canceled.
func (l *Ledger) Undos(ctx context.Context, originalID string) ([]postroom.Action, error) {
	return undosOf(ctx, l.cfg.DB.Reader(), originalID)
}

// UndosTx is [Ledger.Undos] inside a write transaction.
func (l *Ledger) UndosTx(ctx context.Context, tx queue.Tx, originalID string) ([]postroom.Action, error) {
	return undosOf(ctx, tx, originalID)
}

func undosOf(ctx context.Context, q dbquery.Querier, originalID string) ([]postroom.Action, error) {
	undos, err := all[actionRow, postroom.Action](ctx, q, selectUndos, originalID)
	if err != nil {
		return nil, fmt.Errorf("safety: list the undos of action %s: %w", originalID, err)
	}
	return undos, nil
}

// SetReport stores a report about the execution with an executing action, as JSON.
func (l *Ledger) SetReport(ctx context.Context, tx queue.Tx, actionID string, report json.RawMessage) error {
	changed, err := dbquery.Exec(ctx, tx, updateReport, string(report), actionID)
	switch {
	case err != nil:
		return fmt.Errorf("safety: report about action %s: %w", actionID, err)
	case changed == 1:
		return nil
	}
	_, err = l.tooLate(ctx, tx, actionID, "report about")
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
