package rules

// A clue is what the index can look for to find a condition. The clue holds in every message that matches the condition:
//
//   - one with a needle holds if the needle is found;
//   - one of [And] holds if all parts do, so that looking for any one of them is enough;
//   - one of [Or] holds if some part does, so that all of them have to be looked for.
//
// The zero clue means that there is nothing to look for.
type clue struct {
	op    Op
	parts []clue
	needle
}

// A needle is a unit that the index can look for.
type needle struct {
	kind needleKind
	id   int32  // of the source, or of the atom
	text string // of a key, in the form in which case does not count, or of a literal, in its normal form
}

type needleKind uint8

const (
	noNeedle  needleKind = iota
	aKey                 // a whole text of the source
	aLiteral             // a part of a text of the source
	anyText              // the source is not empty
	aTrueAtom            // the atom is true
)

func (c *clue) isZero() bool { return c.op == "" && c.kind == noNeedle }

// allClues is the clue of a conjunction of the parts; a part without a clue is ignored.
func allClues(parts []clue) clue {
	known := make([]clue, 0, len(parts))
	for _, part := range parts {
		if !part.isZero() {
			known = append(known, part)
		}
	}
	return joinedClue(And, known)
}

// anyClue is the clue of alternatives. One without a clue leaves nothing to look for.
func anyClue(parts []clue) clue {
	for i := range parts {
		if parts[i].isZero() {
			return clue{}
		}
	}
	return joinedClue(Or, parts)
}

func joinedClue(op Op, parts []clue) clue {
	switch len(parts) {
	case 0:
		return clue{}
	case 1:
		return parts[0]
	}
	return clue{op: op, parts: parts}
}

// eachNeedle calls yield with everything that the clue speaks of.
func (c *clue) eachNeedle(yield func(n needle)) {
	if c.kind != noNeedle {
		yield(c.needle)
	}
	for i := range c.parts {
		c.parts[i].eachNeedle(yield)
	}
}

// clueOf returns the clue of a condition, or of its opposite.
func (k *code) clueOf(n *node, opposite bool) clue {
	switch n.op {
	case Not:
		return k.clueOf(&n.children[0], !opposite)
	case And, Or:
		parts := make([]clue, len(n.children))
		for i := range n.children {
			parts[i] = k.clueOf(&n.children[i], opposite)
		}
		if (n.op == And) != opposite {
			return allClues(parts)
		}
		return anyClue(parts)
	}
	if opposite {
		return clue{}
	}
	if c := &k.atoms[n.atom].clue; !c.isZero() {
		return *c
	}
	return clue{needle: needle{kind: aTrueAtom, id: n.atom}}
}

// clueOfRule returns the clue of the condition and the scope.
func (k *code) clueOfRule(c *compiled) clue {
	parts := []clue{k.clueOf(&c.root, false)}
	switch r := &c.rule; r.Scope {
	case ScopeDomain:
		parts = append(parts, k.keyClue(k.source(addressSource(inFrom, PartDomain)), r.ScopeRef))
	case ScopeSender:
		parts = append(parts, k.keyClue(k.source(addressSource(inFrom, PartAddress)), r.ScopeRef))
	case ScopeAccount:
		parts = append(parts, k.keyClue(k.source(textSource{from: fromAccount}), r.ScopeRef))
	case ScopeGlobal:
		if r.AccountID != "" {
			parts = append(parts, k.keyClue(k.source(textSource{from: fromAccount}), r.AccountID))
		}
	}
	return allClues(parts)
}

// textClue is the clue of a leaf that compares the texts of sources with values.
func (k *code) textClue(sources []int32, how Match, values []string) clue {
	parts := make([]clue, 0, len(sources)*len(values))
	for _, id := range sources {
		for _, value := range values {
			parts = append(parts, k.valueClue(id, how, value))
		}
	}
	return anyClue(parts)
}

func (k *code) valueClue(id int32, how Match, value string) clue {
	switch how {
	case Is:
		return k.keyClue(id, value)
	case Contains:
		return literalClue(k.literalSource(id), value)
	case Wildcard:
		return wildcardClue(k.literalSource(id), value)
	default:
		return regexClue(k.literalSource(id), value)
	}
}

func (k *code) keyClue(id int32, value string) clue {
	src := &k.sources[id]
	if src.from == fromBody || src.from == fromBodyLine {
		return literalClue(k.literalSource(id), value)
	}
	return clue{needle: needle{aKey, id, src.fold(value)}}
}

// literalSource is the source in which the literals of a source are looked for: the body and the body as one line have the same
// normal form.
func (k *code) literalSource(id int32) int32 {
	if k.sources[id].from == fromBodyLine {
		return k.source(textSource{from: fromBody})
	}
	return id
}
