package rules

import "github.com/postroom-go/postroom/rules/internal/prefilter"

// A predicateTest reports whether a message matches one predicate.
type predicateTest func(v *view) bool

// A predicate is a compiled one of a condition: it tests one property of a message.
type predicate struct {
	test    predicateTest
	key     prefilter.Key // until the index has been made
	sender  bool          // it tests the sender
	needs   need          // what it must know of other mail
	body    bool          // it reads the texts of the message
	explain func(v *view) string
}

// A node is a compiled condition. Equal predicates are one atom, which is tested once for a message.
type node struct {
	op       Op
	children []node
	atom     int32 // of a predicate
}

// A code is shared by the conditions that are compiled together.
type code struct {
	sources []textSource
	atoms   []predicate

	sourceIDs map[textSource]int32
	atomIDs   map[string]int32
}

func newCode() *code {
	return &code{sourceIDs: map[textSource]int32{}, atomIDs: map[string]int32{}}
}

// source returns the number of a source.
func (k *code) source(s textSource) int32 {
	id, known := k.sourceIDs[s]
	if !known {
		id = int32(len(k.sources))
		k.sources, k.sourceIDs[s] = append(k.sources, s), id
	}
	return id
}

// atom returns the number of a predicate, which key identifies.
func (k *code) atom(key string, l predicate) int32 {
	k.atoms = append(k.atoms, l)
	k.atomIDs[key] = int32(len(k.atoms) - 1)
	return k.atomIDs[key]
}

// forget frees what only compiling needs.
func (k *code) forget() {
	k.sourceIDs, k.atomIDs = nil, nil
	for i := range k.atoms {
		k.atoms[i].key = prefilter.Key{}
	}
}

// The results of atoms.
const (
	untested uint8 = iota
	isFalse
	isTrue
)

// True reports whether the message matches the predicate.
func (v *view) True(id int32) bool {
	if v.results[id] == untested {
		v.results[id] = isFalse
		if v.code.atoms[id].test(v) {
			v.results[id] = isTrue
		}
	}
	return v.results[id] == isTrue
}

// match reports whether the message matches the condition. It stops early, left to right.
func (n *node) match(v *view) bool {
	switch n.op {
	case And:
		for i := range n.children {
			if !n.children[i].match(v) {
				return false
			}
		}
		return true
	case Or:
		for i := range n.children {
			if n.children[i].match(v) {
				return true
			}
		}
		return false
	case Not:
		return !n.children[0].match(v)
	default:
		return v.True(n.atom)
	}
}

// any reports whether a predicate of the condition has the property.
func (n *node) any(k *code, has func(*predicate) bool) bool {
	if n.op == "" {
		return has(&k.atoms[n.atom])
	}
	for i := range n.children {
		if n.children[i].any(k, has) {
			return true
		}
	}
	return false
}
