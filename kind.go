package postroom

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ActionJob is the type of the job that carries out actions. Package gmail provides its handler.
const ActionJob = "action.gmail"

// A Kind describes one kind of action: its parameters, its danger, its undo, and what carries it out.
//
// A kind is carried out in one of three ways:
//
//   - With an Effect, package gmail changes the labels of the message, and package undo restores them.
//   - With a Handler, the host's function runs in the action's job.
//   - With a Job, jobs of that type carry out the action.
type Kind struct {
	// Type is the name of the action: lower-case letters, digits and underscores, beginning with a letter, at most 50. The
	// prefixes "undo_" and "redo_" are reserved for the ledger. Required.
	Type ActionType

	// Summary describes the action in a few words for people and models. At most 200 bytes on one line. Required.
	Summary string

	// Danger is the harm that a wrong action can do. The zero value is [Dangerous]. A kind that is not [Kind.Reversible]
	// must be dangerous, and a standard kind must be at least as dangerous as in [StandardKind].
	Danger Danger

	// Parameters describes the parameters of the action. Others are ignored.
	Parameters []Parameter

	// Example holds the parameters of a valid action, for messages that show how the kind is written. Default nil:
	// messages show the required Parameters.
	Example Parameters

	// Check returns an error that says what is wrong with parameters that fit their description. The time is that of the
	// decision, or when a rule is written; it is zero when a stored rule is read, which must not become wrong by the
	// passing of time. Default nil: nothing more is checked.
	Check func(p Parameters, now time.Time) error

	// Effect returns the change of the message's labels. The parameters have been checked, and their labels are ids.
	// Default nil: the action changes no labels by itself.
	Effect func(p Parameters) Effect

	// Ready is asked before an action that package gmail carries out is started, outside of any transaction, and may be
	// asked again. A [*HeldError] puts the action off: it stays queued, and leaves the turn to other actions of its
	// message. Any other error is one of carrying it out. Labels are as in the decision. Default nil: it may start.
	Ready func(ctx context.Context, a Action) error

	// Handler carries out the action in the job of type [ActionJob], and Undo undoes it in the job of the undo. Without
	// Undo the kind cannot be undone. Default nil.
	Handler Handler
	Undo    Undoer

	// Job is the type of the job that carries out the action. Default [ActionJob], and required without an Effect and a
	// Handler.
	Job string
}

// An Effect is the change that an action makes to the labels of its message.
type Effect struct {
	// Change has the ids of the added and removed labels. The label [LabelTrash] stands for the trash.
	Change LabelChange
	// Inverse and InverseParameters name the action that would undo this one, for people; see [UndoHint]. Default undo_
	// and the type of the action: there is no action of that kind, and its undo is what undoes it.
	Inverse           ActionType
	InverseParameters Parameters
}

// A ParameterType is the type of the value of a parameter.
type ParameterType string

// The types of parameters.
const (
	TextParameter    ParameterType = "text"    // a string that is not blank
	TextsParameter   ParameterType = "texts"   // a string that is not blank, or a non-empty list of such strings
	IntegerParameter ParameterType = "integer" // a whole number
	BooleanParameter ParameterType = "boolean" // true or false
	TimeParameter    ParameterType = "time"    // an instant in RFC 3339 form
	LabelParameter   ParameterType = "label"   // the name of a label; its id in the ledger
)

// A Parameter describes one parameter of a [Kind].
type Parameter struct {
	Name     string        // the same form as Type of [Kind]
	Type     ParameterType // required
	Summary  string        // the meaning, for people and models; at most 200 bytes on one line
	Required bool
	// Recipient marks a [TextParameter] or [TextsParameter] whose addresses get something from the user. Each text must
	// be an address, with or without a name before it, or several with commas between them; and the safety gate asks a
	// person about those that only a model names. Default false.
	Recipient bool
	// Values are the allowed values of a [TextParameter]. Default empty: any text.
	Values []string
	// Min and Max are the inclusive bounds of an [IntegerParameter]. If both are zero, there are no bounds.
	Min, Max int64
}

// Reversible reports whether actions of the kind can be undone: those with an Effect or an Undo.
func (k *Kind) Reversible() bool { return k.Effect != nil || k.Undo != nil }

// TakesLabel reports whether the kind has parameters that are labels, and returns their names.
func (k *Kind) TakesLabel() (parameters []string, ok bool) {
	for _, p := range k.Parameters {
		if p.Type == LabelParameter {
			parameters = append(parameters, p.Name)
		}
	}
	return parameters, len(parameters) > 0
}

