package sqlite

import "encoding/json"

// list is a list of values as a statement's argument, read there with json_each.
func list[V ~string | int64](values []V) string {
	if len(values) == 0 {
		return "[]"
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // such values always marshal
	}
	return string(b)
}
