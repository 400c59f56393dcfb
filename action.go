package postroom

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An ActionType names what can be done to a message.
type ActionType string

// The eighteen actions. Package gmail carries out those of [MailboxActions]; [ActionType.Danger] returns how dangerous an
// action is.
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
	Dangerous  Danger = iota // cannot be taken back, or reaches other people
	Reversible               // leaves a trace beyond labels, which can be taken back
	Safe                     // moves or marks mail, and can be taken back exactly
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

var dangers = map[ActionType]Danger{
	ApplyLabel: Safe, RemoveLabel: Safe, MarkRead: Safe, MarkUnread: Safe, Archive: Safe, Trash: Safe, Restore: Safe,
	Move: Safe, None: Safe,
	Star: Reversible, Unstar: Reversible, Snooze: Reversible, AddNote: Reversible, CreateTask: Reversible,
	Delete: Dangerous, Forward: Dangerous, AutoReply: Dangerous, Escalate: Dangerous,
}

// ActionTypes returns all actions, sorted by name.
func ActionTypes() []ActionType {
	types := make([]ActionType, 0, len(dangers))
	for t := range dangers {
		types = append(types, t)
	}
	slices.Sort(types)
	return types
}

// mailbox lists the actions that change only the message itself.
var mailbox = []ActionType{
	ApplyLabel, Archive, Delete, MarkRead, MarkUnread, Move, None, RemoveLabel, Restore, Star, Trash, Unstar,
}

// MailboxActions returns the actions that package gmail carries out, sorted by name: those that change only the message
// itself. The others need more than a mailbox, such as a place for notes or a way to send; a host that offers them carries
// them out itself.
func MailboxActions() []ActionType { return slices.Clone(mailbox) }

// Valid reports whether t is one of the actions.
func (t ActionType) Valid() bool {
	_, ok := dangers[t]
	return ok
}

// Danger returns the level of t, and [Dangerous] when t is not an action.
func (t ActionType) Danger() Danger { return dangers[t] }

// TakesLabel reports whether t needs the parameter "label".
func (t ActionType) TakesLabel() bool { return t == ApplyLabel || t == RemoveLabel || t == Move }

// Parameters are the arguments of an action, as decoded from JSON. An action that takes a label has the parameter "label":
// the label's name until the ledger records the action, the label's id from then on.
type Parameters map[string]any

// ParamLabel is the parameter that names the label of [ApplyLabel], [RemoveLabel] and [Move].
const ParamLabel = "label"

// Text returns the parameter and true if it is a non-empty string.
func (p Parameters) Text(name string) (string, bool) {
	s, ok := p[name].(string)
	return s, ok && s != ""
}

// CheckParameters returns an error that says what t needs and p lacks, or nil.
func (t ActionType) CheckParameters(p Parameters) error {
	if !t.Valid() {
		return fmt.Errorf("%q is not an action; the actions are %v", string(t), ActionTypes())
	}
	if !t.TakesLabel() {
		return nil
	}
	label, _ := p.Text(ParamLabel)
	switch strings.ToUpper(strings.TrimSpace(label)) {
	case "":
		return fmt.Errorf("action %s needs the parameter %q: the name of a label", t, ParamLabel)
	case LabelSent, LabelDraft:
		return fmt.Errorf("action %s cannot have the label %s: Gmail lets nobody change it", t, label)
	}
	return nil
}

// An ActionState is the state of an action in the ledger.
type ActionState string

// The states of an action. It starts queued, executing or approved_pending; completed, failed, canceled and rejected
// are final.
const (
	ActionQueued          ActionState = "queued"
	ActionExecuting       ActionState = "executing"
	ActionCompleted       ActionState = "completed"
	ActionFailed          ActionState = "failed"
	ActionCanceled        ActionState = "canceled"
	ActionRejected        ActionState = "rejected"
	ActionApprovedPending ActionState = "approved_pending"
)

// Final reports whether s is an end: no state follows it.
func (s ActionState) Final() bool {
	switch s {
	case ActionCompleted, ActionFailed, ActionCanceled, ActionRejected:
		return true
	default:
		return false
	}
}

// An Action is one entry of the ledger: one change to one message, to be carried out or carried out.
type Action struct {
	ID         string
	AccountID  string
	MessageID  string // ours
	DecisionID string
	Type       ActionType
	Parameters Parameters
	State      ActionState
	Error      string
	UndoHint   *UndoHint // nil until completed
	JobID      string    // the job that executes it, once one does
	CreatedAt  time.Time
	UpdatedAt  time.Time
	ExecutedAt time.Time // when execution first began; zero before
}
