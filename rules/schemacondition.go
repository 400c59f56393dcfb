package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scheduleSchema returns the JSON schema of a [Schedule] in a file.
func scheduleSchema() map[string]any {
	const day = `^\d{4}-\d{2}-\d{2}$`
	return object(map[string]any{
		"from":     schema{"type": "string", "pattern": day, "description": "the first day, as 2026-01-31"},
		"until":    schema{"type": "string", "pattern": day, "description": "the last day, as 2026-01-31"},
		"times":    listSchema(schema{"type": "string", "pattern": timeSpanForm.String(), "description": "a part of a day, as 22:00-06:00, which belongs to the day on which it begins"}),
		"weekdays": listSchema(schema{"enum": weekdayNames, "description": "a day; of times that go over midnight, the one on which they begin"}),
		"zone":     textSchema("a name such as Europe/Berlin or an offset such as +0100; UTC if left out"),
	})
}

func timeSpanSchema() schema {
	return schema{"type": "string", "pattern": timeSpanForm.String(), "description": "a part of a day, as 22:00-06:00"}
}

// conditionSchema describes nodes and leaves: what each type of leaf takes follows from the table of kinds.
func conditionSchema() map[string]any {
	properties := map[string]any{
		"op":       enum(And, Or, Not),
		"children": schema{"type": "array", "minItems": 1, "items": ref("condition")},
		"type":     oneOfTexts(kindNames(), func(name string) string { return kindSummaries[Kind(name)] }),
	}
	for key, field := range leafFields {
		properties[key] = field
	}
	c := object(properties)
	c["oneOf"] = []schema{{"required": []string{"op", "children"}}, needs("type")}
	all := []schema{
		{"if": needs("op"), "then": schema{"propertyNames": schema{"enum": []string{"op", "children"}}}},
		when("op", string(Not), schema{"properties": schema{"children": schema{"maxItems": 1}}}),
	}
	for _, name := range Kinds() {
		all = append(all, when("type", string(name), leafSchema(name)))
	}
	c["allOf"] = all
	return c
}

// leafFields are the fields of leaves, as far as they are the same for all types.
var leafFields = map[string]schema{
	"value":          {"type": "string", "minLength": 1},
	"values":         schema{"type": "array", "minItems": 1, "items": schema{"type": "string", "minLength": 1}}.about("alternatives: one of them is enough"),
	"values_from":    textSchema("a file beside this one with one value on each line"),
	"header":         schema{"type": "string", "pattern": `^[!-9;-~]+$`}.about("the name of a header field, in any case"),
	"fields":         schema{"type": "array", "minItems": 1, "items": schema{"type": "string", "minLength": 1}}.about("one of them is enough"),
	"pattern":        textSchema("a regular expression (RE2)"),
	"part":           {"type": "string"},
	"match":          enum(matchNames()...),
	"compare":        enum(slices.Sorted(maps.Keys(comparisons))...),
	"case_sensitive": {"type": "boolean"},
	"index":          schema{"type": "integer"}.about("one of several header fields: 1 is the first, -1 the last"),
	"zone":           textSchema("a time zone: a name, an offset, or for a date of the header original"),
}

// leafSchema describes the optional and required fields of a leaf type.
func leafSchema(name Kind) schema {
	k, c := kinds[name], Condition{Type: name}
	takes := []string{"type"}
	for _, f := range conditionFields {
		if k.takes(f.name, true) || k.takes(f.name, false) || f.name == "header" && c.takesHeader() {
			takes = append(takes, f.name)
		}
	}
	if slices.Contains(takes, "values") {
		takes = append(takes, "values_from")
	}
	s := schema{"propertyNames": schema{"enum": takes}}
	var all []schema
	for _, field := range k.required {
		switch {
		case field == "values":
			all = append(all, schema{"anyOf": []schema{needs("value"), needs("values"), needs("values_from")}})
		case field == "fields" && c.takesHeader():
			all = append(all, schema{"oneOf": []schema{needs("header"), needs("fields")}})
		default:
			all = append(all, needs(field))
		}
	}
	if slices.Contains(takes, "values") {
		all = append(all, schema{"not": schema{"required": []string{"value", "values"}}}, schema{"not": schema{"required": []string{"value", "values_from"}}})
	}
	if slices.Contains(takes, "compare") && slices.Contains(takes, "match") {
		all = append(all, schema{"not": schema{"required": []string{"match", "compare"}}})
	}
	if len(all) > 0 {
		s["allOf"] = all
	}
	properties := schema{}
	for field, choice := range leafChoices[name] {
		properties[field] = choice
		if field == "value" {
			properties["values"] = listSchema(choice)
		}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	return s
}

// leafChoices are the texts that a field of a type of leaf may have, where they are few or of one form.
var leafChoices = map[Kind]map[string]schema{
	Address:        {"fields": addressFieldsSchema(), "part": enum(addressParts...)},
	AddressOrder:   {"fields": addressFieldsSchema(), "part": enum(addressParts...)},
	AddressDigits:  {"fields": addressFieldsSchema(), "part": enum(addressParts...)},
	AddressCount:   {"fields": addressFieldsSchema()},
	AuthResult:     {"part": enum(authMethods...), "value": enum(authResults...)},
	IsAutomatic:    {"value": enum(automaticKinds...)},
	HasUnsubscribe: {"value": enum(unsubscribeWays...)},
	Category:       {"value": anyCase(categories)},
	Weekday:        {"value": anyCase(weekdayNames)},
	TimeOfDay:      {"value": timeSpanSchema()},
	DateOf:         {"part": enum(datePartNames...)},
	ReceivedAt:     {"part": enum(datePartNames...)},
	Now:            {"part": enum(datePartNames...)},
	LargerThan:     {"value": quantitySchema(sizeHint, slices.Sorted(maps.Keys(sizeUnits)))},
	SmallerThan:    {"value": quantitySchema(sizeHint, slices.Sorted(maps.Keys(sizeUnits)))},
	OlderThan:      {"value": quantitySchema(ageHint, slices.Sorted(maps.Keys(ageUnits)))},
	NewerThan:      {"value": quantitySchema(ageHint, slices.Sorted(maps.Keys(ageUnits)))},
}

func addressFieldsSchema() schema {
	return listSchema(enum(slices.Sorted(maps.Keys(addressLists))...))
}

// quantitySchema is a number and one of the units, in either case.
func quantitySchema(hint string, units []string) schema {
	return schema{"type": "string", "pattern": `^\s*\d+(\.\d+)?\s*(` + strings.Join(mapped(units, eitherCase), "|") + `)\s*$`, "description": hint}
}

// anyCase is one of the words in any mixture of cases. Patterns of JSON schemas know no flags.
func anyCase(words []string) schema {
	return schema{"type": "string", "pattern": "^(" + strings.Join(mapped(words, eitherCase), "|") + ")$", "description": "one of " + strings.Join(words, ", ")}
}

func eitherCase(word string) string {
	var b strings.Builder
	for _, r := range word {
		fmt.Fprintf(&b, "[%c%s]", r, strings.ToUpper(string(r)))
	}
	return b.String()
}

// leafFieldSchema returns the schema of a field of the leaves of a type.
func leafFieldSchema(name Kind, field string) map[string]any {
	if choice, ok := leafChoices[name][field]; ok {
		return choice
	}
	return leafFields[field]
}
