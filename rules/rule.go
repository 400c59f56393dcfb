package rules

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// A Scope selects the mail that a rule applies to.
type Scope string

// The scopes. A narrow scope does not give a rule precedence; only Priority orders rules.
const (
	ScopeGlobal  Scope = "global"  // all mail; no reference
	ScopeAccount Scope = "account" // one account; the reference is its id, in files also its address
	ScopeDomain  Scope = "domain"  // mail from one domain, subdomains apart
	ScopeSender  Scope = "sender"  // mail from one address
)

// Scopes returns the names of all scopes.
func Scopes() []string {
	return []string{string(ScopeGlobal), string(ScopeAccount), string(ScopeDomain), string(ScopeSender)}
}

// SafeModes returns the names of all safe modes.
func SafeModes() []string {
	return []string{string(postroom.SafeDefault), string(postroom.SafeAlwaysSafe), string(postroom.SafeDangerousOverride)}
}

// DefaultPriority is the priority of a new rule.
const DefaultPriority = 100

const (
	MaxPriority   = 1_000_000
	MaxNameLength = 200
)

// A RuleAction is one of the actions of a rule.
type RuleAction struct {
	Type       postroom.ActionType `json:"action"`
	Parameters postroom.Parameters `json:"parameters,omitempty"`
}

// An Authentication says whether a rule matches only mail whose sender is verified; see [Authenticated].
type Authentication string

// The demands on the sender.
const (
	// AuthenticationDefault requires it of a rule with [postroom.SafeDangerousOverride] that matches by sender: by its
	// scope, or by a predicate on From, Reply-To, Sender or Return-Path. Anyone can write these.
	AuthenticationDefault     Authentication = ""
	AuthenticationRequired    Authentication = "required"
	AuthenticationNotRequired Authentication = "not_required"
)

// A Rule applies its actions to the mail that matches its condition. [NewRule] makes one with the defaults.
type Rule struct {
	ID string // given by the store

	// AccountID is the account that the rule belongs to; empty when it belongs to none and applies to all. The deletion of
	// a label disables only the rules of its account.
	AccountID string

	Name        string // unique within its AccountID; at most 200 characters on one line
	Description string

	Enabled        bool
	DisabledReason string // why the program disabled it; empty when a person did

	Scope    Scope
	ScopeRef string

	// Priority orders rules, low first, within ±1,000,000. Rules of one priority go by Position, then by CreatedAt, then
	// by ID. Zero goes before the default, which is [DefaultPriority].
	Priority int
	// Position is the rule's place in the file it was read from, from 1; 0 for a rule from elsewhere.
	Position int

	Condition  Condition
	Action     postroom.ActionType
	Parameters postroom.Parameters
	// Also are further actions, which follow Action.
	Also     []RuleAction
	SafeMode postroom.SafeMode

	// Continue lets later rules be tried as well after this one has matched.
	Continue       bool
	Schedule       Schedule
	Authentication Authentication

	CreatedAt time.Time
	UpdatedAt time.Time
	// Revision is the number of the change that wrote the rule last; see rulestore.Patch.
	Revision int64

	Damage error // the part of a stored rule that could not be read
}

// NewRule makes an enabled rule for all mail, with the default priority and safe mode.
func NewRule(name string, condition Condition, action postroom.ActionType, parameters postroom.Parameters) Rule {
	return Rule{
		Name: name, Condition: condition, Action: action, Parameters: parameters,
		Enabled: true, Scope: ScopeGlobal, Priority: DefaultPriority, SafeMode: postroom.SafeDefault,
	}
}

// ErrInvalidRule reports that a rule is invalid; the faults of its condition are [ConditionError]s as well.
var ErrInvalidRule = errors.New("invalid rule")

// Validate checks the rule and returns every fault at once; nil if there is none. Its action must be one of the
// kinds; nil means those that package gmail carries out.
func (r *Rule) Validate(kinds *postroom.Kinds) error {
	faults := []error{r.Damage, joinFaults(r.Condition.Faults())}
	for _, f := range r.Faults(kinds) {
		faults = append(faults, f)
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%w %q: %w", ErrInvalidRule, r.Name, err)
	}
	return nil
}

