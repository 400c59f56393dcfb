package printer

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON prints a value, indented.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// List makes a list of a list. It is never null in JSON.
func List[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}

// A JSONList prints an object with a list that is too long for memory.
type JSONList struct {
	w    io.Writer
	name string
	n    int
}

// NewJSONList makes a list that is written to w as a field of one JSON object, item by item.
func NewJSONList(w io.Writer, name string) *JSONList { return &JSONList{w: w, name: name} }

// Add writes an item.
func (l *JSONList) Add(item any) error {
	if l.n == 0 {
		if _, err := fmt.Fprintf(l.w, "{\n  %q: [\n", l.name); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(item, "    ", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.w, "%s    %s", Unless(l.n == 0, ",\n"), text)
	l.n++
	return err
}

// End ends the list and the object, which has another value.
func (l *JSONList) End(name string, value any) error {
	text, err := json.MarshalIndent(value, "  ", "  ")
	if err != nil {
		return err
	}
	begin := "\n  ],\n"
	if l.n == 0 {
		begin = fmt.Sprintf("{\n  %q: [],\n", l.name)
	}
	_, err = fmt.Fprintf(l.w, "%s  %q: %s\n}\n", begin, name, text)
	return err
}
