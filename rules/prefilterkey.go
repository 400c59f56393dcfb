package rules

import "github.com/postroom-go/postroom/rules/internal/prefilter"

// keyOf returns the prefilter key of a condition, or of its opposite.
func (k *code) keyOf(n *node, opposite bool) prefilter.Key {
	switch n.op {
	case Not:
		return k.keyOf(&n.children[0], !opposite)
	case And, Or:
		parts := make([]prefilter.Key, len(n.children))
		for i := range n.children {
			parts[i] = k.keyOf(&n.children[i], opposite)
		}
		if (n.op == And) != opposite {
			return prefilter.All(parts)
		}
		return prefilter.Any(parts)
	}
	if opposite {
		return prefilter.Key{}
	}
	if c := &k.atoms[n.atom].key; !c.IsZero() {
		return *c
	}
	return prefilter.True(n.atom)
}

// keyOfRule returns the key of the condition and the scope.
func (c *compiler) keyOfRule(k *code, r *Rule, root *node) prefilter.Key {
	parts := []prefilter.Key{k.keyOf(root, false)}
	switch scope, ref := c.scope(r); scope {
	case ScopeDomain:
		parts = append(parts, k.wholeKey(k.source(addressSource(inFrom, PartDomain)), ref))
	case ScopeSender:
		parts = append(parts, k.wholeKey(k.source(addressSource(inFrom, PartAddress)), ref))
	case ScopeAccount:
		parts = append(parts, k.wholeKey(k.source(textSource{from: fromAccount}), ref))
	case ScopeGlobal:
	}
	return prefilter.All(parts)
}

// Senders returns the addresses of which one sent each message that the rule matches, in the form in which addresses
// are compared; false if anyone may have sent it, or the condition has a fault.
func (r *Rule) Senders() (addresses []string, ok bool) {
	k := newCode()
	root, faults := k.compileTree(r.Condition)
	if len(faults) > 0 {
		return nil, false
	}
	key := new(compiler).keyOfRule(k, r, &root)
	return key.Wholes(k.source(addressSource(inFrom, PartAddress)))
}

// textKey is the key of a predicate that compares the texts of sources with values.
func (k *code) textKey(sources []int32, how Match, values []string) prefilter.Key {
	parts := make([]prefilter.Key, 0, len(sources)*len(values))
	for _, id := range sources {
		for _, value := range values {
			parts = append(parts, k.valueKey(id, how, value))
		}
	}
	return prefilter.Any(parts)
}

func (k *code) valueKey(id int32, how Match, value string) prefilter.Key {
	switch how {
	case Is:
		return k.wholeKey(id, value)
	case Contains:
		return prefilter.Literal(k.literalSource(id), value)
	case Wildcard:
		return prefilter.Wildcard(k.literalSource(id), value)
	default:
		return prefilter.Regex(k.literalSource(id), value)
	}
}

func (k *code) wholeKey(id int32, value string) prefilter.Key {
	src := &k.sources[id]
	if src.from == fromBody || src.from == fromBodyLine {
		return prefilter.Literal(k.literalSource(id), value)
	}
	return prefilter.Whole(id, src.fold(value))
}

// literalSource is the source in which the literals of a source are looked for: the body and the body as one line
// have the same normal form.
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
