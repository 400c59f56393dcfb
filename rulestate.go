package postroom

import "fmt"

// A RuleKind is the kind of a stored row about how mail is decided.
type RuleKind string

// The kinds.
const (
	RuleKindRule        RuleKind = "rule"          // a rule of package rules
	RuleKindVersion     RuleKind = "rules_version" // a version of such rules
	RuleKindDirection   RuleKind = "direction"     // a direction to the model, of package llm
	RuleKindInstruction RuleKind = "llm_rule"      // a rule for the model, of package llm
)

// The states of a [RuleState].
const (
	RuleEnabled  = "enabled"
	RuleDisabled = "disabled"
	RuleGone     = "gone" // it was deleted, and has no digest
)

// A RuleState is the signed part of a stored rule, so that a row that something else has written can be detected. Packages rules
// and llm make it, and package safety keeps it in its audit log.
type RuleState struct {
	Kind      RuleKind
	ID        string
	AccountID string // empty if there is none
	State     string // enabled, disabled or gone; empty for a version
	// Digest is a hash of all columns except the time of the last change.
	Digest string
	// Past reports that the rule is an earlier one: it is kept with a version and is not in force.
	Past bool
}

// A RuleFault is a rule that does not match the audit log.
type RuleFault struct {
	Kind      RuleKind
	ID        string
	AccountID string // empty: none, or more than one
	Name      string // the current name; empty if it is unknown or the rule is not stored any more
	What      string // for people, as in "was altered in the database"
	Missing   bool   // the rule is not stored any more
}

// String names the rule and its fault for people.
func (f RuleFault) String() string {
	if f.Name == "" {
		return "rule " + f.ID + " " + f.What
	}
	return fmt.Sprintf("rule %q (%s) %s", f.Name, f.ID, f.What)
}
