package rules

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
)

// A row is a rule as it is stored.
type row struct {
	ID             string         `db:"id"`
	AccountID      string         `db:"account_id"`
	Name           string         `db:"name"`
	Description    sql.NullString `db:"description"`
	Enabled        int            `db:"enabled"`
	DisabledReason sql.NullString `db:"disabled_reason"`
	Scope          string         `db:"scope"`
	ScopeRef       sql.NullString `db:"scope_ref"`
	Priority       int            `db:"priority"`
	Position       int            `db:"position"`
	Conditions     string         `db:"conditions"`
	Action         string         `db:"action"`
	Parameters     string         `db:"parameters"`
	SafeMode       string         `db:"safe_mode"`
	CreatedAt      dbtime.Time    `db:"created_at"`
	UpdatedAt      dbtime.Time    `db:"updated_at"`
}

func (r *row) rule() Rule {
	rule := Rule{
		ID: r.ID, AccountID: r.AccountID, Name: r.Name, Description: r.Description.String,
		Enabled: r.Enabled == 1, DisabledReason: r.DisabledReason.String,
		Scope: Scope(r.Scope), ScopeRef: r.ScopeRef.String, Priority: r.Priority, Position: r.Position,
		Action: postroom.ActionType(r.Action), SafeMode: postroom.SafeMode(r.SafeMode),
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time,
	}
	// What cannot be read makes this rule a broken one, and no other.
	if err := json.Unmarshal([]byte(r.Conditions), &rule.Condition); err != nil {
		rule.damage = fmt.Errorf("stored conditions: %w", err)
	}
	if err := json.Unmarshal([]byte(r.Parameters), &rule.Parameters); err != nil {
		rule.damage = errors.Join(rule.damage, fmt.Errorf("stored parameters: %w", err))
	}
	return rule
}

func toRow(r *Rule) (*row, error) {
	conditions, err := json.Marshal(r.Condition)
	if err != nil {
		return nil, fmt.Errorf("rule %q: conditions: %w", r.Name, err)
	}
	parameters, err := json.Marshal(r.Parameters)
	if err != nil {
		return nil, fmt.Errorf("rule %q: parameters: %w", r.Name, err)
	}
	return &row{
		ID: r.ID, AccountID: r.AccountID, Name: r.Name, Description: nullable(r.Description),
		Enabled: dbvalue.Number(r.Enabled), DisabledReason: nullable(r.DisabledReason),
		Scope: string(r.Scope), ScopeRef: nullable(r.ScopeRef), Priority: r.Priority, Position: r.Position,
		Conditions: string(conditions), Action: string(r.Action), Parameters: string(parameters), SafeMode: string(r.SafeMode),
		CreatedAt: dbtime.Of(r.CreatedAt), UpdatedAt: dbtime.Of(r.UpdatedAt),
	}, nil
}

func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
