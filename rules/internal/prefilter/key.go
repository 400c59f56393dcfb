package prefilter

// A Key is what the index can look for to find a condition. It holds in every message that matches the condition:
//
//   - one of a single text, source or atom holds if that is found;
//   - one of [All] holds if all parts do, so that looking for any one of them is enough;
//   - one of [Any] holds if some part does, so that all of them have to be looked for.
//
// The zero Key means that there is nothing to look for.
type Key struct {
	op    op
	parts []Key
	needle
}

type op uint8

const (
	single op = iota
	allOf
	anyOf
)

// A needle is a unit that the index can look for.
type needle struct {
	kind needleKind
	id   int32  // of the source, or of the atom
	text string // of a key, in the form in which case does not count, or of a literal, in its normal form
}

type needleKind uint8

const (
	noNeedle  needleKind = iota
	aWhole               // a whole text of the source
	aLiteral             // a part of a text of the source
	anyText              // the source is not empty
	aTrueAtom            // the atom is true
)

// IsZero reports whether there is nothing to look for.
func (c *Key) IsZero() bool { return c.op == single && c.kind == noNeedle }

// All is the key of a conjunction of the parts; a part without a key is ignored.
func All(parts []Key) Key {
	known := make([]Key, 0, len(parts))
	for _, part := range parts {
		if !part.IsZero() {
			known = append(known, part)
		}
	}
	return join(allOf, known)
}

// Any is the key of alternatives. If one has no key, there is nothing to look for.
func Any(parts []Key) Key {
	for i := range parts {
		if parts[i].IsZero() {
			return Key{}
		}
	}
	return join(anyOf, parts)
}

func join(how op, parts []Key) Key {
	switch len(parts) {
	case 0:
		return Key{}
	case 1:
		return parts[0]
	}
	return Key{op: how, parts: parts}
}

// eachNeedle calls yield with everything that the key speaks of.
func (c *Key) eachNeedle(yield func(n needle)) {
	if c.kind != noNeedle {
		yield(c.needle)
	}
	for i := range c.parts {
		c.parts[i].eachNeedle(yield)
	}
}

// Wholes returns the texts of which one is a whole text of the source wherever the condition matches; false if the key
// does not say.
func (c *Key) Wholes(source int32) (texts []string, ok bool) {
	if c.op == single {
		return []string{c.text}, c.kind == aWhole && c.id == source
	}
	for i := range c.parts {
		more, known := c.parts[i].Wholes(source)
		switch {
		case c.op == allOf && known:
			return more, true
		case c.op == anyOf && !known:
			return nil, false
		case known:
			texts = append(texts, more...)
		}
	}
	return texts, c.op == anyOf
}

// Whole is the key of a condition that matches only if a whole text of the source is the given one, in the form in
// which case does not count.
func Whole(source int32, text string) Key { return Key{needle: needle{aWhole, source, text}} }

// Present is the key of a condition that matches only if the source has a text.
func Present(source int32) Key { return Key{needle: needle{kind: anyText, id: source}} }

// True is the key of a condition that matches only if the atom is true.
func True(atom int32) Key { return Key{needle: needle{kind: aTrueAtom, id: atom}} }
