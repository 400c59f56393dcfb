package view

import (
	"github.com/postroom-go/postroom/llm/guidance"
	"time"
)

type Direction struct {
	ID        string    `json:"id"`
	AccountID string    `json:"account_id"` // empty: all accounts
	Text      string    `json:"text"`
	Enabled   bool      `json:"enabled"`
	Priority  int       `json:"priority"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int64     `json:"revision"`
	// Unchecked describes to what extent decisions are not checked against the direction; it is set for directions that forbid
	// something.
	Unchecked string `json:"unchecked,omitempty"`
}

func NewDirection(d guidance.Direction) Direction {
	return Direction{d.ID, d.AccountID, d.Text, d.Enabled, d.Priority, d.CreatedAt, d.UpdatedAt, d.Revision, d.Unchecked()}
}

type ModelRule struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Scope       guidance.Scope `json:"scope"`
	ScopeRef    string         `json:"scope_ref"`
	Text        string         `json:"text"`
	Enabled     bool           `json:"enabled"`
	Priority    int            `json:"priority"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
	Revision    int64          `json:"revision"`
	Unchecked   string         `json:"unchecked,omitempty"` // as that of a direction
}

func NewModelRule(r guidance.ScopedRule) ModelRule {
	return ModelRule{
		r.ID, r.Name, r.Description, r.Scope, r.ScopeRef, r.Text, r.Enabled, r.Priority, r.CreatedAt, r.UpdatedAt, r.Revision, r.Unchecked(),
	}
}
