// Package jsondiff finds where two payloads differ.
package jsondiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// First names the first place in which two payloads differ and, unless hidden, their values there.
func First(held, given []byte, hidden bool) string {
	a, errA := decodeAny(held)
	b, errB := decodeAny(given)
	if errA != nil || errB != nil {
		return "the payloads differ"
	}
	path, x, y := firstDifference("payload", a, b)
	if path == "" {
		return "the payloads differ only in how they are written"
	}
	if hidden {
		return cut(path, maxPath) + " is another there"
	}
	return fmt.Sprintf("%s is %s there, %s here", cut(path, maxPath), brief(x), brief(y))
}

func decodeAny(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// absent represents a member or an element that one side lacks.
type absent struct{}

// firstDifference returns an empty path for values that are the same. Members are gone through in the order of their
// names.
func firstDifference(path string, a, b any) (where string, x, y any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return differentMember(path, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return differentElement(path, a, b)
		}
	}
	if reflect.DeepEqual(a, b) {
		return "", nil, nil
	}
	return path, a, b
}

func differentMember(path string, a, b map[string]any) (where string, x, y any) {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if where, x, y = firstDifference(path+"."+name, member(a, name), member(b, name)); where != "" {
			return where, x, y
		}
	}
	return "", nil, nil
}

func member(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	return absent{}
}

func differentElement(path string, a, b []any) (where string, x, y any) {
	for i := range max(len(a), len(b)) {
		if where, x, y = firstDifference(fmt.Sprintf("%s[%d]", path, i), element(a, i), element(b, i)); where != "" {
			return where, x, y
		}
	}
	return "", nil, nil
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

// An error shows this many characters of a value and of its path.
const (
	maxBrief = 80
	maxPath  = 200
)

func brief(v any) string {
	if v == (any)(absent{}) {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("a %T", v)
	}
	return cut(string(text), maxBrief)
}

// cut shortens text to so many characters.
func cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
