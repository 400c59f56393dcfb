package rules

import "strings"

// testSchema returns the schema of a test with its message.
func testSchema() schema {
	test := object(map[string]any{
		"name":    schema{"type": "string", "minLength": 1, "maxLength": maxNameLength, "description": "what the test shows"},
		"eml":     textSchema("a file with the message, beside this one"),
		"message": messageSchema(),
		"now":     timeSchema("when the message is decided about; when it was received if left out"),
		"rules":   listSchema(schema{"type": "string"}).about("the names of the rules that must match, in their order"),
		"actions": listSchema(schema{"anyOf": []schema{ref("actionType"), expectedSchema()}}).about("what must be decided, in this order; [] if no rule may match"),
	}, "name")
	test["allOf"] = []schema{
		{"anyOf": []schema{needs("eml"), needs("message")}},
		{"anyOf": []schema{needs("rules"), needs("actions")}},
		{"if": needs("eml"), "then": schema{"properties": schema{"message": schema{"propertyNames": schema{"enum": ownKeys}}}}},
	}
	return test
}

// expectedSchema returns the schema of an action that a test expects, with parameters or with any.
func expectedSchema() schema {
	return object(map[string]any{"action": ref("actionType"), "parameters": schema{"type": "object"}}, "action")
}

func messageSchema() schema {
	properties := map[string]any{
		"account":  textSchema("the id of the account"),
		"subject":  textSchema("the decoded subject"),
		"date":     timeSchema("what the sender claims"),
		"received": timeSchema("when the provider received it"),
		"headers": schema{"type": "object", "additionalProperties": textOrTexts(), "propertyNames": leafFieldSchema(Header, "header"),
			"description": "further header fields; a list for several of one name"},
		"labels": textOrTexts().about("names of labels of the file, or ids such as INBOX"),
		"attachments": listSchema(schema{"anyOf": []schema{
			textSchema("the name of a file"),
			object(map[string]any{"name": textSchema("the name of the file"), "type": textSchema("its media type, as application/pdf")}, "name"),
		}}),
		"size":          leafFieldSchema(LargerThan, "value"),
		"authenticated": schema{"type": "boolean", "description": "Gmail has verified the sender"},
		"sender_seen":   schema{"type": "boolean", "description": "the account has had mail from the sender before"},
		"body":          textSchema("the plain text"),
		"html":          textSchema("the HTML"),
	}
	for _, a := range addressKeys {
		properties[a.key] = textOrTexts().about("as the field " + a.field + " has it, such as Ada <ada@example.org>")
	}
	return object(properties)
}

func textOrTexts() schema {
	return schema{"anyOf": []schema{{"type": "string"}, {"type": "array", "items": schema{"type": "string"}}}}
}

func timeSchema(description string) schema {
	const day, clock = `\d{4}-\d{2}-\d{2}`, `T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})`
	return schema{
		"type": "string", "pattern": "^" + day + "(" + clock + ")?$",
		"description": strings.Join([]string{description, "as 2026-01-31T08:00:00Z or 2026-01-31"}, ", "),
	}
}
