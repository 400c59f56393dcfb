package rules

import (
	"fmt"
	"github.com/postroom-go/postroom/rules/internal/jsonschema"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"maps"
	"slices"
	"strings"
)

// ScheduleSchema returns the JSON schema of a [Schedule] in a file.
func ScheduleSchema() map[string]any {
	const day = `^\d{4}-\d{2}-\d{2}$`
	return jsonschema.Object(map[string]any{
		"from":     jsonschema.Schema{"type": "string", "pattern": day, "description": "the first day, as 2026-01-31"},
		"until":    jsonschema.Schema{"type": "string", "pattern": day, "description": "the last day, as 2026-01-31"},
		"times":    jsonschema.List(jsonschema.Schema{"type": "string", "pattern": timeSpanForm.String(), "description": "a part of a day, as 22:00-06:00, which belongs to the day on which it begins"}),
		"weekdays": jsonschema.List(jsonschema.Schema{"enum": weekdayNames, "description": "a day; of times that go over midnight, the one on which they begin"}),
		"zone":     jsonschema.Text("a name such as Europe/Berlin or an offset such as +0100; UTC if left out"),
		"label_only_until": jsonschema.Schema{"type": "string", "pattern": day,
			"description": "the last day on which the rule only labels and leaves its other actions out, as 2026-01-31"},
	})
}

func timeSpanSchema() jsonschema.Schema {
	return jsonschema.Schema{"type": "string", "pattern": timeSpanForm.String(),
		"description": "a part of a day, as 22:00-06:00"}
}

// ConditionSchema describes nodes and predicates: what each type of predicate takes follows from the table of kinds.
func ConditionSchema() map[string]any {
	properties := map[string]any{
		"op":       jsonschema.Enum(And, Or, Not),
		"children": jsonschema.Schema{"type": "array", "minItems": 1, "items": jsonschema.Ref("condition")},
		"type":     jsonschema.OneOf(kindNames(), func(name string) string { return Kind(name).Means() }),
	}
	for key, field := range predicateFields {
		properties[key] = field
	}
	c := jsonschema.Object(properties)
	c["oneOf"] = []jsonschema.Schema{{"required": []string{"op", "children"}}, jsonschema.Needs("type")}
	all := []jsonschema.Schema{
		{"if": jsonschema.Needs("op"), "then": jsonschema.Schema{"propertyNames": jsonschema.Schema{"enum": []string{"op", "children"}}}},
		jsonschema.When("op", string(Not),
			jsonschema.Schema{"properties": jsonschema.Schema{"children": jsonschema.Schema{"maxItems": 1}}}),
	}
	for _, name := range Kinds() {
		all = append(all, jsonschema.When("type", string(name), predicateSchema(name)))
	}
	c["allOf"] = all
	return c
}

// predicateFields are the fields of predicates, as far as they are the same for all types.
var predicateFields = map[string]jsonschema.Schema{
	"value":          {"type": "string", "minLength": 1},
	"values":         jsonschema.Schema{"type": "array", "minItems": 1, "items": jsonschema.Schema{"type": "string", "minLength": 1}}.About("alternatives: one of them is enough"),
	"values_from":    jsonschema.Text("a file beside this one with one value on each line"),
	"header":         jsonschema.Schema{"type": "string", "pattern": `^[!-9;-~]+$`}.About("the name of a header field, in any case"),
	"fields":         jsonschema.Schema{"type": "array", "minItems": 1, "items": jsonschema.Schema{"type": "string", "minLength": 1}}.About("one of them is enough"),
	"pattern":        jsonschema.Text("a regular expression (RE2)"),
	"part":           {"type": "string"},
	"match":          jsonschema.Enum(matchNames()...),
	"compare":        jsonschema.Enum(slices.Sorted(maps.Keys(comparisons))...),
	"case_sensitive": {"type": "boolean"},
	"index":          jsonschema.Schema{"type": "integer"}.About("one of several header fields: 1 is the first, -1 the last"),
	"zone":           jsonschema.Text("a time zone: a name, an offset, or for a date of the header original"),
}

