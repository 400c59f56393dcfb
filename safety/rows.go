package safety

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/safety/gate"
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
func get[R, T any, P row[R, T]](ctx context.Context, q dbquery.Querier, query string,
	args ...any) (value T, err error) {
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
	// its place among the actions of the message, from its start on
	Sequence sql.NullInt64 `db:"action.sequence"`
	// of the approval that permits it; empty if none does, or need to
	ApprovalID string `db:"action.approval_id"`
	ProviderID string `db:"action.provider_message_id"` // of the decision
	Undoes     string `db:"action.undoes"`              // the id of the action that it undoes
}

// endedAt returns when an action has ended that has just been written in a final state; zero for others, and for those
// that change nothing. The first one stays in the row.
func (r *actionRow) endedAt() dbtime.Time {
	if !r.State.Final() || r.Type == postroom.None {
		return dbtime.Time{}
	}
	return r.UpdatedAt
}

func (r *actionRow) value() (postroom.Action, error) {
	a := postroom.Action{
		ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, DecisionID: r.DecisionID, Type: r.Type, State: r.State,
		ProviderMessageID: r.ProviderID, Error: r.Error, JobID: r.JobID, ContentSHA256: r.Content,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, ExecutedAt: r.ExecutedAt.Time,
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
	Verdict  gate.Verdict

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
	// empty: the host gave none, or the row is from before the column
	ProviderID string `db:"decision.provider_message_id"`
}

func (r *decisionRow) value() (DecisionRecord, error) {
	rec := DecisionRecord{
		ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, Sender: r.Sender, Subject: r.Subject,
		CreatedAt: r.CreatedAt.Time,
		Decision: postroom.Decision{
			Action: r.Action, Confidence: r.Confidence.Float64, NeedsApproval: r.NeedsApproval, Rationale: r.Rationale,
			Source: r.Source, RuleID: r.RuleID, RuleName: r.RuleName, RuleVersion: r.RuleVersion, SafeMode: r.SafeMode,
			Model: r.Model, Key: r.Key,
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

func encodeHint(h *postroom.UndoHint) (sql.NullString, error) {
	if h == nil {
		return sql.NullString{}, nil
	}
	s, err := encode("undo hint", h)
	return sql.NullString{String: s, Valid: true}, err
}

// An Outcome is the outcome of a request for approval.
type Outcome string

// The outcomes. All but the first are final.
const (
	OutcomeWaiting   Outcome = "waiting"
	OutcomeApproved  Outcome = "approved"
	OutcomeRejected  Outcome = "rejected"
	OutcomeWithdrawn Outcome = "withdrawn" // the action was canceled, or the request renewed or edited
)

// An Approval is one request for a person's approval of one action, and the answer.
type Approval struct {
	ID       string
	ActionID string
	Reasons  []string // why a person is asked

	// Digest is the signature over the request: the action's id, type, account, message and parameters, the hash of what
	// it sends, if any (see [Ledger.SetContent]), its decision, the reasons and the times. It is verified when the
	// request is approved. The approval has a signature of its own, which covers the approver as well and is verified
	// when the action starts.
	Digest string

	// Group is the id of the first request of the group that it is answered with; empty if it stands alone. See [Filter].
	Group string
	// Others is, in a call of Joined of [Config], how many others of its group wait. Elsewhere it is 0.
	Others int

	RequestedAt time.Time
	ExpiresAt   time.Time // from this time on, it cannot be approved

	Outcome   Outcome
	DecidedAt time.Time // zero while waiting
	Approver  string    // the person who answered, or edited what is sent; empty if there is none
	Why       string    // the reason for the answer or the withdrawal

	// ContentSHA256 is the hash of what the action sends, as the request names it; empty if it names none.
	ContentSHA256 string
	// ReplacedBy is the id of the request that was made in place of this one when a person edited what the action sends;
	// empty if none was. See [Editor].
	ReplacedBy string
}

type approvalRow struct {
	ID          string      `db:"approval.id"`
	ActionID    string      `db:"approval.action_id"`
	Reasons     string      `db:"approval.reasons_json"`
	Digest      string      `db:"approval.digest"`
	RequestedAt dbtime.Time `db:"approval.requested_at"`
	ExpiresAt   dbtime.Time `db:"approval.expires_at"`
	DecidedAt   dbtime.Time `db:"approval.decided_at"`
	Outcome     Outcome     `db:"approval.outcome"`
	Approver    string      `db:"approval.approver"`
	Why         string      `db:"approval.why"`
	Signature   string      `db:"approval.signature"` // over the approval; empty if nobody has approved
	UsedBy      string      `db:"approval.used_by"`   // the job that has started the action with it
	Group       string      `db:"approval.group_id"`
	Content     string      `db:"approval.content_sha256"` // of what the action sent when this was last signed
	ReplacedBy  string      `db:"approval.replaced_by"`    // the request after an edit
}

func (r *approvalRow) value() (Approval, error) {
	a := Approval{
		ID: r.ID, ActionID: r.ActionID, Digest: r.Digest, RequestedAt: r.RequestedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		Outcome: r.Outcome, DecidedAt: r.DecidedAt.Time, Approver: r.Approver, Why: r.Why, Group: r.Group,
		ContentSHA256: r.Content, ReplacedBy: r.ReplacedBy,
	}
	return a, decode("reasons of approval "+a.ID, r.Reasons, &a.Reasons)
}

// answered returns the request as it is once it is answered or withdrawn.
func (r *approvalRow) answered(outcome Outcome, approver, why string, now time.Time) *approvalRow {
	next := *r
	next.Outcome, next.Approver, next.Why, next.DecidedAt = outcome, dbvalue.Clean(approver), dbvalue.Clean(why),
		dbtime.Of(dbtime.Truncate(now))
	return &next
}

// restored reports whether the request was made before a person accepted a database that was put back.
func (r *approvalRow) restored(accepted dbtime.Time) bool {
	return !accepted.IsZero() && !r.RequestedAt.After(accepted.Time)
}

// until returns when an approval expires: as long after the answer as the request was open for one.
func (r *approvalRow) until() time.Time { return r.DecidedAt.Add(r.ExpiresAt.Sub(r.RequestedAt.Time)) }

// stamp is a time as it is stored; empty for none.
func stamp(t dbtime.Time) string {
	if t.IsZero() {
		return ""
	}
	return dbtime.Format(t.Time)
}

// parts are the columns of an action.
func (r *actionRow) parts() []string {
	return []string{
		r.ID, r.AccountID, r.MessageID, r.DecisionID, string(r.Type), r.Parameters, string(r.State), r.Error,
		strconv.FormatBool(r.UndoHint.Valid), r.UndoHint.String, r.JobID, r.Content, stamp(r.CreatedAt), stamp(r.UpdatedAt),
		stamp(r.ExecutedAt),
		strconv.FormatInt(r.Sequence.Int64, 10), r.ApprovalID, strconv.Itoa(r.Rev),
	}
}

// parts are the columns of a request, except the job that uses it. The hash of the content is in the digest.
func (r *approvalRow) parts() []string {
	parts := []string{
		r.ID, r.ActionID, r.Reasons, r.Digest, stamp(r.RequestedAt), stamp(r.ExpiresAt), stamp(r.DecidedAt),
		string(r.Outcome), r.Approver, r.Why,
		r.Signature,
	}
	if r.ReplacedBy != "" {
		parts = append(parts, r.Content, r.ReplacedBy)
	}
	return parts
}

// parts are the columns of a decision.
func (r *decisionRow) parts() []string {
	known := ""
	if r.Confidence.Valid {
		known = strconv.FormatFloat(r.Confidence.Float64, 'g', -1, 64)
	}
	return []string{
		r.ID, r.AccountID, r.MessageID, r.ProviderID, r.Key, string(r.Source), string(r.Action), r.Parameters, known,
		strconv.FormatBool(r.NeedsApproval), r.Rationale, r.RuleID, r.RuleName, r.RuleVersion, string(r.SafeMode), r.Model,
		r.Explanations,
		r.Telemetry, r.Sender, r.Subject, stamp(r.CreatedAt),
	}
}

// An Entry is an action with the decision that led to it. An undo has the decision of the action that it undoes.
type Entry struct {
	Action   postroom.Action
	Decision DecisionRecord
}

type entryRow struct {
	actionRow
	decisionRow
}

func (r *entryRow) value() (e Entry, err error) {
	if e.Action, err = r.actionRow.value(); err != nil {
		return e, err
	}
	e.Decision, err = r.decisionRow.value()
	return e, err
}

// sameText is sameJSON for two texts.
func sameText(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && sameJSON(x, y)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// nothingDone returns the hint of an action that changed nothing.
func nothingDone() *postroom.UndoHint { return &postroom.UndoHint{InverseAction: postroom.None} }

func findApproval(ctx context.Context, q dbquery.Querier, id string) (Approval, error) {
	r, err := get[approvalRow, Approval](ctx, q, selectApproval, id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, notFound("request for approval", id)
	}
	if err != nil {
		return r, fmt.Errorf("safety: read request for approval %s: %w", id, err)
	}
	return r, nil
}
