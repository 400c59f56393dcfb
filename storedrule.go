package postroom

// A StoredRule is a rule as its store has it. The safety gate compares a rule's decision with it. Package rules makes it; a host
// with its own rules makes it from them.
type StoredRule struct {
	ID   string
	Name string
	// Version changes whenever the rule's condition, scope, actions or safe mode change. It is never empty.
	Version string
	// Enabled reports whether the rule decides about mail.
	Enabled bool
	// Actions are the actions of the rule. Their labels may be names or ids.
	Actions []RuleAction
	// SafeMode is the rule's safe mode; the zero value means default.
	SafeMode SafeMode
}

// A RuleAction is one action of a [StoredRule].
type RuleAction struct {
	Type       ActionType
	Parameters Parameters
}
