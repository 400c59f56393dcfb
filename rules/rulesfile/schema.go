package rulesfile

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/jsonschema"
)

// Schema returns the JSON schema (draft 7) of rules files, for editors that complete and check them. It is made from
// the tables that [Parse] uses, so that it allows the same keys, types of predicate, parts and actions. Parse reports
// what only a program can check, such as a regular expression that does not compile. The kinds are the actions that
// rules may have; nil means those that package gmail carries out. An editor with yaml-language-server finds it by the
// first line of a rules file:
//
//	# yaml-language-server: $schema=rules.schema.json
func Schema(kinds *postroom.Kinds) []byte {
	text, err := json.MarshalIndent(schemaOf(kinds), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("rules: the schema is no JSON: %v", err)) // it holds texts, numbers, lists and maps only
	}
	return append(text, '\n')
}

func schemaOf(kinds *postroom.Kinds) jsonschema.Schema {
	file := jsonschema.Object(map[string]any{
		"labels":   jsonschema.Schema{"type": "array", "items": jsonschema.Text("the name of a label"), "description": "labels that are created where they do not exist, as are those that actions name"},
		"snippets": jsonschema.Schema{"type": "object", "additionalProperties": jsonschema.Text("a text, which may have variables such as {{first_name}}"), "description": "texts that actions name with the parameter snippet in place of body"},
		"matching": jsonschema.Enum("first", "all").About("first: the first rule that matches decides; all: the rules after it are tried as well, unless it says stop: true"),
		"rules":    jsonschema.List(jsonschema.Ref("rule")),
		"tests":    jsonschema.List(jsonschema.Ref("test")),
	})
	file["anyOf"] = []jsonschema.Schema{jsonschema.Needs("rules"), jsonschema.Needs("tests")}
	file["$schema"] = "http://json-schema.org/draft-07/schema#"
	file["title"] = "Rules for mail"
	file["definitions"] = jsonschema.Schema{
		"rule": ruleSchema(), "schedule": rules.ScheduleSchema(), "condition": rules.ConditionSchema(), "action": actionSchema(),
		"actionType": actionTypeSchema(kinds), "parameters": actionParameters(kinds), "test": testSchema(),
	}
	return file
}

func ruleSchema() jsonschema.Schema {
	rule := jsonschema.Object(map[string]any{
		"name":           jsonschema.Schema{"type": "string", "minLength": 1, "maxLength": rules.MaxNameLength, "description": "unique within the file"},
		"description":    jsonschema.Text("what the rule is for"),
		"enabled":        jsonschema.Schema{"type": "boolean", "default": true},
		"scope":          jsonschema.OneOf(rules.Scopes(), func(s string) string { return scopeMeanings[rules.Scope(s)] }),
		"scope_ref":      jsonschema.Text("the address of the account, the domain, or the address of the sender that the scope is about"),
		"priority":       jsonschema.Schema{"type": "integer", "default": rules.DefaultPriority, "minimum": -rules.MaxPriority, "maximum": rules.MaxPriority, "description": "low numbers are tried first"},
		"condition":      jsonschema.Ref("condition"),
		"action":         jsonschema.Ref("actionType"),
		"parameters":     jsonschema.Schema{"type": "object"},
		"actions":        jsonschema.Schema{"type": "array", "minItems": 1, "items": jsonschema.Ref("action"), "description": "several actions, in place of action and parameters"},
		"safe_mode":      jsonschema.Enum(rules.SafeModes()...).About("how far the action is trusted; only dangerous_override lets it be dangerous without a person"),
		"stop":           jsonschema.Schema{"type": "boolean", "description": "false: the rules after this one are tried as well when it has matched"},
		"schedule":       jsonschema.Ref("schedule"),
		"authentication": jsonschema.Enum(rules.AuthenticationRequired, rules.AuthenticationNotRequired).About("whether the sender must be verified"),
	}, "name", "condition")
	rule["oneOf"] = []jsonschema.Schema{jsonschema.Needs("action"), jsonschema.Needs("actions")}
	rule["dependencies"] = jsonschema.Schema{"parameters": []string{"action"}}
	all := []jsonschema.Schema{jsonschema.Ref("parameters")}
	for _, scope := range rules.Scopes() {
		if rules.Scope(scope) == rules.ScopeGlobal {
			all = append(all, jsonschema.When("scope", scope, jsonschema.Schema{"not": jsonschema.Needs("scope_ref")}))
		} else {
			all = append(all, jsonschema.When("scope", scope, jsonschema.Needs("scope_ref")))
		}
	}
	rule["allOf"] = all
	return rule
}

