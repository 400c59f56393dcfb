package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A Condition is a tree of tests on a message. A node has Op and Children, a predicate has Type and the fields of
// that type; see the table in the package documentation. The zero Condition is invalid.
//
// The JSON form is stored in the database, and files have the YAML form; both are the same tree.
type Condition struct {
	Op       Op          `json:"op,omitempty"`
	Children []Condition `json:"children,omitempty"`

	Type    Kind   `json:"type,omitempty"`
	Value   string `json:"value,omitempty"`
	Header  string `json:"header,omitempty"`
	Pattern string `json:"pattern,omitempty"`

	// Values are alternatives in place of Value: one of them is enough.
	Values []string `json:"values,omitempty"`
	// Fields are address fields: from, reply_to, sender, to, cc, bcc, or recipients for the last three; or names of header
	// fields in place of Header. One of them is enough.
	Fields []string `json:"fields,omitempty"`
	// Part is a part of an address, of a date, or a method of authentication.
	Part string `json:"part,omitempty"`
	// Match says how a text is compared with the values, and Compare how a number, a date or the order of texts is.
	Match   Match   `json:"match,omitempty"`
	Compare Compare `json:"compare,omitempty"`
	// CaseSensitive makes upper and lower case differ.
	CaseSensitive bool `json:"case_sensitive,omitempty"`
	// Index takes one of several header fields of a name, from 1 for the first; -1 is the last. 0 takes all.
	Index int `json:"index,omitempty"`
	// Zone is the time zone of a date: a name such as Europe/Berlin, an offset such as +0100, or "original" for the zone
	// in the header. Empty means UTC.
	Zone string `json:"zone,omitempty"`
}

// An Op joins conditions.
type Op string

// The operators. And and Or stop early, left to right, and need at least one child; Not needs exactly one.
const (
	And Op = "and"
	Or  Op = "or"
	Not Op = "not"
)

// AllOf matches when every condition does.
func AllOf(children ...Condition) Condition { return Condition{Op: And, Children: children} }

// AnyOf matches when at least one of the conditions does.
func AnyOf(children ...Condition) Condition { return Condition{Op: Or, Children: children} }

// NoneOf matches when the condition does not.
func NoneOf(child Condition) Condition { return Condition{Op: Not, Children: []Condition{child}} }

// The faults of a condition; a [ConditionError] wraps one of them.
var (
	ErrEmptyCondition  = errors.New("the condition is empty")
	ErrUnknownShape    = errors.New("a condition has either op and children, or type and its fields")
	ErrUnknownOperator = errors.New("unknown operator")
	ErrUnknownType     = errors.New("unknown condition type")
	ErrNoChildren      = errors.New(`"and" and "or" need at least one child`)
	ErrNotOneChild     = errors.New(`"not" needs exactly one child`)
	ErrMissingField    = errors.New("field is missing or empty")
	ErrSurplusField    = errors.New("field does not belong to this type")
	ErrBadValue        = errors.New("bad value")
	ErrBadRegex        = errors.New("bad regular expression")
	ErrTooDeep         = errors.New("the condition is nested too deeply")
)

// MaxDepth is far beyond what a person writes and far below what would exhaust the stack.
const MaxDepth = 32

// A ConditionError is one fault of a condition.
type ConditionError struct {
	// Path leads to the faulty part, as "children[1].value"; empty for the root.
	Path string
	// Detail describes the fault, and Hint the correction; either may be empty.
	Detail string
	Hint   string
	Err    error // one of the sentinels
}

// Error formats path, fault, detail and hint.
func (e *ConditionError) Error() string {
	path := "condition"
	if e.Path != "" {
		path += "." + e.Path
	}
	return path + ": " + e.Text()
}

// Text returns what is wrong, without the place.
func (e *ConditionError) Text() string {
	s := e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the sentinel.
func (e *ConditionError) Unwrap() error { return e.Err }

// ParseCondition reads a condition from its JSON form and checks it; the error holds every fault, each a
// [ConditionError], unless the text is not JSON of that form.
func ParseCondition(data []byte) (Condition, error) {
	var c Condition
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Condition{}, fmt.Errorf("%w: %w", ErrUnknownShape, err)
	}
	if dec.More() {
		return Condition{}, fmt.Errorf("%w: there is more after its end", ErrUnknownShape)
	}
	if err := c.Validate(); err != nil {
		return Condition{}, err
	}
	return c, nil
}

// Validate checks the whole tree, regular expressions included, and returns every fault, each a [ConditionError]; nil
// if there is none.
func (c Condition) Validate() error {
	_, err := Compile(c)
	return err
}

// shape returns the fault of the node itself, children and values aside.
func (c *Condition) shape() *ConditionError {
	predicate := c.Type != "" || slices.ContainsFunc(conditionFields, func(f conditionField) bool { return f.isSet(c) })
	switch {
	case c.Op == "" && !predicate && len(c.Children) == 0:
		return &ConditionError{Err: ErrEmptyCondition, Hint: "write a type, as {type: sender_domain, value: example.com}"}
	case c.Op != "" && predicate:
		return &ConditionError{Err: ErrUnknownShape, Detail: "it has both"}
	case c.Op != "":
		return c.nodeShape()
	case c.Type == "":
		return &ConditionError{Err: ErrUnknownShape, Detail: "it has neither op nor type"}
	case len(c.Children) > 0:
		return &ConditionError{Path: "children", Err: ErrUnknownShape, Detail: fmt.Sprintf("type %s has no children", c.Type)}
	}
	return nil
}

