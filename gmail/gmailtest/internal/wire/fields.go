package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
)

// A Mask selects fields of a response, like the parameter fields: "id,payload(headers/name,parts/*)". A field with an
// empty mask is returned whole; "*" is every field. A nil mask selects everything.
type Mask map[string]Mask

// maxMaskDepth bounds nested brackets.
const maxMaskDepth = 20

func invalidFields(selection string) error {
	return &Error{Status: http.StatusBadRequest, Reason: "invalidParameter",
		Message: "Invalid field selection " + selection}
}

// ParseMask parses fields. It returns nil for an empty string. The last argument is a pointer to the type of the
// response.
func ParseMask(fields string, answer any) (Mask, error) {
	if fields == "" || answer == nil {
		return nil, nil
	}
	p := maskParser{rest: fields}
	m, ok := p.list(0)
	if !ok || p.rest != "" {
		return nil, invalidFields(fields)
	}
	return m, m.check(reflect.TypeOf(answer))
}

type maskParser struct{ rest string }

// list reads selections with commas between.
func (p *maskParser) list(depth int) (Mask, bool) {
	m := Mask{}
	for {
		if !p.selection(m, depth) {
			return nil, false
		}
		var more bool
		if p.rest, more = strings.CutPrefix(p.rest, ","); !more {
			return m, true
		}
	}
}

// selection reads a/b/c or a/b(c,d) into the mask.
func (p *maskParser) selection(m Mask, depth int) bool {
	name := p.name()
	if name == "" || depth > maxMaskDepth {
		return false
	}
	var inner Mask
	ok := true
	switch {
	case strings.HasPrefix(p.rest, "/"):
		p.rest = p.rest[1:]
		inner = Mask{}
		ok = p.selection(inner, depth+1)
	case strings.HasPrefix(p.rest, "("):
		p.rest = p.rest[1:]
		if inner, ok = p.list(depth + 1); ok {
			p.rest, ok = strings.CutPrefix(p.rest, ")")
		}
	}
	if !ok {
		return false
	}
	m.join(name, inner)
	return true
}

func (p *maskParser) name() string {
	p.rest = strings.TrimLeft(p.rest, " ")
	end := strings.IndexAny(p.rest, ",/() ")
	if end < 0 {
		end = len(p.rest)
	}
	name := p.rest[:end]
	p.rest = strings.TrimLeft(p.rest[end:], " ")
	return name
}

// join adds a field. A field that is selected as a whole stays so.
func (m Mask) join(name string, inner Mask) {
	there, known := m[name]
	switch {
	case !known:
		m[name] = inner
	case len(there) == 0 || len(inner) == 0:
		m[name] = nil
	default:
		for field, deeper := range inner {
			there.join(field, deeper)
		}
	}
}

// check refuses fields that the type does not have.
func (m Mask) check(t reflect.Type) error {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for name, inner := range m {
		if name == "*" {
			continue
		}
		field, ok := jsonField(t, name)
		if !ok {
			return invalidFields(name)
		}
		if err := inner.check(field.Type); err != nil {
			return err
		}
	}
	return nil
}

func jsonField(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name && tag != "-" {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// marshal returns the JSON of the selected fields of a response.
func (m Mask) marshal(answer any) ([]byte, error) {
	text, err := json.Marshal(answer)
	if err != nil || m == nil {
		return text, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(m.choose(value))
}

// choose removes the fields of a value that are not selected. It applies the mask to each element of a list.
func (m Mask) choose(value any) any {
	if len(m) == 0 {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		chosen := make(map[string]any, len(m))
		for name, inner := range value {
			// A field may be named by itself and by the star.
			if deeper, named := m[name]; named {
				chosen[name] = deeper.choose(inner)
			} else if deeper, all := m["*"]; all {
				chosen[name] = deeper.choose(inner)
			}
		}
		return chosen
	case []any:
		chosen := make([]any, len(value))
		for i, element := range value {
			chosen[i] = m.choose(element)
		}
		return chosen
	default:
		return value
	}
}
