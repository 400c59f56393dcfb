package mime

import "strings"

// Raw returns the raw value for splitting, so that no encoded-word becomes syntax. A field that a program made has
// only its Value.
func (f *Field) Raw() string {
	if f.raw == "" {
		return f.Value
	}
	return f.raw
}

// Each calls yield with every field of the name.
func (h Header) Each(name string, yield func(f *Field)) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			yield(&h[i])
		}
	}
}
