package postroom

import "time"

// A Permit is what an action that has not ended may be carried out by.
type Permit struct {
	// Verified reports whether the rest is what was permitted: nothing has altered it where it is stored.
	Verified bool

	Action    Action
	Decision  Decision
	DecidedAt time.Time
	// Approver is the person who has approved the action; empty if nobody has.
	Approver string
	// Before is the message as it was before the first action that was carried out on it since the decision; nil if there was none.
	Before *Snapshot
}
