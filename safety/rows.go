package safety

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

func encode(what string, v any) (string, error) {
	out, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("safety: store %s: %w", what, err)
	}
	return string(out), nil
}

func decode(what, stored string, v any) error {
	if err := json.Unmarshal([]byte(stored), v); err != nil {
		return fmt.Errorf("safety: read %s: %w", what, err)
	}
	return nil
}

// A row is a pointer to the columns that make a value.
type row[R, T any] interface {
	*R
	value() (T, error)
}

// get reads one row; without one the error is [sql.ErrNoRows].
func get[R, T any, P row[R, T]](ctx context.Context, q dbquery.Querier, query string, args ...any) (value T, err error) {
	var r R
	if err := dbquery.Get(ctx, q, &r, query, args...); err != nil {
		return value, err
	}
	return P(&r).value()
}

// all reads all rows.
func all[R, T any, P row[R, T]](ctx context.Context, q dbquery.Querier, query string, args ...any) ([]T, error) {
	var rows []R
	if err := dbquery.Select(ctx, q, &rows, query, args...); err != nil {
		return nil, err
	}
	values := make([]T, len(rows))
	for i := range rows {
		var err error
		if values[i], err = P(&rows[i]).value(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

type actionRow struct {
	ID         string               `db:"action.id"`
	AccountID  string               `db:"action.account_id"`
	MessageID  string               `db:"action.message_id"`
	DecisionID string               `db:"action.decision_id"`
	Type       postroom.ActionType  `db:"action.type"`
	Parameters string               `db:"action.parameters_json"`
	State      postroom.ActionState `db:"action.state"`
	Error      string               `db:"action.error"`
	UndoHint   sql.NullString       `db:"action.undo_hint_json"`
	JobID      string               `db:"action.job_id"`
	Content    string               `db:"action.content_sha256"`
	CreatedAt  dbtime.Time          `db:"action.created_at"`
	UpdatedAt  dbtime.Time          `db:"action.updated_at"`
	ExecutedAt dbtime.Time          `db:"action.executed_at"`
	Rev        int                  `db:"action.rev"`
	Sequence   sql.NullInt64        `db:"action.sequence"`            // its place among the actions of the message, from its start on
	ApprovalID string               `db:"action.approval_id"`         // of the approval that permits it; empty if none does, or need to
	ProviderID string               `db:"action.provider_message_id"` // of the decision
	Undoes     string               `db:"action.undoes"`              // the id of the action that it undoes
}

func (r *actionRow) value() (postroom.Action, error) {
	a := postroom.Action{
		ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, DecisionID: r.DecisionID, Type: r.Type, State: r.State,
		ProviderMessageID: r.ProviderID, Error: r.Error, JobID: r.JobID, ContentSHA256: r.Content, CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, ExecutedAt: r.ExecutedAt.Time,
	}
	if err := decode("parameters of action "+a.ID, r.Parameters, &a.Parameters); err != nil {
		return a, err
	}
	if !r.UndoHint.Valid {
		return a, nil
	}
	return a, decode("undo hint of action "+a.ID, r.UndoHint.String, &a.UndoHint)
}

// A DecisionRecord is a decision as recorded in the ledger.
type DecisionRecord struct {
	ID        string
	AccountID string
	MessageID string // ours
	Sender    string // the address, in lower case
	Subject   string

	// Decision is the decision; its NeedsApproval is the gate's, not the decider's.
	Decision postroom.Decision
	Verdict  Verdict

	CreatedAt time.Time
}

type decisionRow struct {
	ID            string              `db:"decision.id"`
	AccountID     string              `db:"decision.account_id"`
	MessageID     string              `db:"decision.message_id"`
	Key           string              `db:"decision.decision_key"`
	Source        postroom.Source     `db:"decision.source"`
	Action        postroom.ActionType `db:"decision.action_type"`
	Parameters    string              `db:"decision.parameters_json"`
	Confidence    sql.NullFloat64     `db:"decision.confidence"`
	NeedsApproval bool                `db:"decision.needs_approval"`
	Rationale     string              `db:"decision.rationale"`
	RuleID        string              `db:"decision.rule_id"`
	RuleName      string              `db:"decision.rule_name"`
	RuleVersion   string              `db:"decision.rule_version"`
	SafeMode      postroom.SafeMode   `db:"decision.safe_mode"`
	Model         string              `db:"decision.model"`
	Explanations  string              `db:"decision.explanations_json"`
	Telemetry     string              `db:"decision.telemetry_json"`
	Sender        string              `db:"decision.sender"`
	Subject       string              `db:"decision.subject"`
	CreatedAt     dbtime.Time         `db:"decision.created_at"`
	ProviderID    string              `db:"decision.provider_message_id"` // empty: the host gave none, or the row is from before the column
}

func (r *decisionRow) value() (DecisionRecord, error) {
	rec := DecisionRecord{
		ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, Sender: r.Sender, Subject: r.Subject, CreatedAt: r.CreatedAt.Time,
		Decision: postroom.Decision{
			Action: r.Action, Confidence: r.Confidence.Float64, NeedsApproval: r.NeedsApproval, Rationale: r.Rationale,
			Source: r.Source, RuleID: r.RuleID, RuleName: r.RuleName, RuleVersion: r.RuleVersion, SafeMode: r.SafeMode, Model: r.Model, Key: r.Key,
		},
	}
	what := " of decision " + rec.ID
	if err := decode("parameters"+what, r.Parameters, &rec.Decision.Parameters); err != nil {
		return rec, err
	}
	if err := decode("explanations"+what, r.Explanations, &rec.Decision.Explanations); err != nil {
		return rec, err
	}
	return rec, decode("telemetry"+what, r.Telemetry, &rec.Verdict)
}
