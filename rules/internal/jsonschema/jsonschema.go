// Package jsonschema builds JSON schemas (draft 7).
package jsonschema

// A Schema is a JSON schema, or a part of one.
type Schema map[string]any

// Text is the schema of a text.
func Text(description string) Schema {
	return Schema{"type": "string", "description": description}
}

// About returns the schema with a description.
func (s Schema) About(description string) Schema {
	s["description"] = description
	return s
}

// List is the schema of a list.
func List(entries Schema) Schema { return Schema{"type": "array", "items": entries} }

// Ref is the schema that is defined under a name.
func Ref(name string) Schema { return Schema{"$ref": "#/definitions/" + name} }

// Enum is the schema of one of several texts.
func Enum[T ~string](values ...T) Schema { return Schema{"type": "string", "enum": values} }

// Object has the properties and no others.
func Object(properties map[string]any, required ...string) Schema {
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// Needs requires a property.
func Needs(key string) Schema { return Schema{"required": []string{key}} }

// When restricts objects that have the value under the key.
func When(key, value string, then Schema) Schema {
	return Schema{"if": Schema{"properties": Schema{key: Schema{"const": value}}, "required": []string{key}}, "then": then}
}

// OneOf allows one of several texts, each with its meaning.
func OneOf(values []string, meaning func(value string) string) Schema {
	of := make([]Schema, len(values))
	for i, value := range values {
		of[i] = Schema{"const": value, "description": meaning(value)}
	}
	return Schema{"type": "string", "oneOf": of}
}
