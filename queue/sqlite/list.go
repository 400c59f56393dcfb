package sqlite

import "encoding/json"

// list is a list of strings as a statement's argument, read there with json_each.
func list[S ~string](values []S) string {
	if len(values) == 0 {
		return "[]"
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}
