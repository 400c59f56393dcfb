package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
)

// DecodeJSON reads the JSON of a request. The shape is the type whose fields the JSON may have: that of the value,
// unless its type does not list them.
func DecodeJSON(body []byte, shape reflect.Type, into any) error {
	if reflect.TypeOf(into) == shape && decodeStrictly(body, into) == nil {
		return nil // as nearly all requests are
	}
	body, err := plainJSON(body, shape)
	if err != nil {
		return err
	}
	reflect.ValueOf(into).Elem().SetZero()
	if err := json.Unmarshal(body, into); err != nil {
		return invalidJSON(err)
	}
	return nil
}

func invalidJSON(err error) error {
	return &Error{Status: http.StatusBadRequest, Reason: "parseError",
		Message: "Invalid JSON payload received. " + err.Error()}
}

// decodeStrictly reads JSON in the form of Google's own libraries.
func decodeStrictly(body []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the object")
	}
	return nil
}

// plainJSON rewrites JSON in the form that the types of Google's library read. As at Google, label_ids is another
// spelling of labelIds, a 64-bit number may lack its quotes, and an unknown field is refused.
func plainJSON(body []byte, shape reflect.Type) ([]byte, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, invalidJSON(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, invalidJSON(errors.New("there is more after the object"))
	}
	plain, err := bindJSON(value, shape, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

// bindJSON returns the value with its fields named like those of the type. path is its position.
func bindJSON(value any, shape reflect.Type, path string) (any, error) {
	for shape.Kind() == reflect.Pointer || shape.Kind() == reflect.Slice {
		shape = shape.Elem()
	}
	switch value := value.(type) {
	case []any:
		bound := make([]any, len(value))
		for i, element := range value {
			var err error
			if bound[i], err = bindJSON(element, shape, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
			}
		}
		return bound, nil
	case map[string]any:
		return bindObject(value, shape, path)
	default:
		return value, nil
	}
}

func bindObject(object map[string]any, shape reflect.Type, path string) (any, error) {
	bound := make(map[string]any, len(object))
	for name, value := range object {
		field, ok := jsonField(shape, CamelCase(name))
		if !ok {
			return nil, unknownField(name, path)
		}
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if number, isNumber := value.(json.Number); isNumber && strings.Contains(options, "string") {
			value = number.String()
		}
		var err error
		if bound[tag], err = bindJSON(value, field.Type, strings.TrimPrefix(path+"."+tag, ".")); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// unknownField uses Google's wording.
func unknownField(name, path string) error {
	where := ""
	if path != "" {
		where = fmt.Sprintf(" at '%s'", path)
	}
	return InvalidArgument("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, where)
}

// CamelCase converts label_ids to labelIds.
func CamelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