// CheckParameters returns an error that describes what the kind needs and p lacks, or nil. For now see Check of [Kind].
func (k *Kind) CheckParameters(p Parameters, now time.Time) error {
	for _, parameter := range k.Parameters {
		if err := parameter.check(p[parameter.Name]); err != nil {
			return fmt.Errorf("action %s %w", k.Type, err)
		}
	}
	if k.Check == nil {
		return nil
	}
	if err := k.Check(p, now); err != nil {
		return fmt.Errorf("action %s: %w", k.Type, err)
	}
	return nil
}

// clone copies everything that a caller could change.
func (k Kind) clone() Kind {
	k.Example = maps.Clone(k.Example)
	k.Parameters = slices.Clone(k.Parameters)
	for i := range k.Parameters {
		k.Parameters[i].Values = slices.Clone(k.Parameters[i].Values)
	}
	return k
}

var kindName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,49}$`)

// validate checks the description, and sets Job.
func (k *Kind) validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("postroom: Kind %q: "+format, append([]any{string(k.Type)}, args...)...))
	}
	if k.Type == None {
		fault("cannot be replaced: decisions that are not usable become none")
	}
	if name := string(k.Type); !kindName.MatchString(name) || strings.HasPrefix(name, "undo_") ||
		strings.HasPrefix(name, "redo_") {
		fault(
			"Type must be lower-case letters, digits and underscores, begin with a letter, have at most 50 of them, and not begin with undo_ or redo_")
	}
	if detail := checkSummary(k.Summary); detail != "" || k.Summary == "" {
		fault("Summary %s", orElse(detail, "is empty; say in a few words what the action does"))
	}
	for i, p := range k.Parameters {
		if err := p.validate(); err != nil {
			fault("Parameters[%d] %w", i, err)
		}
		if slices.ContainsFunc(k.Parameters[:i], func(other Parameter) bool { return other.Name == p.Name }) {
			fault("Parameters[%d] is the second with the name %q", i, p.Name)
		}
	}
	if k.Example != nil {
		if err := k.CheckParameters(k.Example, time.Time{}); err != nil {
			fault("Example cannot be carried out: %w", err)
		}
	}
	if err := k.validateCarrier(); err != nil {
		fault("%w", err)
	}
	if err := k.validateDanger(); err != nil {
		fault("%w", err)
	}
	return errors.Join(faults...)
}

// validateCarrier requires exactly one way to carry out the kind.
func (k *Kind) validateCarrier() error {
	switch {
	case k.Handler != nil && k.Effect != nil:
		return errors.New("has a Handler and an Effect; give one of them, or two kinds")
	case k.Undo != nil && k.Handler == nil:
		return errors.New("has an Undo and no Handler; an Effect is undone by package undo")
	case (k.Handler != nil || k.Effect != nil) && k.Job != "" && k.Job != ActionJob:
		return fmt.Errorf("has the Job %q, and a Handler or an Effect, which the job %s carries out; leave one out",
			k.Job, ActionJob)
	case k.Handler != nil || k.Effect != nil:
		k.Job = ActionJob
	case k.Job == "", k.Job == ActionJob && k.Type != None && k.Type != Delete:
		return errors.New("has nobody who carries it out: give it a Handler, an Effect, or the Job that does")
	}
	return nil
}

func (k *Kind) validateDanger() error {
	if k.Danger < Dangerous || k.Danger > Safe {
		return fmt.Errorf("has the unknown Danger %d; use Dangerous, Reversible or Safe", k.Danger)
	}
	if standard, ok := StandardKind(k.Type); ok && k.Danger > standard.Danger {
		return fmt.Errorf("has the Danger %s, and %s is %s", k.Danger, k.Type, standard.Danger)
	}
	if !k.Reversible() && k.Danger != Dangerous && k.Type != None {
		return fmt.Errorf("has the Danger %s and cannot be undone; give it an Undo, or make it Dangerous", k.Danger)
	}
	return nil
}

func checkSummary(s string) string {
	switch {
	case len(s) > 200:
		return "is longer than 200 bytes"
	case strings.ContainsAny(s, "\n\r"):
		return "has several lines; write one"
	}
	return ""
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// ErrNotCarriedOut reports that the program does not carry out the kind of action.
var ErrNotCarriedOut = errors.New("nobody carries it out")

// Kinds are the kinds of actions that are carried out in a program. Rules, models, the safety gate and the packages
// that carry out actions consult it. It is immutable and safe for concurrent use. [NewKinds] makes one. Give the same
// Kinds to all packages of a program.
//
// A nil *Kinds has the kinds that package gmail carries out by itself: apply_label, archive, delete, mark_read,
// mark_unread, move, none, remove_label, restore, snooze, star, trash and unstar.
type Kinds struct {
	byType map[ActionType]Kind
	needs  map[ActionType]string
}

// KindsConfig configures [Kinds]. The zero KindsConfig has the kinds of a nil *Kinds.
type KindsConfig struct {
	// Add holds further kinds: the host's own, and standard kinds that need more than a mailbox (see [StandardKind]). A
	// kind with the Type of a present one replaces it.
	Add []Kind
	// Without lists the kinds to leave out. A decision for one of them is refused. [None] cannot be left out.
	Without []ActionType
	// Needs says, for standard actions that are not carried out, what to do so that they are, such as "set notes.folder".
	// Those that are carried out are ignored.
	Needs map[ActionType]string
}

// builtin are the kinds of a nil *Kinds.
var builtin = func() map[ActionType]Kind {
	kinds := make(map[ActionType]Kind)
	for t, k := range standard {
		if k.Job == ActionJob {
			kinds[t] = k
		}
	}
	return kinds
}()

// NewKinds makes a registry. The error names every fault of the configuration.
func NewKinds(cfg KindsConfig) (*Kinds, error) {
	k := &Kinds{byType: maps.Clone(builtin), needs: maps.Clone(cfg.Needs)}
	var faults []error
	added := make(map[ActionType]bool)
	for i, kind := range cfg.Add {
		kind = kind.clone()
		if err := kind.validate(); err != nil {
			faults = append(faults, err)
		}
		if added[kind.Type] {
			faults = append(faults, fmt.Errorf("postroom: KindsConfig.Add[%d] is the second of type %s", i, kind.Type))
		}
		added[kind.Type], k.byType[kind.Type] = true, kind
	}
	for i, t := range cfg.Without {
		switch _, ok := k.byType[t]; {
		case t == None:
			faults = append(faults, fmt.Errorf(
				"postroom: KindsConfig.Without[%d] is none, which cannot be left out: decisions that are not usable become it", i))
		case added[t] || !ok:
			faults = append(faults, fmt.Errorf("postroom: KindsConfig.Without[%d] is %q, which %s", i, string(t),
				whyNotLeftOut(added[t])))
		}
		delete(k.byType, t)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return k, nil
}

func whyNotLeftOut(added bool) string {
	if added {
		return "is also in Add"
	}
	return "is not there"
}

func (k *Kinds) kinds() map[ActionType]Kind {
	if k == nil {
		return builtin
	}
	return k.byType
}

// Kind returns the description of a kind that is carried out.
func (k *Kinds) Kind(t ActionType) (Kind, bool) {
	kind, ok := k.kinds()[t]
	return kind.clone(), ok
}

// Has reports whether actions of type t are carried out.
func (k *Kinds) Has(t ActionType) bool {
	_, ok := k.kinds()[t]
	return ok
}

// Knows reports whether t is the type of an action that is carried out, or of a standard action.
func (k *Kinds) Knows(t ActionType) bool {
	_, ok := standard[t]
	return ok || k.Has(t)
}

// Needs returns what to do so that actions of type t are carried out; empty if they are, or if nobody knows.
func (k *Kinds) Needs(t ActionType) string {
	if k == nil || k.Has(t) {
		return ""
	}
	return k.needs[t]
}

// Types returns the types of the actions that are carried out, sorted by name.
func (k *Kinds) Types() []ActionType { return slices.Sorted(maps.Keys(k.kinds())) }

// Danger returns the danger of t, or [Dangerous] if t is not carried out.
func (k *Kinds) Danger(t ActionType) Danger { return k.kinds()[t].Danger }

// Find returns the description of a kind, or an error that matches [ErrNotCarriedOut] and lists the kinds that are
// carried out.
func (k *Kinds) Find(t ActionType) (Kind, error) {
	kind, ok := k.Kind(t)
	switch {
	case ok:
		return kind, nil
	case k.Needs(t) != "":
		return kind, fmt.Errorf("action %s: %w here: %s", t, ErrNotCarriedOut, k.Needs(t))
	case k.Knows(t):
		return kind, fmt.Errorf("action %s: %w here; the actions are %v", t, ErrNotCarriedOut, k.Types())
	default:
		return kind, fmt.Errorf("%q is not an action: %w; the actions are %v", string(t), ErrNotCarriedOut, k.Types())
	}
}

// Check returns an error if no action of type t with these parameters can be carried out. The error is
// [ErrNotCarriedOut], or describes what t needs and p lacks. For now see Check of [Kind].
func (k *Kinds) Check(t ActionType, p Parameters, now time.Time) error {
	kind, err := k.Find(t)
	if err != nil {
		return err
	}
	return kind.CheckParameters(p, now)
}

// Sends reports whether the action sends something to a recipient that its parameters may name.
func (k *Kinds) Sends(t ActionType) bool {
	return slices.ContainsFunc(k.kinds()[t].Parameters, func(p Parameter) bool { return p.Recipient })
}

// LabelParameters returns the names of the parameters of t that are labels.
func (k *Kinds) LabelParameters(t ActionType) []string {
	kind := k.kinds()[t]
	names, _ := kind.TakesLabel()
	return names
}
