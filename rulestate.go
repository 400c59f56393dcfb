package postroom

import "fmt"

// A RuleKind is a kind of what is stored about how mail is decided.
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

// A RuleState is what there is to sign of a stored rule, so that a row which something else has written can be told. Packages rules
// and llm make it, and package safety keeps it in its log.
type RuleState struct {
	Kind      RuleKind
	ID        string
	AccountID string // empty for none
	State     string // enabled, disabled or gone; empty for a version
	// Digest is a hash of all columns, but of the time of the last change.
	Digest string
	// Past says that the rule was so once: it is kept with a version, and not in force.
	Past bool
}

// A RuleFault is a rule that is not as its log says.
type RuleFault struct {
	Kind      RuleKind
	ID        string
	AccountID string // empty: none, or more than one
	Name      string // that it has now; empty where its store does not say, or it is not stored any more
	What      string // for people, as in "was altered in the database"
	Missing   bool   // it is not stored any more
}

// String says to people which rule it is, and what is wrong with it.
func (f RuleFault) String() string {
	if f.Name == "" {
		return "rule " + f.ID + " " + f.What
	}
	return fmt.Sprintf("rule %q (%s) %s", f.Name, f.ID, f.What)
}
