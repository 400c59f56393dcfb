package postroom

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ErrNotCarriedOut reports that the program does not carry out the kind of action.
var ErrNotCarriedOut = errors.New("nobody carries it out")

// Kinds are the kinds of actions that are carried out in a program. Rules, models, the safety gate and the packages that carry
// out actions consult it. It is immutable and safe for concurrent use. [NewKinds] makes one. Give the same Kinds to all packages
// of a program.
//
// A nil *Kinds has the kinds that package gmail carries out by itself: apply_label, archive, delete, mark_read, mark_unread,
// move, none, remove_label, restore, snooze, star, trash and unstar.
type Kinds struct{ byType map[ActionType]Kind }

// KindsConfig configures [Kinds]. The zero KindsConfig has the kinds of a nil *Kinds.
type KindsConfig struct {
	// Add holds further kinds: the host's own, and standard kinds that need more than a mailbox (see [StandardKind]). A kind with
	// the Type of a present one replaces it.
	Add []Kind
	// Without lists the kinds to leave out. A decision for one of them is refused. [None] cannot be left out.
	Without []ActionType
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
	k := &Kinds{byType: maps.Clone(builtin)}
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
			faults = append(faults, fmt.Errorf("postroom: KindsConfig.Without[%d] is none, which cannot be left out: decisions that are not usable become it", i))
		case added[t] || !ok:
			faults = append(faults, fmt.Errorf("postroom: KindsConfig.Without[%d] is %q, which %s", i, string(t), whyNotLeftOut(added[t])))
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

// Types returns the types of the actions that are carried out, sorted by name.
func (k *Kinds) Types() []ActionType { return slices.Sorted(maps.Keys(k.kinds())) }

// Danger returns the danger of t, or [Dangerous] if t is not carried out.
func (k *Kinds) Danger(t ActionType) Danger { return k.kinds()[t].Danger }

// Find returns the description of a kind, or an error that matches [ErrNotCarriedOut] and lists the kinds that are carried out.
func (k *Kinds) Find(t ActionType) (Kind, error) {
	kind, ok := k.Kind(t)
	switch {
	case ok:
		return kind, nil
	case k.Knows(t):
		return kind, fmt.Errorf("action %s: %w here; the actions are %v", t, ErrNotCarriedOut, k.Types())
	default:
		return kind, fmt.Errorf("%q is not an action: %w; the actions are %v", string(t), ErrNotCarriedOut, k.Types())
	}
}

// Check returns an error if no action of type t with these parameters can be carried out. The error is [ErrNotCarriedOut], or
// describes what t needs and p lacks. For now see Check of [Kind].
func (k *Kinds) Check(t ActionType, p Parameters, now time.Time) error {
	kind, err := k.Find(t)
	if err != nil {
		return err
	}
	return kind.CheckParameters(p, now)
}

// LabelParameters returns the names of the parameters of t that are labels.
func (k *Kinds) LabelParameters(t ActionType) []string {
	kind := k.kinds()[t]
	names, _ := kind.TakesLabel()
	return names
}
