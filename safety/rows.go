package safety

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
)

func newID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("safety: make an id: %w", err)
	}
	return id.String(), nil
}

// clean makes text from mail or a model storable: a database's text holds valid UTF-8 without NUL.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

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

// A row is one table's part of a result: where its columns go, and what becomes of them.
type row[T any] interface {
	dest() []any
	value() (T, error)
}

type scanner interface{ Scan(dest ...any) error }

func scan[T any](s scanner, r row[T]) (value T, err error) {
	if err := s.Scan(r.dest()...); err != nil {
		return value, err
	}
	return r.value()
}

// collect reads all rows and closes them.
func collect[T any](rows *sql.Rows, err error, read func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		one, err := read(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

type actionRow struct {
	action                     postroom.Action
	parameters                 string
	hint                       sql.NullString
	created, updated, executed dbtime.Time
}

func (r *actionRow) dest() []any {
	a := &r.action
	return []any{
		&a.ID, &a.AccountID, &a.MessageID, &a.DecisionID, &a.Type, &r.parameters, &a.State, &a.Error, &r.hint, &a.JobID,
		&r.created, &r.updated, &r.executed,
	}
}

func (r *actionRow) value() (postroom.Action, error) {
	a := r.action
	a.CreatedAt, a.UpdatedAt, a.ExecutedAt = r.created.Time, r.updated.Time, r.executed.Time
	if err := decode("parameters of action "+a.ID, r.parameters, &a.Parameters); err != nil {
		return a, err
	}
	if !r.hint.Valid {
		return a, nil
	}
	return a, decode("undo hint of action "+a.ID, r.hint.String, &a.UndoHint)
}

func scanAction(s scanner) (postroom.Action, error) { return scan(s, &actionRow{}) }

// A DecisionRecord is a decision as it stands in the ledger.
type DecisionRecord struct {
	ID        string
	AccountID string
	MessageID string // ours
	Sender    string // the address, in lower case
	Subject   string

	// Decision is what was decided; its NeedsApproval is the gate's last word, not the decider's.
	Decision postroom.Decision
	Verdict  Verdict

	CreatedAt time.Time
}

type decisionRow struct {
	record                              DecisionRecord
	parameters, explanations, telemetry string
	confidence                          sql.NullFloat64
	created                             dbtime.Time
}

func (r *decisionRow) dest() []any {
	d := &r.record.Decision
	return []any{
		&r.record.ID, &r.record.AccountID, &r.record.MessageID, &d.Key, &d.Source, &d.Action, &r.parameters, &r.confidence,
		&d.NeedsApproval, &d.Rationale, &d.RuleID, &d.RuleName, &d.SafeMode, &d.Model, &r.explanations, &r.telemetry,
		&r.record.Sender, &r.record.Subject, &r.created,
	}
}

func (r *decisionRow) value() (DecisionRecord, error) {
	rec := r.record
	rec.Decision.Confidence = r.confidence.Float64
	rec.CreatedAt = r.created.Time
	what := " of decision " + rec.ID
	if err := decode("parameters"+what, r.parameters, &rec.Decision.Parameters); err != nil {
		return rec, err
	}
	if err := decode("explanations"+what, r.explanations, &rec.Decision.Explanations); err != nil {
		return rec, err
	}
	return rec, decode("telemetry"+what, r.telemetry, &rec.Verdict)
}
