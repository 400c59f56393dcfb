package rules

import "github.com/postroom-go/postroom/rules/internal/prefilter"

// clueOf returns the clue of a condition, or of its opposite.
func (k *code) clueOf(n *node, opposite bool) prefilter.Clue {
	switch n.op {
	case Not:
		return k.clueOf(&n.children[0], !opposite)
	case And, Or:
		parts := make([]prefilter.Clue, len(n.children))
		for i := range n.children {
			parts[i] = k.clueOf(&n.children[i], opposite)
		}
		if (n.op == And) != opposite {
			return prefilter.All(parts)
		}
		return prefilter.Any(parts)
	}
	if opposite {
		return prefilter.Clue{}
	}
	if c := &k.atoms[n.atom].clue; !c.IsZero() {
		return *c
	}
	return prefilter.True(n.atom)
}

// clueOfRule returns the clue of the condition and the scope.
func (k *code) clueOfRule(c *compiled) prefilter.Clue {
	parts := []prefilter.Clue{k.clueOf(&c.root, false)}
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
	return prefilter.All(parts)
}

// textClue is the clue of a predicate that compares the texts of sources with values.
func (k *code) textClue(sources []int32, how Match, values []string) prefilter.Clue {
	parts := make([]prefilter.Clue, 0, len(sources)*len(values))
	for _, id := range sources {
		for _, value := range values {
			parts = append(parts, k.valueClue(id, how, value))
		}
	}
	return prefilter.Any(parts)
}

func (k *code) valueClue(id int32, how Match, value string) prefilter.Clue {
	switch how {
	case Is:
		return k.keyClue(id, value)
	case Contains:
		return prefilter.Literal(k.literalSource(id), value)
	case Wildcard:
		return prefilter.Wildcard(k.literalSource(id), value)
	default:
		return prefilter.Regex(k.literalSource(id), value)
	}
}

func (k *code) keyClue(id int32, value string) prefilter.Clue {
	src := &k.sources[id]
	if src.from == fromBody || src.from == fromBodyLine {
		return prefilter.Literal(k.literalSource(id), value)
	}
	return prefilter.Key(id, src.fold(value))
}

// literalSource is the source in which the literals of a source are looked for: the body and the body as one line have the same
// normal form.
func (k *code) literalSource(id int32) int32 {
	if k.sources[id].from == fromBodyLine {
		return k.source(textSource{from: fromBody})
	}
	return id
}

// sourceKinds returns what distinguishes the sources for the index.
func (k *code) sourceKinds() []prefilter.Source {
	kinds := make([]prefilter.Source, len(k.sources))
	for i := range k.sources {
		switch k.sources[i].from {
		case fromLabels, fromAccount:
			kinds[i] = prefilter.Shared
		case fromBody:
			kinds[i] = prefilter.Body
		default:
			kinds[i] = prefilter.Other
		}
	}
	return kinds
}
