package webapi

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// schemas makes the JSON Schema of types as encoding/json writes and reads them. Structs that are exported have names,
// and are referred to, so that a tree of conditions may contain itself.
type schemas struct {
	named map[string]any
	types map[string]reflect.Type // of the names
	names map[reflect.Type]string // that differ from those of the types
}

// special are the types whose JSON does not follow from their fields.
var special = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():           {"type": "string", "format": "date-time"},
	reflect.TypeFor[rulestore.TextPatch](): {"type": []string{"string", "null"}},
}

// enums are the values of types that have few.
var enums = map[reflect.Type]func() any{
	reflect.TypeFor[postroom.ActionState](): func() any { return postroom.ActionStates() },
	reflect.TypeFor[Scope]():                func() any { return Scopes() },
}

func (s *schemas) of(t reflect.Type) (object, error) {
	if schema, ok := special[t]; ok {
		return schema, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		schema, err := s.of(t.Elem())
		return object{"anyOf": []object{schema, {"type": "null"}}}, err
	case reflect.Bool:
		return object{"type": "boolean"}, nil
	case reflect.String:
		if values := enums[t]; values != nil {
			return object{"type": "string", "enum": values()}, nil
		}
		return object{"type": "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}, nil
	case reflect.Interface:
		return object{}, nil
	case reflect.Slice, reflect.Array:
		return s.list(t)
	case reflect.Map:
		schema, err := s.of(t.Elem())
		return object{"type": "object", "additionalProperties": schema}, err
	case reflect.Struct:
		return s.structure(t)
	}
	return nil, fmt.Errorf("%v has no JSON", t)
}

// list describes a slice, which is null if it is nil. json.RawMessage is any value.
func (s *schemas) list(t reflect.Type) (object, error) {
	if t.Elem().Kind() == reflect.Uint8 {
		if t.Name() == "RawMessage" {
			return object{}, nil
		}
		return object{"type": "string", "contentEncoding": "base64"}, nil
	}
	items, err := s.of(t.Elem())
	return object{"type": []string{"array", "null"}, "items": items}, err
}

// structure refers to a struct by its name.
func (s *schemas) structure(t reflect.Type) (object, error) {
	if t.Name() == "" {
		return s.object(t)
	}
	name := cmp.Or(s.names[t], strings.ToUpper(t.Name()[:1])+t.Name()[1:])
	if known := s.types[name]; known != nil && known != t {
		return nil, fmt.Errorf("%v and %v are both %s: give one of them another name", known, t, name)
	}
	ref := object{"$ref": "#/components/schemas/" + name}
	if s.types[name] == t {
		return ref, nil
	}
	s.types[name] = t
	schema, err := s.object(t)
	s.named[name] = schema
	return ref, err
}

// object describes the fields of a struct.
func (s *schemas) object(t reflect.Type) (object, error) {
	properties, required := object{}, []string{}
	if err := s.addFields(t, properties, &required); err != nil {
		return nil, err
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema, nil
}

func (s *schemas) addFields(t reflect.Type, properties object, required *[]string) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if err := s.addFields(of, properties, required); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		schema, err := s.of(f.Type)
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		if about := f.Tag.Get("jsonschema"); about != "" {
			schema = maps.Clone(schema)
			schema["description"] = about
		}
		properties[name] = schema
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
	return nil
}