// predicateSchema describes the optional and required fields of a predicate type.
func predicateSchema(name Kind) jsonschema.Schema {
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
	s := jsonschema.Schema{"propertyNames": jsonschema.Schema{"enum": takes}}
	var all []jsonschema.Schema
	for _, field := range k.required {
		switch {
		case field == "values":
			all = append(all, jsonschema.Schema{"anyOf": []jsonschema.Schema{jsonschema.Needs("value"),
				jsonschema.Needs("values"), jsonschema.Needs("values_from")}})
		case field == "fields" && c.takesHeader():
			all = append(all, jsonschema.Schema{"oneOf": []jsonschema.Schema{jsonschema.Needs("header"),
				jsonschema.Needs("fields")}})
		default:
			all = append(all, jsonschema.Needs(field))
		}
	}
	if slices.Contains(takes, "values") {
		all = append(all, jsonschema.Schema{"not": jsonschema.Schema{"required": []string{"value", "values"}}},
			jsonschema.Schema{"not": jsonschema.Schema{"required": []string{"value", "values_from"}}})
	}
	if slices.Contains(takes, "compare") && slices.Contains(takes, "match") {
		all = append(all, jsonschema.Schema{"not": jsonschema.Schema{"required": []string{"match", "compare"}}})
	}
	if len(all) > 0 {
		s["allOf"] = all
	}
	properties := jsonschema.Schema{}
	for field, choice := range predicateChoices[name] {
		properties[field] = choice
		if field == "value" {
			properties["values"] = jsonschema.List(choice)
		}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	return s
}

// predicateChoices are the texts that a field of a type of predicate may have, where they are few or of one form.
var predicateChoices = map[Kind]map[string]jsonschema.Schema{
	Address:        {"fields": addressFieldsSchema(), "part": jsonschema.Enum(addressParts...)},
	AddressOrder:   {"fields": addressFieldsSchema(), "part": jsonschema.Enum(addressParts...)},
	AddressDigits:  {"fields": addressFieldsSchema(), "part": jsonschema.Enum(addressParts...)},
	AddressCount:   {"fields": addressFieldsSchema()},
	AuthResult:     {"part": jsonschema.Enum(authMethods...), "value": jsonschema.Enum(authResults...)},
	IsAutomatic:    {"value": jsonschema.Enum(automaticKinds...)},
	HasUnsubscribe: {"value": jsonschema.Enum(unsubscribeWays...)},
	Category:       {"value": anyCase(categories)},
	Weekday:        {"value": anyCase(weekdayNames)},
	TimeOfDay:      {"value": timeSpanSchema()},
	DateOf:         {"part": jsonschema.Enum(datePartNames...)},
	ReceivedAt:     {"part": jsonschema.Enum(datePartNames...)},
	Now:            {"part": jsonschema.Enum(datePartNames...)},
	LargerThan:     {"value": quantitySchema(SizeHint, slices.Sorted(maps.Keys(sizeUnits)))},
	SmallerThan:    {"value": quantitySchema(SizeHint, slices.Sorted(maps.Keys(sizeUnits)))},
	OlderThan:      {"value": quantitySchema(ageHint, slices.Sorted(maps.Keys(ageUnits)))},
	ThreadQuiet:    {"value": quantitySchema(ageHint, slices.Sorted(maps.Keys(ageUnits)))},
	SinceIWrote:    {"value": quantitySchema(ageHint, slices.Sorted(maps.Keys(ageUnits)))},
	NewerThan:      {"value": quantitySchema(ageHint, slices.Sorted(maps.Keys(ageUnits)))},
}

func addressFieldsSchema() jsonschema.Schema {
	return jsonschema.List(jsonschema.Enum(slices.Sorted(maps.Keys(addressLists))...))
}

// quantitySchema is a number and one of the units, in either case.
func quantitySchema(hint string, units []string) jsonschema.Schema {
	return jsonschema.Schema{"type": "string", "pattern": `^\s*\d+(\.\d+)?\s*(` +
		strings.Join(lists.Texts(units, eitherCase), "|") + `)\s*$`, "description": hint}
}

// anyCase is one of the words in any mixture of cases. Patterns of JSON schemas know no flags.
func anyCase(words []string) jsonschema.Schema {
	return jsonschema.Schema{"type": "string", "pattern": "^(" + strings.Join(lists.Texts(words, eitherCase), "|") +
		")$", "description": "one of " + strings.Join(words, ", ")}
}

func eitherCase(word string) string {
	var b strings.Builder
	for _, r := range word {
		fmt.Fprintf(&b, "[%c%s]", r, strings.ToUpper(string(r)))
	}
	return b.String()
}

// PredicateFieldSchema returns the schema of a field of the predicates of a type.
func PredicateFieldSchema(name Kind, field string) map[string]any {
	if choice, ok := predicateChoices[name][field]; ok {
		return choice
	}
	return predicateFields[field]
}
