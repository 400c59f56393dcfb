// Package fields checks the fields of Config structs, so that a missing field is an error at construction and not a
// panic at its use.
package fields

import (
	"fmt"
	"reflect"
)

// Required returns an error if value is nil, or an interface that holds a nil pointer or function. The error names
// the field, such as "rules: Config.Messages", and a valid value, such as "the store of messages, such as a
// *mailstore.Store".
func Required[T any](field string, value T, give string) error {
	if is := nothing(value); is != "" {
		return fmt.Errorf("%s %s; it is required: give %s", field, is, give)
	}
	return nil
}

// Optional returns an error if value is an interface that holds a nil pointer or function: such a value is not nil,
// and calling it panics. A nil interface is valid.
func Optional[T any](field string, value T) error {
	if is := nothing(value); is != "" && reflect.TypeFor[T]().Kind() == reflect.Interface && any(value) != nil {
		return fmt.Errorf("%s %s; give one that is not nil, or leave the field nil", field, is)
	}
	return nil
}

// Same returns an error if a field, such as "rules: Config.Kinds", has another value than the part in another field,
// such as "Config.Ledger", works with: each would refuse, or overlook, what the other does.
func Same[T comparable](field string, value T, part string, its T) error {
	if value == its {
		return nil
	}
	return fmt.Errorf("%s is another than that of %s; give both the same", field, part)
}

// nothing describes in which way value is nil; empty if it is not.
func nothing[T any](value T) string {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return "is nil"
	case reflect.Pointer, reflect.Func:
		if !v.IsNil() {
			return ""
		}
		if reflect.TypeFor[T]().Kind() == reflect.Interface {
			return fmt.Sprintf("holds a nil %T", value)
		}
		return "is nil"
	default:
		return ""
	}
}