// A Fault is a fault of one field of a rule.
type Fault struct {
	Field  string // as files name it
	Detail string
	Hint   string
}

func (f Fault) Error() string { return f.Field + ": " + f.text() }

func (f Fault) text() string {
	if f.Hint == "" {
		return f.Detail
	}
	return f.Detail + "; " + f.Hint
}

// Faults returns the faults of all fields but the condition.
func (r *Rule) Faults(kinds *postroom.Kinds) []Fault {
	var found []Fault
	add := func(field, detail, hint string) { found = append(found, Fault{field, detail, hint}) }

	if detail := CheckName(r.Name); detail != "" {
		add("name", detail, "write a short name on one line")
	}
	for _, text := range [][2]string{{"description", r.Description}, {"scope_ref", r.ScopeRef}} {
		if strings.ContainsRune(text[1], 0) || !utf8.ValidString(text[1]) {
			add(text[0], "it holds a NUL character or is not UTF-8", "write plain text")
		}
	}
	if r.Priority < -MaxPriority || r.Priority > MaxPriority {
		add("priority", fmt.Sprintf("%d is out of bounds", r.Priority), fmt.Sprintf("write a number within -%d and %d",
			MaxPriority, MaxPriority))
	}
	if !r.SafeMode.Valid() {
		add("safe_mode", fmt.Sprintf("unknown safe mode %q", string(r.SafeMode)),
			suggest.Instead(string(r.SafeMode), SafeModes(), "the safe modes are"))
	}
	found = append(found, ActionFaults(kinds, r.Action, r.Parameters)...)
	for i, also := range r.Also {
		for _, f := range ActionFaults(kinds, also.Type, also.Parameters) {
			add(fmt.Sprintf("actions[%d]", i+1), f.Detail, f.Hint)
		}
	}
	if a := r.Authentication; a != AuthenticationDefault && a != AuthenticationRequired && a != AuthenticationNotRequired {
		known := []string{string(AuthenticationRequired), string(AuthenticationNotRequired)}
		add("authentication", fmt.Sprintf("unknown authentication %q", string(a)), suggest.Instead(string(a), known, "write"))
	}
	_, scheduleFaults := r.Schedule.compile()
	found = append(append(found, scheduleFaults...), r.labelOnlyFaults()...)
	return append(found, r.scopeFaults()...)
}

// ActionFaults returns the faults of one action of a rule.
func ActionFaults(kinds *postroom.Kinds, action postroom.ActionType, parameters postroom.Parameters) []Fault {
	var found []Fault
	if kind, ok := kinds.Kind(action); !ok {
		found = append(found, Fault{"action", unknownAction(kinds, action),
			suggest.Instead(string(action), lists.Texts(kinds.Types(), func(t postroom.ActionType) string {
				return string(t)
			}), "the actions are")})
	} else if err := kind.CheckParameters(parameters, time.Time{}); err != nil {
		found = append(found, Fault{"parameters", err.Error(), parametersHint(kinds, RuleAction{action, parameters})})
	}
	if _, err := json.Marshal(parameters); err != nil {
		found = append(found, Fault{"parameters", "they cannot be stored: " + err.Error(),
			"write texts, numbers, true or false, lists and mappings"})
	}
	return found
}

// CheckTimes returns an error that matches [ErrInvalidRule] for what the rule says that cannot be done now, such as a
// snooze until a time that has passed. The rule must be valid.
func (r *Rule) CheckTimes(kinds *postroom.Kinds, now time.Time) error {
	for _, a := range r.Actions() {
		if err := kinds.Check(a.Type, a.Parameters, now); err != nil {
			return fmt.Errorf("%w %q: %w", ErrInvalidRule, r.Name, Fault{"parameters", err.Error(), ""})
		}
	}
	return nil
}

// Actions returns all actions of the rule, in order.
func (r *Rule) Actions() []RuleAction {
	return append([]RuleAction{{r.Action, r.Parameters}}, r.Also...)
}

