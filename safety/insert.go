package safety

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/origin"
)

// insert writes the decision and its action. If an earlier decision has the same key, it reads the action of that
// decision and returns no permit.
func (as *actions) insert(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, verdict gate.Verdict,
	action postroom.Action,
	from origin.Origin,
) (_ postroom.Action, p *permitRow, err error) {
	if msg == nil {
		return action, nil, errors.New("safety: record: the message is nil; give the one that the decision is about")
	}
	if msg.ID == "" || msg.AccountID == "" {
		return action, nil, fmt.Errorf("safety: record: message %q of account %q: both ids are needed", msg.ID, msg.AccountID)
	}
	if action.DecisionID, err = uuid7.New(); err != nil {
		return action, nil, err
	}
	decision, isNew, err := insertDecisionRow(ctx, tx, action.DecisionID, msg, d, verdict, from)
	if err != nil {
		return action, nil, fmt.Errorf("safety: record decision about message %s: %w", msg.ID, err)
	}
	if !isNew {
		first, err := get[actionRow, postroom.Action](ctx, tx, selectActionByKey, msg.AccountID, msg.ID, dbvalue.Clean(d.Key))
		if err != nil {
			return action, nil, fmt.Errorf("safety: find the first decision about message %s: %w", msg.ID, err)
		}
		return first, nil, nil
	}
	action.AccountID, action.MessageID, action.ProviderMessageID = msg.AccountID, msg.ID, decision.ProviderID
	action.Type, action.Parameters = d.Action, d.Parameters
	if action, p, err = as.insertAction(ctx, tx, action, decision, 0); err != nil {
		return action, nil, err
	}
	return action, p, as.audit.auditDecision(ctx, tx, p)
}

func insertDecisionRow(
	ctx context.Context, tx queue.Tx, id string, msg *postroom.Message, d postroom.Decision, verdict gate.Verdict,
	from origin.Origin,
) (_ *decisionRow, isNew bool, err error) {
	if !validSource(d.Source) {
		return nil, false, fmt.Errorf("%w: source %q; use deterministic, llm, host or none", ErrInvalidDecision,
			string(d.Source))
	}
	if d.Parameters == nil {
		d.Parameters = postroom.Parameters{}
	}
	parameters, err := encode("parameters", d.Parameters)
	if err != nil {
		return nil, false, err
	}
	explanations, err := encode("explanations", d.Explanations)
	if err != nil {
		return nil, false, err
	}
	telemetry, err := encode("telemetry", verdict)
	if err != nil {
		return nil, false, err
	}
	row := decisionRow{
		ID: id, AccountID: msg.AccountID, MessageID: msg.ID, Key: dbvalue.Clean(d.Key), Source: d.Source,
		Action: postroom.ActionType(dbvalue.Clean(string(d.Action))), Parameters: parameters, Confidence: confidence(d),
		NeedsApproval: verdict.RequiresApproval, Rationale: dbvalue.Clean(d.Rationale), RuleID: dbvalue.Clean(d.RuleID),
		RuleName: dbvalue.Clean(d.RuleName), RuleVersion: dbvalue.Clean(d.RuleVersion),
		SafeMode:   postroom.SafeMode(dbvalue.Clean(string(d.SafeMode))),
		ProviderID: dbvalue.Clean(msg.ProviderID), Model: dbvalue.Clean(d.Model), Explanations: explanations,
		Telemetry: telemetry, Sender: dbvalue.Clean(strings.ToLower(msg.From.Email)),
		Subject: dbvalue.Clean(msg.Subject), CreatedAt: dbtime.Of(dbtime.Truncate(queue.Now(tx))),
	}
	n, err := dbquery.Exec(ctx, tx, insertDecision, row.ID, row.AccountID, row.MessageID, row.Key, string(row.Source),
		string(row.Action),
		row.Parameters, row.Confidence, dbvalue.Number(row.NeedsApproval), row.Rationale, row.RuleID, row.RuleName,
		row.RuleVersion,
		string(row.SafeMode), row.Model, row.Explanations, row.Telemetry, row.Sender, row.Subject, row.CreatedAt,
		row.ProviderID, dbvalue.Clean(from.Name))
	return &row, n == 1, err
}

