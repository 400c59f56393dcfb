package webapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// readQuery reads the parameters of an address into a struct. It refuses those that the struct does not have: a
// mistyped filter would select everything.
func readQuery(r *http.Request, into any) error {
	fields := map[string]reflect.Value{}
	addQueryFields(fields, reflect.ValueOf(into).Elem())
	for name, values := range r.URL.Query() {
		field, known := fields[name]
		var err error
		switch {
		case !known:
			err = fmt.Errorf("there is no parameter %q", name)
		case len(values) > 1:
			err = fmt.Errorf("the parameter %s is given %d times", name, len(values))
		default:
			err = setField(field, name, values[0])
		}
		if err != nil {
			return WithStatus(http.StatusBadRequest, err)
		}
	}
	return nil
}

// addQueryFields adds the fields with a tag query, those of embedded structs included.
func addQueryFields(to map[string]reflect.Value, v reflect.Value) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name := f.Tag.Get("query"); name != "" {
			to[name] = v.FieldByIndex(f.Index)
		}
	}
}

func setField(field reflect.Value, name, text string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("%s is a whole number, and %q is none", name, text)
		}
		field.SetInt(n)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s is true or false, and %q is neither", name, text)
		}
		field.SetBool(b)
	default:
		return fmt.Errorf("%s cannot be given in an address", strings.ToLower(name))
	}
	return nil
}