func unknownAction(kinds *postroom.Kinds, t postroom.ActionType) string {
	if needs := kinds.Needs(t); needs != "" {
		return fmt.Sprintf("action %s is not carried out here: %s", t, needs)
	}
	if kinds.Knows(t) {
		return fmt.Sprintf("action %s is not carried out here", t)
	}
	return fmt.Sprintf("unknown action %q", string(t))
}

func (r *Rule) scopeFaults() []Fault {
	ref := func(detail, hint string) []Fault { return []Fault{{"scope_ref", detail, hint}} }
	switch r.Scope {
	case ScopeGlobal:
		if r.ScopeRef != "" {
			return ref("scope global has no reference",
				"leave scope_ref out, or write the scope it is for: account, domain or sender")
		}
	case ScopeAccount:
		if r.ScopeRef == "" {
			return ref("scope account needs a reference", "write the address of the mailbox, or the account's id")
		}
		if r.AccountID != "" && r.AccountID != r.ScopeRef {
			return ref("the rule belongs to another account and would never match",
				"write the id of its own account, or use scope global")
		}
	case ScopeDomain:
		if hint := checkDomain(r.ScopeRef); hint != "" {
			return ref(fmt.Sprintf("scope domain needs a domain, not %q", r.ScopeRef), hint)
		}
	case ScopeSender:
		if DomainOf(r.ScopeRef) == "" || strings.ContainsAny(r.ScopeRef, "*<> ") {
			return ref(fmt.Sprintf("scope sender needs an address, not %q", r.ScopeRef),
				"write it whole, as in name@example.com")
		}
	default:
		return []Fault{{"scope", fmt.Sprintf("unknown scope %q", string(r.Scope)),
			suggest.Instead(string(r.Scope), Scopes(), "the scopes are")}}
	}
	return nil
}

// CheckName reports why a name cannot be that of a rule.
func CheckName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "a rule needs a name"
	case utf8.RuneCountInString(name) > MaxNameLength:
		return fmt.Sprintf("the name is longer than %d characters", MaxNameLength)
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return "the name holds characters that cannot be shown"
	}
	return ""
}

// Normalize sets the default scope and safe mode, and lowers references to the form in which they are compared.
func (r *Rule) Normalize() {
	r.Scope = cmp.Or(r.Scope, ScopeGlobal)
	r.SafeMode = cmp.Or(r.SafeMode, postroom.SafeDefault)
	if r.Scope == ScopeDomain || r.Scope == ScopeSender {
		r.ScopeRef = lowerASCII(r.ScopeRef)
	}
	if r.Parameters == nil {
		r.Parameters = postroom.Parameters{}
	}
	if len(r.Also) == 0 {
		r.Also = nil
	}
}

// UsesLabel reports whether the condition or an action of the rule names the label, by its exact id or by its name,
// which Gmail compares without regard to case.
func (r *Rule) UsesLabel(kinds *postroom.Kinds, label postroom.Label) bool {
	if r.Condition.usesLabel(label.ID, label.Name) {
		return true
	}
	return slices.ContainsFunc(r.Actions(), func(a RuleAction) bool {
		named := kinds.LabelParameters(a.Type)
		for parameter, value := range a.Parameters {
			text, ok := value.(string)
			if ok && (text == label.ID || (slices.Contains(named, parameter) && strings.EqualFold(text, label.Name))) {
				return true
			}
		}
		return false
	})
}

// InWords returns the action in words: move Receipts, forward {"to":"a@b.example"}.
func (a RuleAction) InWords() string {
	if label, ok := a.Parameters.Text(postroom.ParamLabel); ok && len(a.Parameters) == 1 {
		return string(a.Type) + " " + label
	}
	if len(a.Parameters) == 0 {
		return string(a.Type)
	}
	text, err := json.Marshal(a.Parameters)
	if err != nil { // rules whose parameters cannot be stored are not compiled
		return string(a.Type)
	}
	return string(a.Type) + " " + string(text)
}

// A Source is rules and the text that they were read from.
type Source struct {
	Name  string // of the file
	Text  string
	Rules []Rule
}
