package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A conditionField is a field of a predicate.
type conditionField struct {
	name  string
	isSet func(c *Condition) bool
}

var conditionFields = []conditionField{
	{"value", func(c *Condition) bool { return c.Value != "" }},
	{"values", func(c *Condition) bool { return c.Values != nil }},
	{"header", func(c *Condition) bool { return c.Header != "" }},
	{"fields", func(c *Condition) bool { return c.Fields != nil }},
	{"pattern", func(c *Condition) bool { return c.Pattern != "" }},
	{"part", func(c *Condition) bool { return c.Part != "" }},
	{"match", func(c *Condition) bool { return c.Match != "" }},
	{"compare", func(c *Condition) bool { return c.Compare != "" }},
	{"case_sensitive", func(c *Condition) bool { return c.CaseSensitive }},
	{"index", func(c *Condition) bool { return c.Index != 0 }},
	{"zone", func(c *Condition) bool { return c.Zone != "" }},
}

// takes reports whether predicates of the kind may have the field: values may be written where value may, and header
// where header fields may.
func (k *kind) takes(field string, required bool) bool {
	list := k.optional
	if required {
		list = k.required
	}
	switch field {
	case "value":
		return slices.Contains(list, "value") || slices.Contains(list, "values")
	default:
		return slices.Contains(list, field)
	}
}

// takesHeader reports whether the kind's fields are header fields, so that a single one may be written as header.
func (c *Condition) takesHeader() bool {
	return c.Type == Header || c.Type == HeaderOrder || c.Type == HeaderNumber || c.Type == HeaderDigits ||
		c.Type == HeaderCount
}

// fields returns a fault for each field that a predicate lacks, for each that its type does not have and for each
// that is empty.
func (c *Condition) fields() []*ConditionError {
	k, ok := kinds[c.Type]
	if !ok {
		return []*ConditionError{{Path: "type", Err: ErrUnknownType, Detail: strconv.Quote(string(c.Type)),
			Hint: suggest.Instead(string(c.Type), kindNames(), "the types are")}}
	}
	faults := c.missing(&k)
	for _, f := range conditionFields {
		known := k.takes(f.name, true) || k.takes(f.name, false) || f.name == "header" && c.takesHeader()
		if f.isSet(c) && !known {
			faults = append(faults, &ConditionError{Path: f.name, Err: ErrSurplusField, Detail: string(c.Type) + " takes " +
				c.listed(&k)})
		}
	}
	for _, both := range [][2]string{{"value", "values"}, {"header", "fields"}} {
		if c.has(both[0]) && c.has(both[1]) && len(faults) == 0 {
			faults = append(faults, &ConditionError{Path: both[1], Err: ErrSurplusField, Detail: both[0] + " is there already",
				Hint: "write one of the two"})
		}
	}
	return append(faults, c.emptyAlternatives()...)
}

func (c *Condition) has(field string) bool {
	return slices.ContainsFunc(conditionFields, func(f conditionField) bool { return f.name == field && f.isSet(c) })
}

func (c *Condition) missing(k *kind) []*ConditionError {
	var faults []*ConditionError
	for _, name := range k.required {
		given := c.has(name)
		path := name
		switch {
		case name == "values":
			path, given = "value", strings.TrimSpace(c.Value) != "" || len(c.Values) > 0
		case name == "value":
			given = strings.TrimSpace(c.Value) != ""
		case name == "fields" && c.takesHeader():
			path, given = "header", strings.TrimSpace(c.Header) != "" || len(c.Fields) > 0
		case name == "fields":
			given = len(c.Fields) > 0
		case name == "header":
			given = strings.TrimSpace(c.Header) != ""
		case name == "pattern":
			given = strings.TrimSpace(c.Pattern) != ""
		}
		if !given {
			faults = append(faults, &ConditionError{Path: path, Err: ErrMissingField, Detail: string(c.Type) + " needs " +
				joinWords(c.shown(k.required))})
		}
	}
	return faults
}

// emptyAlternatives returns a fault for each empty text of a list.
func (c *Condition) emptyAlternatives() []*ConditionError {
	var faults []*ConditionError
	for _, list := range []struct {
		name  string
		texts []string
	}{{"values", c.Values}, {"fields", c.Fields}} {
		for i, text := range list.texts {
			if strings.TrimSpace(text) == "" {
				faults = append(faults, &ConditionError{Path: fmt.Sprintf("%s[%d]", list.name, i), Err: ErrMissingField,
					Detail: "it is empty"})
			}
		}
	}
	return faults
}

func (c *Condition) listed(k *kind) string {
	fields := c.shown(slices.Concat(k.required, k.optional))
	if len(fields) == 0 {
		return "no field"
	}
	return "only " + joinWords(fields)
}

// shown names the fields as they are usually written.
func (c *Condition) shown(fields []string) []string {
	names := slices.Clone(fields)
	for i, name := range names {
		switch {
		case name == "values":
			names[i] = "value"
		case name == "fields" && c.takesHeader():
			names[i] = "header"
		}
	}
	return names
}

func joinWords(words []string) string {
	if len(words) < 3 {
		return strings.Join(words, " and ")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
