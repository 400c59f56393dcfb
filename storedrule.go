package postroom

// A StoredRule is a rule as its store has it: what the safety gate compares the decision of a rule with. Package rules
// makes it; a host with rules of its own makes it from those.
type StoredRule struct {
	ID   string
	Name string
	// Version is another one after every change of what the rule does: its condition, its scope, its actions, its safe mode.
	// It is never empty.
	Version string
	// Enabled reports whether the rule decides about mail.
	Enabled bool
	// Actions are what the rule does. Their labels may be names or ids.
	Actions []RuleAction
	// SafeMode is that of the rule; the zero value counts as default.
	SafeMode SafeMode
	// State is what the log must say about the rule. The zero State is that of a store whose changes are not logged.
	State RuleState
}

// A RuleAction is one action of a [StoredRule].
type RuleAction struct {
	Type       ActionType
	Parameters Parameters
}
