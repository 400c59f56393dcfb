package rulesfile

import (
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/jsonschema"
	"strings"
)

// testSchema returns the schema of a test with its message.
func testSchema() jsonschema.Schema {
	test := jsonschema.Object(map[string]any{
		"name":    jsonschema.Schema{"type": "string", "minLength": 1, "maxLength": rules.MaxNameLength, "description": "what the test shows"},
		"eml":     jsonschema.Text("a file with the message, beside this one"),
		"message": messageSchema(),
		"now":     timeSchema("when the message is decided about; when it was received if left out"),
		"rules":   jsonschema.List(jsonschema.Schema{"type": "string"}).About("the names of the rules that must match, in their order"),
		"without": jsonschema.List(jsonschema.Schema{"type": "string"}).About("the names of rules that must not match"),
		"actions": jsonschema.List(jsonschema.Schema{"anyOf": []jsonschema.Schema{jsonschema.Ref("actionType"), expectedSchema()}}).About("what must be decided, in this order; [] if no rule may match"),
	}, "name")
	test["allOf"] = []jsonschema.Schema{
		{"anyOf": []jsonschema.Schema{jsonschema.Needs("eml"), jsonschema.Needs("message")}},
		{"anyOf": []jsonschema.Schema{jsonschema.Needs("rules"), jsonschema.Needs("without"), jsonschema.Needs("actions")}},
		{"if": jsonschema.Needs("eml"), "then": jsonschema.Schema{"properties": jsonschema.Schema{"message": jsonschema.Schema{"propertyNames": jsonschema.Schema{"enum": ownKeys}}}}},
	}
	return test
}

// expectedSchema returns the schema of an action that a test expects, with parameters or with any.
func expectedSchema() jsonschema.Schema {
	return jsonschema.Object(map[string]any{"action": jsonschema.Ref("actionType"),
		"parameters": jsonschema.Schema{"type": "object"}}, "action")
}

func messageSchema() jsonschema.Schema {
	properties := map[string]any{
		"account":  jsonschema.Text("the id of the account"),
		"subject":  jsonschema.Text("the decoded subject"),
		"date":     timeSchema("what the sender claims"),
		"received": timeSchema("when the provider received it"),
		"headers": jsonschema.Schema{"type": "object", "additionalProperties": textOrTexts(), "propertyNames": rules.PredicateFieldSchema(rules.Header, "header"),
			"description": "further header fields; a list for several of one name"},
		"labels": textOrTexts().About("names of labels of the file, or ids such as INBOX"),
		"attachments": jsonschema.List(jsonschema.Schema{"anyOf": []jsonschema.Schema{
			jsonschema.Text("the name of a file"),
			jsonschema.Object(map[string]any{"name": jsonschema.Text("the name of the file"),
				"type": jsonschema.Text("its media type, as application/pdf")}, "name"),
		}}),
		"size":          rules.PredicateFieldSchema(rules.LargerThan, "value"),
		"authenticated": jsonschema.Schema{"type": "boolean", "description": "Gmail has verified the sender"},
		"sender_seen":   jsonschema.Schema{"type": "boolean", "description": "the account has had mail from the sender before"},
		"sender_written_to": jsonschema.Schema{"type": "boolean",
			"description": "the owner had written to the sender before"},
		"i_wrote":    timeSchema("when the owner has last written in the thread; never if left out"),
		"they_wrote": timeSchema("when another has; when the message was received if left out"),
		"body":       jsonschema.Text("the plain text"),
		"html":       jsonschema.Text("the HTML"),
	}
	for _, a := range addressKeys {
		properties[a.key] = textOrTexts().About("as the field " + a.field + " has it, such as Ada <ada@example.org>")
	}
	return jsonschema.Object(properties)
}

func textOrTexts() jsonschema.Schema {
	return jsonschema.Schema{"anyOf": []jsonschema.Schema{{"type": "string"},
		{"type": "array", "items": jsonschema.Schema{"type": "string"}}}}
}

func timeSchema(description string) jsonschema.Schema {
	const day, clock = `\d{4}-\d{2}-\d{2}`, `T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})`
	return jsonschema.Schema{
		"type": "string", "pattern": "^" + day + "(" + clock + ")?$",
		"description": strings.Join([]string{description, "as 2026-01-31T08:00:00Z or 2026-01-31"}, ", "),
	}
}
