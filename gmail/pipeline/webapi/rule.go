package webapi

import (
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// A Rule is a stored rule as JSON. Patches have the same names.
type Rule struct {
	ID             string               `json:"id"`
	AccountID      string               `json:"account_id"`
	Name           string               `json:"name"`
	Description    string               `json:"description"`
	Enabled        bool                 `json:"enabled"`
	DisabledReason string               `json:"disabled_reason,omitempty"`
	Scope          rules.Scope          `json:"scope"`
	ScopeRef       string               `json:"scope_ref,omitempty"`
	Priority       int                  `json:"priority"`
	Condition      rules.Condition      `json:"condition"`
	Action         postroom.ActionType  `json:"action"`
	Parameters     postroom.Parameters  `json:"parameters,omitempty"`
	Also           []rules.RuleAction   `json:"further_actions,omitempty"`
	SafeMode       postroom.SafeMode    `json:"safe_mode"`
	Continue       bool                 `json:"continue"`
	Schedule       rules.Schedule       `json:"schedule"`
	Authentication rules.Authentication `json:"authentication,omitempty"`
	CreatedAt      time.Time            `json:"created_at"`
	UpdatedAt      time.Time            `json:"updated_at"`
	Revision       int64                `json:"revision"`
}

// Revised returns the revision of the rule, for its ETag.
func (v Rule) Revised() int64 { return v.Revision }

// newRule makes the JSON of a stored rule.
func newRule(r rules.Rule) Rule {
	return Rule{
		ID: r.ID, AccountID: r.AccountID, Name: r.Name, Description: r.Description, Enabled: r.Enabled,
		DisabledReason: r.DisabledReason,
		Scope:          r.Scope, ScopeRef: r.ScopeRef, Priority: r.Priority, Condition: r.Condition, Action: r.Action,
		Parameters: r.Parameters, Also: r.Also,
		SafeMode: r.SafeMode, Continue: r.Continue, Schedule: r.Schedule, Authentication: r.Authentication,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Revision: r.Revision,
	}
}

// rule returns the rule without what its store adds: id, times and revision.
func (v *Rule) rule() rules.Rule {
	return rules.Rule{
		AccountID: v.AccountID, Name: v.Name, Description: v.Description, Enabled: v.Enabled,
		DisabledReason: v.DisabledReason,
		Scope:          v.Scope, ScopeRef: v.ScopeRef, Priority: v.Priority, Condition: v.Condition, Action: v.Action,
		Parameters: v.Parameters, Also: v.Also,
		SafeMode: v.SafeMode, Continue: v.Continue, Schedule: v.Schedule, Authentication: v.Authentication,
	}
}
