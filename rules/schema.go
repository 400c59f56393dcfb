package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
)

// Schema returns the JSON schema (draft 7) of rules files, for editors that complete and check them. It is made from the tables
// that [Parse] uses, so that it allows the same keys, types of leaf, parts and actions. Parse reports what only a program can
// check, such as a regular expression that does not compile. The kinds are the actions that rules may have; nil means those that
// package gmail carries out. An editor with yaml-language-server finds it by the first line of a rules file:
//
//	# yaml-language-server: $schema=rules.schema.json
func Schema(kinds *postroom.Kinds) []byte {
	text, err := json.MarshalIndent(fileSchema(kinds), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("rules: the schema is no JSON: %v", err)) // it holds texts, numbers, lists and maps only
	}
	return append(text, '\n')
}

// A schema is a JSON schema, or a part of one.
type schema map[string]any

func textSchema(description string) schema {
	return schema{"type": "string", "description": description}
}

func (s schema) about(description string) schema {
	s["description"] = description
	return s
}

func listSchema(entries schema) schema { return schema{"type": "array", "items": entries} }

func ref(name string) schema { return schema{"$ref": "#/definitions/" + name} }

func enum[T ~string](values ...T) schema { return schema{"type": "string", "enum": values} }

// object has the properties and no others.
func object(properties map[string]any, required ...string) schema {
	s := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// needs requires a property.
func needs(key string) schema { return schema{"required": []string{key}} }

// when restricts objects that have the value under the key.
func when(key, value string, then schema) schema {
	return schema{"if": schema{"properties": schema{key: schema{"const": value}}, "required": []string{key}}, "then": then}
}

// oneOfTexts allows one of several texts, each with its meaning.
func oneOfTexts(values []string, meaning func(value string) string) schema {
	of := make([]schema, len(values))
	for i, value := range values {
		of[i] = schema{"const": value, "description": meaning(value)}
	}
	return schema{"type": "string", "oneOf": of}
}

func fileSchema(kinds *postroom.Kinds) schema {
	file := object(map[string]any{
		"labels":   schema{"type": "array", "items": textSchema("the name of a label"), "description": "labels that are created where they do not exist, as are those that actions name"},
		"matching": enum("first", "all").about("first: the first rule that matches decides; all: the rules after it are tried as well, unless it says stop: true"),
		"rules":    listSchema(ref("rule")),
		"tests":    listSchema(ref("test")),
	})
	file["anyOf"] = []schema{needs("rules"), needs("tests")}
	file["$schema"] = "http://json-schema.org/draft-07/schema#"
	file["title"] = "Rules for mail"
	file["definitions"] = schema{
		"rule": ruleSchema(), "schedule": scheduleSchema(), "condition": conditionSchema(), "action": actionSchema(),
		"actionType": actionTypeSchema(kinds), "parameters": actionParameters(kinds), "test": testSchema(),
	}
	return file
}

func ruleSchema() schema {
	rule := object(map[string]any{
		"name":           schema{"type": "string", "minLength": 1, "maxLength": maxNameLength, "description": "unique within the file"},
		"description":    textSchema("what the rule is for"),
		"enabled":        schema{"type": "boolean", "default": true},
		"scope":          oneOfTexts(scopes(), func(s string) string { return scopeMeanings[Scope(s)] }),
		"scope_ref":      textSchema("the account, the domain or the address that the scope is about"),
		"priority":       schema{"type": "integer", "default": DefaultPriority, "minimum": -maxPriority, "maximum": maxPriority, "description": "low numbers are tried first"},
		"condition":      ref("condition"),
		"action":         ref("actionType"),
		"parameters":     schema{"type": "object"},
		"actions":        schema{"type": "array", "minItems": 1, "items": ref("action"), "description": "several actions, in place of action and parameters"},
		"safe_mode":      enum(safeModes()...).about("how far the action is trusted; only dangerous_override lets it be dangerous without a person"),
		"stop":           schema{"type": "boolean", "description": "false: the rules after this one are tried as well when it has matched"},
		"schedule":       ref("schedule"),
		"authentication": enum(AuthenticationRequired, AuthenticationNotRequired).about("whether the sender must be verified"),
	}, "name", "condition")
	rule["oneOf"] = []schema{needs("action"), needs("actions")}
	rule["dependencies"] = schema{"parameters": []string{"action"}}
	all := []schema{ref("parameters")}
	for _, scope := range scopes() {
		if Scope(scope) == ScopeGlobal {
			all = append(all, when("scope", scope, schema{"not": needs("scope_ref")}))
		} else {
			all = append(all, when("scope", scope, needs("scope_ref")))
		}
	}
	rule["allOf"] = all
	return rule
}

var scopeMeanings = map[Scope]string{
	ScopeGlobal: "all mail", ScopeAccount: "the mail of the account of scope_ref", ScopeDomain: "mail from the domain of scope_ref",
	ScopeSender: "mail from the address of scope_ref",
}

func scheduleSchema() schema {
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

// actionSchema returns the schema of an entry of actions; a rule has the same two keys among others.
func actionSchema() schema {
	action := object(map[string]any{"action": ref("actionType"), "parameters": schema{"type": "object"}}, "action")
	action["allOf"] = []schema{ref("parameters")}
	return action
}

func actionTypeSchema(kinds *postroom.Kinds) schema {
	return oneOfTexts(actionNames(kinds.Types()), func(t string) string {
		kind, _ := kinds.Kind(postroom.ActionType(t))
		return kind.Summary
	})
}

// actionParameters restricts the parameters beside each type of action.
func actionParameters(kinds *postroom.Kinds) schema {
	var given []schema
	for _, t := range kinds.Types() {
		kind, _ := kinds.Kind(t)
		given = append(given, when("action", string(t), parametersSchema(&kind)))
	}
	return schema{"allOf": given}
}

// parametersSchema requires the parameters that a kind needs. Others have no effect and are allowed, as Parse allows them.
func parametersSchema(kind *postroom.Kind) schema {
	properties := map[string]any{}
	var required []string
	for _, p := range kind.Parameters {
		properties[p.Name] = parameterSchema(&p)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	of := schema{"type": "object", "properties": properties}
	s := schema{"properties": schema{"parameters": of}}
	if len(required) > 0 {
		of["required"] = required
		s["required"] = []string{"parameters"}
	}
	return s
}

func parameterSchema(p *postroom.Parameter) schema {
	s := schema{"description": p.Summary}
	switch p.Type {
	case postroom.IntegerParameter:
		s["type"] = "integer"
		if p.Min != 0 || p.Max != 0 {
			s["minimum"], s["maximum"] = p.Min, p.Max
		}
	case postroom.BooleanParameter:
		s["type"] = "boolean"
	case postroom.TextsParameter:
		s["anyOf"] = []schema{parameterText(p), {"type": "array", "minItems": 1, "items": parameterText(p)}}
	default:
		maps.Copy(s, parameterText(p))
	}
	if len(p.Values) > 0 {
		s["enum"] = p.Values
	}
	return s
}

// parameterText is one text of a parameter. What else an address must be, Parse says.
func parameterText(p *postroom.Parameter) schema {
	if p.Recipient {
		return schema{"type": "string", "pattern": "@"}
	}
	return schema{"type": "string", "minLength": 1}
}

// conditionSchema describes nodes and leaves: what each type of leaf takes follows from the table of kinds.
func conditionSchema() schema {
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