// insertAction inserts the action of a decision. sequence is 0 for an action that has not started.
func (as *actions) insertAction(ctx context.Context, tx queue.Tx, a postroom.Action, d *decisionRow,
	sequence int64) (postroom.Action, *permitRow, error) {
	if a.ID == "" {
		id, err := uuid7.New()
		if err != nil {
			return a, nil, err
		}
		a.ID = id
	}
	a.CreatedAt, a.UpdatedAt = queue.Now(tx), queue.Now(tx)
	if a.Parameters == nil {
		a.Parameters = postroom.Parameters{}
	}
	row, err := newActionRow(a)
	if err != nil {
		return a, nil, err
	}
	row.Sequence = sql.NullInt64{Int64: sequence, Valid: sequence != 0}
	_, err = tx.ExecContext(ctx, insertAction, row.ID, row.AccountID, row.MessageID, row.DecisionID, string(row.Type),
		row.Parameters,
		string(row.State), row.Error, row.UndoHint, row.JobID, row.Sequence, row.CreatedAt, row.UpdatedAt, row.ExecutedAt,
		row.endedAt())
	if err != nil {
		return a, nil, fmt.Errorf("safety: record action %s on message %s: %w", a.Type, a.MessageID, err)
	}
	as.checkpoint.Reach(tx, row.ID, row.Rev)
	return a, &permitRow{actionRow: row, decided: decided{*d}}, nil
}

// newActionRow returns the first row of an action.
func newActionRow(a postroom.Action) (r actionRow, err error) {
	at := func(t time.Time) dbtime.Time {
		if t.IsZero() {
			return dbtime.Time{}
		}
		return dbtime.Of(dbtime.Truncate(t))
	}
	r = actionRow{
		ID: a.ID, AccountID: a.AccountID, MessageID: a.MessageID, DecisionID: a.DecisionID,
		Type:       postroom.ActionType(dbvalue.Clean(string(a.Type))),
		ProviderID: a.ProviderMessageID, State: a.State, Error: a.Error, JobID: a.JobID, CreatedAt: at(a.CreatedAt),
		UpdatedAt: at(a.UpdatedAt), ExecutedAt: at(a.ExecutedAt), Rev: 1,
	}
	if r.Parameters, err = encode("parameters", a.Parameters); err != nil {
		return r, err
	}
	r.UndoHint, err = encodeHint(a.UndoHint)
	return r, err
}

func validSource(s postroom.Source) bool {
	return s == postroom.SourceDeterministic || s == postroom.SourceModel || s == postroom.SourceHost ||
		s == postroom.SourceNone
}

// confidence is NULL for source none and for values outside [0, 1].
func confidence(d postroom.Decision) sql.NullFloat64 {
	known := d.Source != postroom.SourceNone && d.Confidence >= 0 && d.Confidence <= 1
	return sql.NullFloat64{Float64: d.Confidence + 0, Valid: known} // -0 is stored as 0
}

// insertUndo records an undo of the action that p is the permit of.
func (as *actions) insertUndo(ctx context.Context, tx queue.Tx, p *permitRow, original postroom.Action,
	jobID string) (postroom.Action, error) {
	id, err := uuid7.New()
	if err != nil {
		return postroom.Action{}, err
	}
	undo := postroom.Action{
		ID: id, AccountID: original.AccountID, MessageID: original.MessageID, DecisionID: original.DecisionID,
		ProviderMessageID: original.ProviderMessageID,
		Type:              UndoType(original.Type), Parameters: original.Parameters,
		State: postroom.ActionExecuting, JobID: jobID, ExecutedAt: queue.Now(tx),
	}
	sequence, err := lockMessage(ctx, tx, undo, "")
	if errors.Is(err, postroom.ErrMessageBusy) {
		return postroom.Action{}, cmp.Or(checkUndone(ctx, tx, original.ID), err)
	}
	if err != nil {
		return postroom.Action{}, err
	}
	if _, err := tx.ExecContext(ctx, insertUndoLink, id, original.ID, dbtime.Of(queue.Now(tx))); err != nil {
		return postroom.Action{}, fmt.Errorf("safety: link undo of action %s: %w", original.ID, err)
	}
	undo, inserted, err := as.insertAction(ctx, tx, undo, &p.decisionRow, sequence)
	if err != nil {
		return undo, err
	}
	return undo, as.audit.auditAction(ctx, tx, &inserted.actionRow)
}

// checkUndone returns an [*UndoneError] if another transaction has started to undo the action in the meantime.
func checkUndone(ctx context.Context, tx queue.Tx, originalID string) error {
	live, err := liveUndo(ctx, tx, originalID)
	if err != nil || live == nil {
		return err
	}
	return &UndoneError{OriginalID: originalID, Undo: *live}
}

func liveUndo(ctx context.Context, q dbquery.Querier, originalID string) (*postroom.Action, error) {
	undo, err := get[actionRow, postroom.Action](ctx, q, selectLiveUndo, originalID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is no error, and no action
	}
	if err != nil {
		return nil, fmt.Errorf("safety: read the undo of action %s: %w", originalID, err)
	}
	return &undo, nil
}