var scopeMeanings = map[rules.Scope]string{
	rules.ScopeGlobal: "all mail", rules.ScopeAccount: "the mail of the account of scope_ref",
	rules.ScopeDomain: "mail from the domain of scope_ref",
	rules.ScopeSender: "mail from the address of scope_ref",
}

// actionSchema returns the schema of an entry of actions; a rule has the same two keys among others.
func actionSchema() jsonschema.Schema {
	action := jsonschema.Object(map[string]any{"action": jsonschema.Ref("actionType"),
		"parameters": jsonschema.Schema{"type": "object"}}, "action")
	action["allOf"] = []jsonschema.Schema{jsonschema.Ref("parameters")}
	return action
}

func actionTypeSchema(kinds *postroom.Kinds) jsonschema.Schema {
	return jsonschema.OneOf(actionNames(kinds.Types()), func(t string) string {
		kind, _ := kinds.Kind(postroom.ActionType(t))
		return kind.Summary
	})
}

// actionParameters restricts the parameters beside each type of action.
func actionParameters(kinds *postroom.Kinds) jsonschema.Schema {
	var given []jsonschema.Schema
	for _, t := range kinds.Types() {
		kind, _ := kinds.Kind(t)
		given = append(given, jsonschema.When("action", string(t), parametersSchema(&kind)))
	}
	return jsonschema.Schema{"allOf": given}
}

// parametersSchema requires the parameters that a kind needs. Others have no effect and are allowed, as Parse allows
// them.
func parametersSchema(kind *postroom.Kind) jsonschema.Schema {
	properties := map[string]any{}
	var required []string
	for _, p := range kind.Parameters {
		properties[p.Name] = parameterSchema(&p)
		if p.Required && p.Name != paramBody { // which a snippet may be in place of
			required = append(required, p.Name)
		}
	}
	if _, ok := properties[paramBody]; ok {
		properties[paramSnippet] = jsonschema.Text("the name of a text under snippets, in place of body")
	}
	of := jsonschema.Schema{"type": "object", "properties": properties}
	s := jsonschema.Schema{"properties": jsonschema.Schema{"parameters": of}}
	if len(required) > 0 {
		of["required"] = required
		s["required"] = []string{"parameters"}
	}
	return s
}

func parameterSchema(p *postroom.Parameter) jsonschema.Schema {
	s := jsonschema.Schema{"description": p.Summary}
	switch p.Type {
	case postroom.IntegerParameter:
		s["type"] = "integer"
		if p.Min != 0 || p.Max != 0 {
			s["minimum"], s["maximum"] = p.Min, p.Max
		}
	case postroom.BooleanParameter:
		s["type"] = "boolean"
	case postroom.TextsParameter:
		s["anyOf"] = []jsonschema.Schema{parameterText(p), {"type": "array", "minItems": 1, "items": parameterText(p)}}
	default:
		maps.Copy(s, parameterText(p))
	}
	if len(p.Values) > 0 {
		s["enum"] = p.Values
	}
	return s
}

// parameterText is one text of a parameter. What else an address must be, Parse says.
func parameterText(p *postroom.Parameter) jsonschema.Schema {
	if p.Recipient {
		return jsonschema.Schema{"type": "string", "pattern": "@"}
	}
	return jsonschema.Schema{"type": "string", "minLength": 1}
}
