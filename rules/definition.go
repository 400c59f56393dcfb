package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// A definition is the text of which a version is a hash. Stored decisions and stored versions of rules name that
// hash, so the fields must not change: those that have no part in it are zero.
type definition struct {
	ID             string
	AccountID      string
	Name           string
	Description    optionalText
	Enabled        int
	DisabledReason optionalText
	Scope          string
	ScopeRef       optionalText
	Priority       int
	Position       int
	Conditions     string
	Action         string
	Parameters     string
	SafeMode       string
	Also           string
	Continues      int
	Schedule       string
	Authentication string
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// An optionalText is not valid if it is empty.
type optionalText struct {
	String string
	Valid  bool
}

func optional(s string) optionalText { return optionalText{s, s != ""} }

// Version returns a hash of the rule's effect: of all its fields except its ID, its position, its times and whether
// it is enabled. A decision names it, so that one can check whether the rule is still the one that matched. It is
// empty for a rule that cannot be stored.
func (r *Rule) Version() string {
	parts := make([]string, 0, 4)
	for _, part := range []any{r.Condition, r.Parameters, append([]RuleAction{}, r.Also...), r.Schedule} {
		text, err := json.Marshal(part)
		if err != nil {
			return ""
		}
		parts = append(parts, string(text))
	}
	continues := 0
	if r.Continue {
		continues = 1
	}
	text, err := json.Marshal(definition{ //nolint:musttag // a hash is made of all fields there are, whatever their names
		AccountID: r.AccountID, Name: r.Name, Description: optional(r.Description),
		Scope: string(r.Scope), ScopeRef: optional(r.ScopeRef), Priority: r.Priority,
		Conditions: parts[0], Action: string(r.Action), Parameters: parts[1], SafeMode: string(r.SafeMode),
		Also: parts[2], Continues: continues, Schedule: parts[3], Authentication: string(r.Authentication),
	})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
