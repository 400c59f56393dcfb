package webapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// OpenAPI returns the description of routes as a document of OpenAPI 3.1, as JSON. The paths have the prefix. A schema
// has the name of its type, or the one that names has for the type. Two types of one name are an error.
func OpenAPI(title, version, prefix string, routes []Route, names map[reflect.Type]string) ([]byte, error) {
	s := &schemas{named: map[string]any{}, types: map[string]reflect.Type{}, names: names}
	problem, err := s.of(reflect.TypeFor[ErrorBody]())
	if err != nil {
		return nil, err
	}
	paths := map[string]object{}
	for _, route := range routes {
		operation, err := s.operation(route)
		if err != nil {
			return nil, fmt.Errorf("webapi: describe %s %s: %w", route.Method, route.Path, err)
		}
		path := prefix + strings.ReplaceAll(route.Path, "...}", "}")
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path][strings.ToLower(route.Method)] = operation
	}
	return json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info":    object{"title": title, "version": version},
		"paths":   paths,
		"components": object{
			"schemas":         s.named,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
			"responses": object{"problem": object{"description": "The call was not carried out: the detail says why.",
				"content": object{"application/problem+json": object{"schema": problem}}}},
		},
		"security": []object{{"token": []string{}}},
	}, "", "  ")
}

type object = map[string]any

// operation describes a route.
func (s *schemas) operation(route Route) (object, error) {
	parameters := []object{}
	for _, name := range pathNames.FindAllStringSubmatch(route.Path, -1) {
		parameters = append(parameters, object{"name": name[1], "in": "path", "required": true,
			"schema": object{"type": "string"}})
	}
	responses := object{"default": object{"$ref": "#/components/responses/problem"}}
	operation := object{"summary": route.Summary, "operationId": operationID(route), "x-scope": route.Scope,
		"responses": responses}
	if route.Method == http.MethodGet {
		query, err := s.query(route.in)
		if err != nil {
			return nil, err
		}
		parameters = append(parameters, query...)
	} else if route.in != reflect.TypeFor[None]() {
		schema, err := s.body(route.in)
		if err != nil {
			return nil, err
		}
		operation["requestBody"] = object{"required": !route.NoBody,
			"content": object{"application/json": object{"schema": schema}}}
	}
	if len(parameters) > 0 {
		operation["parameters"] = parameters
	}
	answer := object{"text/event-stream": object{"schema": object{"type": "string"}}}
	if route.out != nil {
		schema, err := s.of(route.out)
		if err != nil {
			return nil, err
		}
		answer = object{"application/json": object{"schema": schema}}
	}
	responses["200"] = object{"description": "OK", "content": answer}
	return operation, nil
}

var pathNames = regexp.MustCompile(`\{(\w+)(?:\.\.\.)?\}`)

// operationID is a name for generators of clients, such as postApprovalsApprove.
func operationID(route Route) string {
	between := func(r rune) bool { return r == '/' || r == '-' }
	words := strings.FieldsFunc(pathNames.ReplaceAllString(route.Path, ""), between)
	if route.Method == http.MethodGet && strings.HasSuffix(route.Path, "}") {
		words = append(words, "one")
	}
	id := strings.ToLower(route.Method)
	var idSb95 strings.Builder
	for _, word := range words {
		idSb95.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	id += idSb95.String()
	return id
}

// body describes a body, which the call itself refuses if something is missing.
func (s *schemas) body(t reflect.Type) (object, error) {
	schema, err := s.object(t)
	if err == nil && schema["properties"] != nil {
		delete(schema, "required")
		schema["additionalProperties"] = false
	}
	return schema, err
}

// query describes the parameters of an address.
func (s *schemas) query(t reflect.Type) ([]object, error) {
	var list []object
	for _, f := range reflect.VisibleFields(t) {
		name := f.Tag.Get("query")
		if name == "" {
			continue
		}
		schema, err := s.of(f.Type)
		if err != nil {
			return nil, err
		}
		parameter := object{"name": name, "in": "query", "schema": schema}
		if about := f.Tag.Get("jsonschema"); about != "" {
			parameter["description"] = about
		}
		list = append(list, parameter)
	}
	slices.SortFunc(list, func(a, b object) int { return strings.Compare(fmt.Sprint(a["name"]), fmt.Sprint(b["name"])) })
	return list, nil
}
