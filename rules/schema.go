package rules

import (
	"encoding/json"
	"fmt"
	"maps"

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
