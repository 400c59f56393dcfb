package postroom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Source names the kind of decider that made a decision.
type Source string

// The sources of a decision.
const (
	SourceDeterministic Source = "deterministic" // one of the user's rules
	SourceModel         Source = "llm"           // a language model
	SourceHost          Source = "host"          // the program that embeds the packages, on its own account
	SourceNone          Source = "none"          // none: no rule matched and no model is configured
)

// A SafeMode names the checks of the safety gate that a rule's user has waived.
type SafeMode string

// The safe modes of a rule. Only [SafeDangerousOverride] lets a dangerous action pass without approval, and only the
// rule's own.
const (
	SafeDefault           SafeMode = "default"
	SafeAlwaysSafe        SafeMode = "always_safe"
	SafeDangerousOverride SafeMode = "dangerous_override"
)

// Valid reports whether m is one of the safe modes. The empty mode is not valid.
func (m SafeMode) Valid() bool {
	return m == SafeDefault || m == SafeAlwaysSafe || m == SafeDangerousOverride
}

// A ReplyNeed says whether a message needs an answer of the person. The zero value says that it needs none, or that
// this is not known.
type ReplyNeed string

// The needs for an answer.
const (
	ReplyNeeded  ReplyNeed = "needs_response"
	ReplyWaiting ReplyNeed = "waiting" // the person waits for somebody else
)

// A Decision is the action that a [Decider] proposes for one message, with its reasons.
type Decision struct {
	Action     ActionType
	Parameters Parameters

	// Confidence lies within [0, 1]. A rule's confidence is 1.
	Confidence float64

	// NeedsApproval requests a person's approval. False does not relax the safety gate's own checks. ApprovalReason
	// explains the request to that person if neither the rule nor the model asked for it; it is not stored with the
	// decision.
	NeedsApproval  bool
	ApprovalReason string

	// Rationale is the reason in words. It is never blank.
	Rationale string

	Explanations Explanations

	// Source is the kind of decider. The program that asks a decider sets it together with the rule's fields, as the
	// handler of package rules does. Values that the decider sets itself are ignored.
	Source      Source
	RuleID      string // the rule that matched, when Source is deterministic
	RuleName    string // its name at that time
	RuleVersion string // its version then, see [StoredRule]
	// the rule's, for the record: the safety gate uses the stored rule's; the zero value means default
	SafeMode SafeMode
	Model    string // provider::model, when Source is llm

	// Reply is whether the message needs an answer of the person, if the decider was asked that as well. It changes no
	// action, and is not stored with the decision.
	Reply ReplyNeed

	// Enrichment is what the model has said about the message besides the decision, in the same call, if it was asked
	// that as well; nil if not. Like Reply it changes no action, and is not stored with the decision.
	Enrichment *ModelAnswer

	// Key makes recording the decision idempotent: of several decisions with the same message and key, the ledger keeps
	// the first. The decision made when the message arrived has the empty key. Every further decision about the message
	// needs a key of its own, such as the id of the job that makes it.
	Key string
}

// A ModelAnswer is what a language model has said about a message beside a decision, or instead of one.
type ModelAnswer struct {
	// JSON is an object in the form that was asked for. A part of it may be wrong, for who can use the others; empty if
	// nothing can be used.
	JSON json.RawMessage
	// Refused is why the model has refused the message; empty if it has not. It would refuse it again.
	Refused string
	// Calls is how often the model had to answer until it could be used, and Tokens what these answers have used.
	Calls  int
	Tokens int
}

// BatchKeyPrefix begins the keys of decisions that a batch makes about mail that was already there.
const BatchKeyPrefix = "apply:"

// Explanations are the reasons of a decision, for people.
type Explanations struct {
	SalientFeatures        []string      `json:"salient_features"`
	MatchedDirections      []string      `json:"matched_directions"`
	ConsideredAlternatives []Alternative `json:"considered_alternatives"`
}

// An Alternative is an action that the decider considered and rejected.
type Alternative struct {
	Action     ActionType `json:"action"`
	Confidence float64    `json:"confidence"`
	WhyNot     string     `json:"why_not"`
}

