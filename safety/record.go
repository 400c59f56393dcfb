package safety

import (
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
	"github.com/postroom-go/postroom/safety/injection"
)

// Record returns the function that records a decision about a message in a transaction. The gate judges the decision. The
// decision, its action and what follows (a job or a request for approval) are written together. A label parameter must be the id
// of a label. If the decision is a model's, Record reads the message (see [injection.Indicators]): call Record before the
// transaction, and the function in it.
//
// The action is pending_approval if the gate requires approval, completed if there is nothing to do ([postroom.None]), canceled if
// it is a model's and forbidden to models ([Config].Forbids) or would only send what was sent before ([Config].Sent), canceled or
// failed if it would be refused ([Config].Refusals), and otherwise queued and passed to [Config.Execute].
//
// The function is idempotent: if the message has a decision with the same [postroom.Decision.Key], it writes nothing and returns
// the action of that decision in its present state.
//
// The Source of the decision and its rule must be what the caller knows, not what the decider says.
//
// A decision that breaks its contract is [ErrInvalidDecision]; use [Ledger.Refuse] to record it.
func (l *Ledger) Record(msg *postroom.Message, d postroom.Decision) func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
	var found []injection.Indicator
	if msg != nil && d.Source == postroom.SourceModel && d.Action != postroom.None {
		found = injection.Indicators(msg)
	}
	return func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return l.record(ctx, tx, msg, d, found)
	}
}

func (l *Ledger) record(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, found []injection.Indicator,
) (postroom.Action, error) {
	if err := d.Validate(l.cfg.Kinds, queue.Now(tx)); err != nil {
		return postroom.Action{}, fmt.Errorf("safety: record: %w: %w", ErrInvalidDecision, err)
	}
	evidence, err := l.evidence(ctx, tx, msg, d, found)
	if err != nil {
		return postroom.Action{}, err
	}
	verdict := l.gate.Judge(d, evidence)
	state, why, err := l.endsAtOnce(ctx, tx, msg, d, &verdict)
	if err == nil && why == "" {
		verdict, err = l.beyond(ctx, tx, msg, d, verdict)
	}
	if err != nil {
		return postroom.Action{}, err
	}
	action := postroom.Action{State: postroom.ActionQueued}
	switch {
	case why != "":
		action.State, action.Error = state, why
	case d.Action == postroom.None && !verdict.RequiresApproval:
		action.State, action.ExecutedAt, action.UndoHint = postroom.ActionCompleted, queue.Now(tx), nothingDone()
	case l.cfg.DryRun:
		action.State, action.Error = postroom.ActionCanceled, dryRun(verdict)
	case verdict.RequiresApproval:
		action.State = postroom.ActionPendingApproval
	}
	action, p, err := l.insert(ctx, tx, msg, d, verdict, action)
	if err != nil || p == nil {
		return action, err
	}
	switch action.State {
	case postroom.ActionQueued:
		err = l.cfg.Execute(ctx, tx, action)
	case postroom.ActionPendingApproval:
		err = l.ask(ctx, tx, p, verdict.Reasons)
	}
	return action, err
}

// Refuse records a decision that must not be carried out, such as one that names a missing label. Its action is failed from
// the start, with the reason, which must not be blank. Nothing is executed and no approval is requested. Refuse is idempotent
// as [Ledger.Record] is, and accepts decisions that Record finds invalid.
func (l *Ledger) Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, reason string) (postroom.Action, error) {
	if strings.TrimSpace(reason) == "" {
		return postroom.Action{}, errors.New("safety: refuse: the reason is blank")
	}
	action := postroom.Action{State: postroom.ActionFailed, Error: dbvalue.Clean(reason)}
	evidence, err := l.evidence(ctx, tx, msg, d, nil)
	if err != nil {
		return action, err
	}
	action, _, err = l.insert(ctx, tx, msg, d, l.gate.Judge(d, evidence), action)
	return action, err
}

// dryRunMark begins the reason of an action that a dry run canceled.
const dryRunMark = "dry run: "

// dryRun returns the reason of an action that a dry run cancels.
func dryRun(v Verdict) string {
	if v.RequiresApproval {
		return dryRunMark + "a person would have been asked"
	}
	return dryRunMark + "it would have been carried out"
}

// LeftOut reports whether an action was canceled because it was decided in a dry run. No person has rejected it, and it counts
// toward no cap, share or breaker.
func LeftOut(a *postroom.Action) bool {
	return a.State == postroom.ActionCanceled && strings.HasPrefix(a.Error, dryRunMark)
}

