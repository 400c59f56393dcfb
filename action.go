package postroom

import (
	"time"
)

// An ActionType names what can be done to a message.
type ActionType string

// The standard actions. [StandardKind] describes each; a [Kinds] has those that are carried out.
const (
	ApplyLabel  ActionType = "apply_label"
	RemoveLabel ActionType = "remove_label"
	MarkRead    ActionType = "mark_read"
	MarkUnread  ActionType = "mark_unread"
	Archive     ActionType = "archive"
	Trash       ActionType = "trash"
	Restore     ActionType = "restore"
	Move        ActionType = "move"
	None        ActionType = "none"

	Star       ActionType = "star"
	Unstar     ActionType = "unstar"
	Snooze     ActionType = "snooze"
	AddNote    ActionType = "add_note"
	CreateTask ActionType = "create_task"

	Delete    ActionType = "delete"
	Forward   ActionType = "forward"
	AutoReply ActionType = "auto_reply"
	Escalate  ActionType = "escalate"
)

// A Danger is the harm that a wrong action can do.
type Danger int

// The levels of danger. The zero value is the strictest, so that an unclassified
// action is dangerous.
const (
	Dangerous  Danger = iota // cannot be undone, or reaches other people
	Reversible               // changes more than labels, and can be undone
	Safe                     // moves or marks mail, and can be undone exactly
)

// String returns the name of the level: dangerous, reversible or safe.
func (d Danger) String() string {
	switch d {
	case Safe:
		return "safe"
	case Reversible:
		return "reversible"
	default:
		return "dangerous"
	}
}

// Parameters are the arguments of an action, as decoded from JSON. A parameter of type [LabelParameter] is the
// label's name until the ledger records the action, and the label's id from then on.
type Parameters map[string]any

// ParamLabel is the parameter that names the label of [ApplyLabel], [RemoveLabel] and [Move].
const ParamLabel = "label"

// Text returns the parameter and true if it is a non-empty string.
func (p Parameters) Text(name string) (string, bool) {
	s, ok := p[name].(string)
	return s, ok && s != ""
}

// An ActionState is the state of an action in the ledger.
type ActionState string

// The states of an action. It starts queued, executing or pending_approval; completed, failed, canceled and rejected
// are final.
const (
	ActionQueued          ActionState = "queued"
	ActionExecuting       ActionState = "executing"
	ActionCompleted       ActionState = "completed"
	ActionFailed          ActionState = "failed"
	ActionCanceled        ActionState = "canceled"
	ActionRejected        ActionState = "rejected"
	ActionPendingApproval ActionState = "pending_approval"
)

// ActionStates returns the states of an action.
func ActionStates() []ActionState {
	return []ActionState{ActionQueued, ActionExecuting, ActionCompleted, ActionFailed, ActionCanceled, ActionRejected,
		ActionPendingApproval}
}

// Words returns the state as a person reads it.
func (s ActionState) Words() string {
	if s == ActionPendingApproval {
		return "waits for approval"
	}
	return string(s)
}

// Final reports whether s is a final state, which no other follows.
func (s ActionState) Final() bool {
	switch s {
	case ActionCompleted, ActionFailed, ActionCanceled, ActionRejected:
		return true
	default:
		return false
	}
}

// An Action is one entry of the ledger: one change to one message, either pending or done.
type Action struct {
	ID        string
	AccountID string
	MessageID string // the UUID that Postroom assigned
	// ProviderMessageID is the provider's id of the message at the time of the decision. The action changes no other
	// message. Empty if it is not known.
	ProviderMessageID string

	DecisionID string
	Type       ActionType
	Parameters Parameters
	State      ActionState
	Error      string
	UndoHint   *UndoHint // nil until completed, or until an irreversible step is announced
	// ContentSHA256 is the hexadecimal hash of the message that the action sends and of the thread that it goes into.
	// The action sends nothing else. Empty until the message is composed, and for an action that sends none.
	ContentSHA256 string
	JobID         string // the job that executes it, if any
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ExecutedAt    time.Time // when execution first started; zero before
}

// An ActionEnd is how an action ends whose job has ended without it: the job was canceled, or was interrupted or has
// crashed too often.
type ActionEnd struct {
	// State is the final state of the action: completed, if it turns out to have been carried out, or failed or canceled.
	State ActionState
	// Hint is the undo hint of a completed action.
	Hint UndoHint
	// Reason is why the action has failed or is canceled, for people.
	Reason string
	// Commit is called in the transaction that ends the action. Default nil: nothing more is written.
	Commit Commit
}

// A Permit is what an action that has not ended may be carried out by.
type Permit struct {
	// Verified reports whether the rest is what was permitted: nothing has altered it where it is stored.
	Verified bool

	Action    Action
	Decision  Decision
	DecidedAt time.Time
	// Approver is the person who has approved the action; empty if nobody has.
	Approver string
	// Before is the message as it was before the first action that was carried out on it since the decision; nil if
	// there was none.
	Before *Snapshot
	// LabelsNow are the labels that the provider has, if the message was read there to decide about it again.
	LabelsNow []string
}