// Validate checks the decision, made at now, against its contract and the kinds that are carried out. It returns
// every fault at once, or nil if there is none.
func (d *Decision) Validate(kinds *Kinds, now time.Time) error {
	var faults []error
	if err := kinds.Check(d.Action, d.Parameters, now); err != nil {
		faults = append(faults, fmt.Errorf("decision: %w", err))
	}
	if !withinUnit(d.Confidence) {
		faults = append(faults, fmt.Errorf("decision: confidence %v is outside 0 to 1", d.Confidence))
	}
	if strings.TrimSpace(d.Rationale) == "" {
		faults = append(faults, errors.New("decision: rationale is blank"))
	}
	for i, a := range d.Explanations.ConsideredAlternatives {
		faults = append(faults, a.validate(kinds, i)...)
	}
	return errors.Join(faults...)
}

func (a Alternative) validate(kinds *Kinds, index int) []error {
	var faults []error
	if !kinds.Knows(a.Action) {
		faults = append(faults, fmt.Errorf("considered_alternatives[%d]: %q is not an action", index, string(a.Action)))
	}
	if !withinUnit(a.Confidence) {
		faults = append(faults, fmt.Errorf("considered_alternatives[%d]: confidence %v is outside 0 to 1", index,
			a.Confidence))
	}
	if strings.TrimSpace(a.WhyNot) == "" {
		faults = append(faults, fmt.Errorf("considered_alternatives[%d]: why_not is blank", index))
	}
	return faults
}

// withinUnit reports whether f lies within [0, 1]; NaN does not.
func withinUnit(f float64) bool { return f >= 0 && f <= 1 }

// An Snapshot is the part of a message's state at the provider that actions can change: its labels, the trash included.
type Snapshot struct {
	LabelIDs []string `json:"label_ids"` // sorted
}

// NewSnapshot returns the snapshot with the label ids, which may be in any order.
func NewSnapshot(labelIDs []string) Snapshot {
	sorted := slices.Clone(labelIDs)
	slices.Sort(sorted)
	return Snapshot{LabelIDs: slices.Compact(sorted)}
}

// Has reports whether the snapshot contains the label.
func (i Snapshot) Has(labelID string) bool { return slices.Contains(i.LabelIDs, labelID) }

// A LabelChange is a set of labels to add and a set to remove.
type LabelChange struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// IsZero reports whether the change changes nothing.
func (c LabelChange) IsZero() bool { return len(c.Add) == 0 && len(c.Remove) == 0 }

// WithLeaving returns the change with the changes that Gmail adds: a message that moves to the trash or to spam
// leaves its other places, such as INBOX, unless it still has them in the snapshot after the change.
func (c LabelChange) WithLeaving(after Snapshot) LabelChange {
	c.Remove = slices.Clone(c.Remove)
	if !slices.Contains(c.Add, LabelTrash) && !slices.Contains(c.Add, LabelSpam) {
		return c
	}
	for _, place := range []string{LabelInbox, LabelSpam, LabelTrash} {
		if !after.Has(place) && !slices.Contains(c.Add, place) && !slices.Contains(c.Remove, place) {
			c.Remove = append(c.Remove, place)
		}
	}
	return c
}

// ChangeFrom returns the change that turns the snapshot before into i.
func (i Snapshot) ChangeFrom(before Snapshot) LabelChange {
	return LabelChange{Add: missing(i.LabelIDs, before), Remove: missing(before.LabelIDs, i)}
}

// Apply returns the snapshot after the change; i is not modified. A label that is both added and removed is present.
func (i Snapshot) Apply(c LabelChange) Snapshot {
	kept := slices.DeleteFunc(slices.Clone(i.LabelIDs), func(l string) bool { return slices.Contains(c.Remove, l) })
	return NewSnapshot(append(kept, c.Add...))
}

func missing(labels []string, from Snapshot) []string {
	var out []string
	for _, l := range labels {
		if !from.Has(l) {
			out = append(out, l)
		}
	}
	return out
}

