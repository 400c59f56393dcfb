// Package fields checks the fields of Config structs, so that a missing one is an error at construction and not a panic
// when it is used.
package fields

import (
	"fmt"
	"reflect"
)

// Required returns an error when value is nil, or an interface that holds a nil pointer or function. The error names the
// field, as "rules: Config.Messages", and says what to give, as "the store of messages, such as a *gmail.Store".
func Required[T any](field string, value T, give string) error {
	if is := nothing(value); is != "" {
		return fmt.Errorf("%s %s; it is required: give %s", field, is, give)
	}
	return nil
}

// Optional returns an error when value is an interface that holds a nil pointer or function: such a value is not nil, and
// calling it panics. A nil interface is no error.
func Optional[T any](field string, value T) error {
	if is := nothing(value); is != "" && reflect.TypeFor[T]().Kind() == reflect.Interface && any(value) != nil {
		return fmt.Errorf("%s %s; give one that is not nil, or leave the field nil", field, is)
	}
	return nil
}

// nothing says in which way value is nil; empty when it is not.
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
