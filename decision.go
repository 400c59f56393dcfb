package postroom

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Source tells who made a decision.
type Source string

// The sources of a decision.
const (
	SourceDeterministic Source = "deterministic" // one of the user's rules
	SourceModel         Source = "llm"           // a language model
	SourceNone          Source = "none"          // nobody: no rule matched and no model is configured
)

// A SafeMode is how far a rule trusts its own action.
type SafeMode string

// The safe modes of a rule. Only [SafeDangerousOverride] releases a dangerous action, and only the rule's own.
const (
	SafeDefault           SafeMode = "default"
	SafeAlwaysSafe        SafeMode = "always_safe"
	SafeDangerousOverride SafeMode = "dangerous_override"
)

// Valid tells whether m is one of the safe modes; the empty one is not.
func (m SafeMode) Valid() bool {
	return m == SafeDefault || m == SafeAlwaysSafe || m == SafeDangerousOverride
}

// A Decision is what a [Decider] wants done with one message, and why.
type Decision struct {
	Action     ActionType
	Parameters Parameters

	// Confidence lies within [0, 1]; a rule's is 1.
	Confidence float64

	// NeedsApproval asks for a person. Its absence never relaxes what the gate demands.
	NeedsApproval bool

	// Rationale is the reason in words; never blank.
	Rationale string

	Explanations Explanations

	Source   Source
	RuleID   string   // the rule that matched, when Source is deterministic
	RuleName string   // its name at that time
	SafeMode SafeMode // the rule's; the zero value counts as default
	Model    string   // provider::model, when Source is llm

	// Key makes recording the decision idempotent: of several with the same message and key the first one stands. Empty
	// is the key of the one decision that a message gets when it arrives; whoever decides about it again, or more than
	// once, names each decision, by the job's id for instance.
	Key string
}

// Explanations tell a person how a decision came about.
type Explanations struct {
	SalientFeatures        []string      `json:"salient_features"`
	MatchedDirections      []string      `json:"matched_directions"`
	ConsideredAlternatives []Alternative `json:"considered_alternatives"`
}

// An Alternative is an action that was considered and not taken.
type Alternative struct {
	Action     ActionType `json:"action"`
	Confidence float64    `json:"confidence"`
	WhyNot     string     `json:"why_not"`
}

// Validate checks the decision against its contract and returns every fault at once, or nil.
func (d *Decision) Validate() error {
	var faults []error
	if err := d.Action.CheckParameters(d.Parameters); err != nil {
		faults = append(faults, fmt.Errorf("decision: %w", err))
	}
	if !withinUnit(d.Confidence) {
		faults = append(faults, fmt.Errorf("decision: confidence %v is outside 0 to 1", d.Confidence))
	}
	if strings.TrimSpace(d.Rationale) == "" {
		faults = append(faults, errors.New("decision: rationale is blank"))
	}
	for i, a := range d.Explanations.ConsideredAlternatives {
		faults = append(faults, a.validate(i)...)
	}
	return errors.Join(faults...)
}

func (a Alternative) validate(index int) []error {
	var faults []error
	if !a.Action.Valid() {
		faults = append(faults, fmt.Errorf("considered_alternatives[%d]: %q is not an action", index, string(a.Action)))
	}
	if !withinUnit(a.Confidence) {
		faults = append(faults, fmt.Errorf("considered_alternatives[%d]: confidence %v is outside 0 to 1", index, a.Confidence))
	}
	if strings.TrimSpace(a.WhyNot) == "" {
		faults = append(faults, fmt.Errorf("considered_alternatives[%d]: why_not is blank", index))
	}
	return faults
}

// withinUnit is false for NaN as well.
func withinUnit(f float64) bool { return f >= 0 && f <= 1 }

// An Image is the state of a message at the provider that an action can change: its labels, trash included.
type Image struct {
	LabelIDs []string `json:"label_ids"` // sorted
}

// NewImage makes an image of label ids in any order.
func NewImage(labelIDs []string) Image {
	sorted := slices.Clone(labelIDs)
	slices.Sort(sorted)
	return Image{LabelIDs: slices.Compact(sorted)}
}

// Has tells whether the label is part of the image.
func (i Image) Has(labelID string) bool { return slices.Contains(i.LabelIDs, labelID) }

// A LabelChange is a set of labels to add and a set to remove.
type LabelChange struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// IsZero tells whether the change changes nothing.
func (c LabelChange) IsZero() bool { return len(c.Add) == 0 && len(c.Remove) == 0 }

// ChangeFrom is the change that turns image before into i.
func (i Image) ChangeFrom(before Image) LabelChange {
	return LabelChange{Add: missing(i.LabelIDs, before), Remove: missing(before.LabelIDs, i)}
}

// Apply returns the image after the change; i stays as it is. A label that is both added and removed is there.
func (i Image) Apply(c LabelChange) Image {
	kept := slices.DeleteFunc(slices.Clone(i.LabelIDs), func(l string) bool { return slices.Contains(c.Remove, l) })
	return NewImage(append(kept, c.Add...))
}

func missing(labels []string, from Image) []string {
	var out []string
	for _, l := range labels {
		if !from.Has(l) {
			out = append(out, l)
		}
	}
	return out
}

// An UndoHint is what a completed action leaves behind so that it can be taken back exactly.
type UndoHint struct {
	// InverseAction and InverseParameters say in words what would take the action back; [None] when nothing can. They
	// are for people and for other systems: our own undo works from the images.
	InverseAction     ActionType `json:"inverse_action"`
	InverseParameters Parameters `json:"inverse_parameters,omitempty"`

	// Irreversible is set by actions that nothing takes back.
	Irreversible bool `json:"irreversible,omitempty"`

	// Before and After are the message as it was before the action's first attempt and as the action left it.
	Before *Image `json:"before,omitempty"`
	After  *Image `json:"after,omitempty"`
}

// Undoable tells whether the hint names a way back.
func (h *UndoHint) Undoable() bool {
	return h != nil && !h.Irreversible && h.InverseAction != None && h.Before != nil && h.After != nil
}