// An UndoHint is recorded with a completed action, so that the action can be undone exactly.
type UndoHint struct {
	// InverseAction and InverseParameters name the action that would undo this one; [None] if there is none. They are
	// for people and other systems: package undo uses the snapshots.
	InverseAction     ActionType `json:"inverse_action"`
	InverseParameters Parameters `json:"inverse_parameters,omitempty"`

	// Undo is the data that the Undo of the action's [Kind] needs, if a [Handler] carries out the kind.
	Undo Parameters `json:"undo,omitzero"`

	// Irreversible marks an action that cannot be undone.
	Irreversible bool `json:"irreversible,omitempty"`

	// SentMessageID is the provider's id of the message that the action sent.
	SentMessageID string `json:"sent_message_id,omitempty"`

	// Intent describes, in the job's own terms, the irreversible step that the job of an executing action is about to
	// take. A later attempt uses it to find out whether the step was taken.
	Intent Parameters `json:"announced,omitzero"`

	// Before is the message before the first attempt of the action, After the message as the action left it. Other
	// programs and people may have changed the message in between.
	Before *Snapshot `json:"before,omitempty"`
	After  *Snapshot `json:"after,omitempty"`

	// Change is the action's own change: the labels that it adds and removes, including the trash, even if the message
	// already had or lacked them. Nil means the difference between Before and After.
	Change *LabelChange `json:"change,omitempty"`

	// Woken is the wake-up of a snoozed message; nil if the action is no snooze, or has not ended.
	Woken *WakeUp `json:"woken,omitempty"`
}

// Own returns the action's own change: Change, or the difference between the snapshots if it is nil.
func (h *UndoHint) Own() LabelChange {
	switch {
	case h.Change != nil:
		return *h.Change
	case h.Before != nil && h.After != nil:
		return h.After.ChangeFrom(*h.Before)
	}
	return LabelChange{}
}

// Undoable reports whether the action can be undone from the hint.
func (h *UndoHint) Undoable() bool {
	if h == nil || h.Irreversible {
		return false
	}
	return h.Undo != nil || h.InverseAction != None && h.Before != nil && h.After != nil
}

// The inverse parameters of an action that has scheduled a job which must not run once the action is undone: the id
// of the job, the name of its key, and the time for which it was scheduled (RFC 3339). A snooze has them for the job
// that wakes the message.
const (
	ParamCancelJob  = "cancel_unsnooze_job_id"
	ParamCancelKey  = "cancel_unsnooze_key"
	ParamCancelTime = "snooze_until"
)

// A Decider decides what to do with a message: a rule set, a language model, a test.
//
// Decide returns an error only when it cannot decide, for example because a provider or a database does not answer. A
// decider without an opinion returns a decision with the action [None] and the reason in its rationale.
//
// A decider does not set the Source of the decision, its rule and its Key: the caller does.
type Decider interface {
	Decide(ctx context.Context, msg *Message) (Decision, error)
}

// A DeciderFunc is a function used as a [Decider].
type DeciderFunc func(ctx context.Context, msg *Message) (Decision, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, msg *Message) (Decision, error) { return f(ctx, msg) }

// A StoredRule is a rule as its store has it. The safety gate compares a rule's decision with it. Package rules makes
// it; a host with its own rules makes it from them.
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

// A Rejection is a decision that a person has rejected, whose decider is asked once more.
type Rejection struct {
	Action     ActionType `json:"action"`
	Parameters Parameters `json:"parameters,omitempty"`
	What       string     `json:"what"`          // the action in words
	Why        string     `json:"why,omitempty"` // the person's own words; may be empty
}

type rejectionKey struct{}

// WithRejection returns a context in which a [Decider] decides again after a rejection.
func WithRejection(ctx context.Context, r Rejection) context.Context {
	return context.WithValue(ctx, rejectionKey{}, r)
}

// RejectionFrom returns the rejection after which a [Decider] decides again, if it does.
func RejectionFrom(ctx context.Context) (r Rejection, ok bool) {
	r, ok = ctx.Value(rejectionKey{}).(Rejection)
	return r, ok
}

type askingKey struct{}

// WithAsking returns a context in which a [Decider] decides anew, because a person wants that: it takes no earlier
// decision, and no answer that was given to another asking. What is repeated with the same id, as after a crash, is the
// same asking.
func WithAsking(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, askingKey{}, id)
}

// AskingFrom returns the id of the asking for which a [Decider] decides anew; empty if it does not.
func AskingFrom(ctx context.Context) string {
	id, _ := ctx.Value(askingKey{}).(string)
	return id
}