// nothingDone returns the hint of an action that changed nothing.
func nothingDone() *postroom.UndoHint { return &postroom.UndoHint{InverseAction: postroom.None} }

// insert writes the decision and its action. If an earlier decision has the same key, it reads the action of that decision and
// returns no permit.
func (l *Ledger) insert(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, verdict Verdict, action postroom.Action,
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
	if err := l.keys.load(ctx, tx); err != nil {
		return action, nil, err
	}
	decision, isNew, err := insertDecisionRow(ctx, tx, action.DecisionID, msg, d, verdict)
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
	if action, p, err = l.insertAction(ctx, tx, action, decision, 0); err != nil {
		return action, nil, err
	}
	return action, p, l.auditDecision(ctx, tx, p)
}

func insertDecisionRow(
	ctx context.Context, tx queue.Tx, id string, msg *postroom.Message, d postroom.Decision, verdict Verdict,
) (_ *decisionRow, isNew bool, err error) {
	if !validSource(d.Source) {
		return nil, false, fmt.Errorf("%w: source %q; use deterministic, llm or none", ErrInvalidDecision, string(d.Source))
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
		RuleName: dbvalue.Clean(d.RuleName), RuleVersion: dbvalue.Clean(d.RuleVersion), SafeMode: postroom.SafeMode(dbvalue.Clean(string(d.SafeMode))),
		ProviderID: dbvalue.Clean(msg.ProviderID), Model: dbvalue.Clean(d.Model), Explanations: explanations, Telemetry: telemetry, Sender: dbvalue.Clean(strings.ToLower(msg.From.Email)),
		Subject: dbvalue.Clean(msg.Subject), CreatedAt: dbtime.Of(dbtime.Truncate(queue.Now(tx))),
	}
	n, err := dbquery.Exec(ctx, tx, insertDecision, row.ID, row.AccountID, row.MessageID, row.Key, string(row.Source), string(row.Action),
		row.Parameters, row.Confidence, dbvalue.Number(row.NeedsApproval), row.Rationale, row.RuleID, row.RuleName, row.RuleVersion,
		string(row.SafeMode), row.Model, row.Explanations, row.Telemetry, row.Sender, row.Subject, row.CreatedAt, row.ProviderID)
	return &row, n == 1, err
}

// insertAction inserts the action of a decision. sequence is 0 for an action that has not started.
func (l *Ledger) insertAction(ctx context.Context, tx queue.Tx, a postroom.Action, d *decisionRow, sequence int64) (postroom.Action, *permitRow, error) {
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
	_, err = tx.ExecContext(ctx, insertAction, row.ID, row.AccountID, row.MessageID, row.DecisionID, string(row.Type), row.Parameters,
		string(row.State), row.Error, row.UndoHint, row.JobID, row.Sequence, row.CreatedAt, row.UpdatedAt, row.ExecutedAt)
	if err != nil {
		return a, nil, fmt.Errorf("safety: record action %s on message %s: %w", a.Type, a.MessageID, err)
	}
	l.checkpoint.reach(tx, mark{row.ID, row.Rev})
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
		ID: a.ID, AccountID: a.AccountID, MessageID: a.MessageID, DecisionID: a.DecisionID, Type: postroom.ActionType(dbvalue.Clean(string(a.Type))),
		ProviderID: a.ProviderMessageID, State: a.State, Error: a.Error, JobID: a.JobID, CreatedAt: at(a.CreatedAt), UpdatedAt: at(a.UpdatedAt), ExecutedAt: at(a.ExecutedAt), Rev: 1,
	}
	if r.Parameters, err = encode("parameters", a.Parameters); err != nil {
		return r, err
	}
	r.UndoHint, err = encodeHint(a.UndoHint)
	return r, err
}

func encodeHint(h *postroom.UndoHint) (sql.NullString, error) {
	if h == nil {
		return sql.NullString{}, nil
	}
	s, err := encode("undo hint", h)
	return sql.NullString{String: s, Valid: true}, err
}

func validSource(s postroom.Source) bool {
	return s == postroom.SourceDeterministic || s == postroom.SourceModel || s == postroom.SourceNone
}

// confidence is NULL for source none and for values outside [0, 1].
func confidence(d postroom.Decision) sql.NullFloat64 {
	known := d.Source != postroom.SourceNone && d.Confidence >= 0 && d.Confidence <= 1
	return sql.NullFloat64{Float64: d.Confidence + 0, Valid: known} // -0 is stored as 0
}
