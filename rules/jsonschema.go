// Package jsonschema builds JSON schemas (draft 7).
package rules

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
