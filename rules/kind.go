package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Kind is the type of a leaf; the table in the package documentation lists them.
type Kind string

// The kinds of leaf.
const (
	SenderEmail     Kind = "sender_email"
	SenderDomain    Kind = "sender_domain"
	To              Kind = "to"
	Cc              Kind = "cc"
	SubjectContains Kind = "subject_contains"
	SubjectRegex    Kind = "subject_regex"
	BodyContains    Kind = "body_contains"
	BodyRegex       Kind = "body_regex"
	HeaderPresent   Kind = "header_present"
	HeaderMatch     Kind = "header_match"
	LabelPresent    Kind = "label_present"
	HasAttachment   Kind = "has_attachment"
	LargerThan      Kind = "larger_than"
	SmallerThan     Kind = "smaller_than"
	OlderThan       Kind = "older_than"
	NewerThan       Kind = "newer_than"
)

// A kind defines how leaves of one type are written and compiled.
type kind struct {
	fields  []string // required; all others must be absent
	compile func(c Condition) (predicate, *ConditionError)
}

var kinds = map[Kind]kind{
	SenderEmail:     {[]string{"value"}, compileSenderEmail},
	SenderDomain:    {[]string{"value"}, compileSenderDomain},
	To:              {[]string{"value"}, compileTo},
	Cc:              {[]string{"value"}, compileCc},
	SubjectContains: {[]string{"value"}, compileSubjectContains},
	SubjectRegex:    {[]string{"value"}, compileSubjectRegex},
	BodyContains:    {[]string{"value"}, compileBodyContains},
	BodyRegex:       {[]string{"value"}, compileBodyRegex},
	HeaderPresent:   {[]string{"header"}, compileHeaderPresent},
	HeaderMatch:     {[]string{"header", "pattern"}, compileHeaderMatch},
	LabelPresent:    {[]string{"value"}, compileLabelPresent},
	HasAttachment:   {nil, compileHasAttachment},
	LargerThan:      {[]string{"value"}, compileLargerThan},
	SmallerThan:     {[]string{"value"}, compileSmallerThan},
	OlderThan:       {[]string{"value"}, compileOlderThan},
	NewerThan:       {[]string{"value"}, compileNewerThan},
}

// Kinds returns the types of leaf, sorted by name.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

func kindNames() []string {
	names := make([]string, 0, len(kinds))
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return names
}

// fields returns a fault for each field that a leaf lacks and for each that its type does not have.
func (c *Condition) fields() []*ConditionError {
	k, ok := kinds[c.Type]
	if !ok {
		return []*ConditionError{{Path: "type", Err: ErrUnknownType, Detail: strconv.Quote(string(c.Type)), Hint: suggest(string(c.Type), kindNames(), "the types are")}}
	}
	var faults []*ConditionError
	values := []struct{ name, value string }{{"value", c.Value}, {"header", c.Header}, {"pattern", c.Pattern}}
	for _, f := range values {
		switch wanted := slices.Contains(k.fields, f.name); {
		case wanted && strings.TrimSpace(f.value) == "":
			faults = append(faults, &ConditionError{Path: f.name, Err: ErrMissingField, Detail: string(c.Type) + " needs " + strings.Join(k.fields, " and ")})
		case !wanted && f.value != "":
			faults = append(faults, &ConditionError{Path: f.name, Err: ErrSurplusField, Detail: string(c.Type) + " takes " + listed(k.fields)})
		}
	}
	return faults
}

func listed(fields []string) string {
	if len(fields) == 0 {
		return "no field"
	}
	return "only " + strings.Join(fields, " and ")
}
