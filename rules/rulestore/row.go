package rulestore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/rules"
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
	Also           string         `db:"further_actions"`
	Continues      int            `db:"continues"`
	Schedule       string         `db:"schedule"`
	Authentication string         `db:"authentication"`
	CreatedAt      dbtime.Time    `db:"created_at"`
	UpdatedAt      dbtime.Time    `db:"updated_at"`
	Revision       int64          `db:"revision"        json:"-"` // a decision's version of the rule is a hash of the rest
}

func (r *row) rule() rules.Rule {
	rule := rules.Rule{
		ID: r.ID, AccountID: r.AccountID, Name: r.Name, Description: r.Description.String,
		Enabled: r.Enabled == 1, DisabledReason: r.DisabledReason.String,
		Scope: rules.Scope(r.Scope), ScopeRef: r.ScopeRef.String, Priority: r.Priority, Position: r.Position,
		Action: postroom.ActionType(r.Action), SafeMode: postroom.SafeMode(r.SafeMode),
		Continue: r.Continues == 1, Authentication: rules.Authentication(r.Authentication),
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, Revision: r.Revision,
	}
	// A column that cannot be read makes this rule broken, and no other.
	for _, field := range []struct {
		name, text string
		to         any
	}{
		{"conditions", r.Conditions, &rule.Condition},
		{"parameters", r.Parameters, &rule.Parameters},
		{"further actions", r.Also, &rule.Also},
		{"schedule", r.Schedule, &rule.Schedule},
	} {
		if err := json.Unmarshal([]byte(field.text), field.to); err != nil {
			rule.Damage = errors.Join(rule.Damage, fmt.Errorf("stored %s: %w", field.name, err))
		}
	}
	if len(rule.Also) == 0 {
		rule.Also = nil
	}
	return rule
}

func toRow(r *rules.Rule) (*row, error) {
	texts := make([]string, 0, 4)
	for _, field := range []struct {
		name  string
		value any
	}{{"conditions", r.Condition}, {"parameters", r.Parameters},
		{"further actions", append([]rules.RuleAction{}, r.Also...)}, {"schedule", r.Schedule}} {
		text, err := json.Marshal(field.value)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %s: %w", r.Name, field.name, err)
		}
		texts = append(texts, string(text))
	}
	return &row{
		ID: r.ID, AccountID: r.AccountID, Name: r.Name, Description: nullable(r.Description),
		Enabled: dbvalue.Number(r.Enabled), DisabledReason: nullable(r.DisabledReason),
		Scope: string(r.Scope), ScopeRef: nullable(r.ScopeRef), Priority: r.Priority, Position: r.Position,
		Conditions: texts[0], Action: string(r.Action), Parameters: texts[1], SafeMode: string(r.SafeMode),
		Also: texts[2], Continues: dbvalue.Number(r.Continue), Schedule: texts[3], Authentication: string(r.Authentication),
		CreatedAt: dbtime.Of(r.CreatedAt), UpdatedAt: dbtime.Of(r.UpdatedAt), Revision: r.Revision,
	}, nil
}

func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