func (c *Condition) nodeShape() *ConditionError {
	switch {
	case c.Op != And && c.Op != Or && c.Op != Not:
		ops := []string{string(And), string(Or), string(Not)}
		return &ConditionError{
			Path: "op", Err: ErrUnknownOperator, Detail: strconv.Quote(string(c.Op)),
			Hint: suggest.Instead(string(c.Op), ops, "the operators are"),
		}
	case c.Op == Not && len(c.Children) != 1:
		return &ConditionError{
			Path: "children", Err: ErrNotOneChild, Detail: fmt.Sprintf("it has %d", len(c.Children)),
			Hint: `join several with "and" or "or"`,
		}
	case len(c.Children) == 0:
		return &ConditionError{Path: "children", Err: ErrNoChildren, Detail: strconv.Quote(string(c.Op)) + " has none"}
	}
	return nil
}

// String formats the condition for people: sender_domain "example.com" and not has_attachment.
func (c Condition) String() string {
	switch c.Op {
	case "":
		return c.predicateString()
	case Not:
		if len(c.Children) == 1 {
			return "not " + c.Children[0].nested()
		}
	}
	parts := make([]string, len(c.Children))
	for i, child := range c.Children {
		parts[i] = child.nested()
	}
	return strings.Join(parts, " "+string(c.Op)+" ")
}

func (c Condition) nested() string {
	if (c.Op == And || c.Op == Or) && len(c.Children) > 1 {
		return "(" + c.String() + ")"
	}
	return c.String()
}

func (c Condition) predicateString() string {
	parts := []string{string(c.Type)}
	if c.Header != "" {
		parts = append(parts, c.Header)
	}
	parts = append(parts, c.qualities()...)
	for _, v := range []string{c.Value, c.Pattern} {
		if v != "" {
			parts = append(parts, quote(v))
		}
	}
	if len(c.Values) > 0 {
		parts = append(parts, listedValues(c.Values))
	}
	if c.Zone != "" {
		parts = append(parts, "in "+c.Zone)
	}
	return strings.Join(parts, " ")
}

// qualities are the words between the type and the value of a predicate.
func (c Condition) qualities() []string {
	var parts []string
	if len(c.Fields) > 0 {
		parts = append(parts, strings.Join(c.Fields, "|"))
	}
	for _, word := range []string{c.Part, string(c.Match), string(c.Compare)} {
		if word != "" {
			parts = append(parts, word)
		}
	}
	if c.Index != 0 {
		parts = append(parts, fmt.Sprintf("[%d]", c.Index))
	}
	if c.CaseSensitive {
		parts = append(parts, "case_sensitive")
	}
	return parts
}

// quote shows a value with its backslashes as they were written, so that a regular expression stays readable.
func quote(v string) string { return strings.ReplaceAll(strconv.Quote(v), `\\`, `\`) }

// listedValues shows the first of many values.
func listedValues(values []string) string {
	const shown = 3
	quoted := make([]string, 0, shown)
	for _, v := range values[:min(len(values), shown)] {
		quoted = append(quoted, quote(v))
	}
	if more := len(values) - shown; more > 0 {
		return fmt.Sprintf("%s or %d more", strings.Join(quoted, ", "), more)
	}
	return strings.Join(quoted, " or ")
}

// Alternatives returns the values of a predicate.
func (c *Condition) Alternatives() []string {
	if len(c.Values) > 0 {
		return c.Values
	}
	if c.Value == "" {
		return nil
	}
	return []string{c.Value}
}

// usesLabel reports whether a predicate of the tree tests for the label, by id or by name.
func (c Condition) usesLabel(id, name string) bool {
	if c.Type == LabelPresent {
		return slices.ContainsFunc(c.Alternatives(), func(v string) bool { return v == id || strings.EqualFold(v, name) })
	}
	return slices.ContainsFunc(c.Children, func(child Condition) bool { return child.usesLabel(id, name) })
}

// ResolveLabels returns the condition with ids in place of the names of labels; a name for which id returns false
// stays.
func (c Condition) ResolveLabels(id func(string) (string, bool)) Condition {
	if c.Type == LabelPresent {
		if resolved, ok := id(c.Value); ok {
			c.Value = resolved
		}
		c.Values = slices.Clone(c.Values)
		for i, name := range c.Values {
			if resolved, ok := id(name); ok {
				c.Values[i] = resolved
			}
		}
	}
	c.Children = slices.Clone(c.Children)
	for i, child := range c.Children {
		c.Children[i] = child.ResolveLabels(id)
	}
	return c
}

// Faults returns every fault of the condition.
func (c Condition) Faults() []*ConditionError {
	_, faults := newCode().compileTree(c)
	return faults
}
