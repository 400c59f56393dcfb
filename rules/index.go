package rules

import "math/bits"

// An index finds the rules that may match a message without trying the others. It holds the trigger of each rule: a rule whose
// trigger is not found cannot match, and one whose trigger is found is tried.
//
// Reading the body costs by far the most, so rules with triggers in it are looked for only when all rules before the first of
// them have failed.
type index struct {
	always   bitset // rules without a trigger
	atoms    []posting
	texts    []textIndex
	body     *textIndex // nil when no rule is found by the body
	bodyFrom int32      // the first rule that is found by it
}

// A posting lists the rules that an atom makes worth trying.
type posting struct {
	atom  int32
	rules []int32
}

// A textIndex finds rules by the texts of a source.
type textIndex struct {
	source   int32
	present  []int32            // rules that want any text
	keys     map[string][]int32 // rules that want the whole text
	literals *automaton         // nil when there are none
	rules    [][]int32          // of each pattern of literals
}

// newIndex makes the index of rules, by the trigger of each in their order.
func newIndex(k *code, triggers []trigger) *index {
	x := &index{always: newBitset(len(triggers))}
	atoms := map[int32][]int32{}
	texts := map[int32]*textIndexer{}
	for i := range triggers {
		rule, t := int32(i), &triggers[i]
		if t.isZero() {
			x.always.add(rule)
		}
		for _, atom := range t.atoms {
			atoms[atom] = append(atoms[atom], rule)
		}
		for _, source := range t.present {
			indexerOf(texts, source).present = append(indexerOf(texts, source).present, rule)
		}
		for _, key := range t.keys {
			keys := indexerOf(texts, key.source).keys
			keys[key.text] = append(keys[key.text], rule)
		}
		for _, literal := range t.literals {
			indexerOf(texts, literal.source).literals.add(literal.text, rule)
		}
	}
	for atom := range int32(len(k.atoms)) {
		if list := atoms[atom]; list != nil {
			x.atoms = append(x.atoms, posting{atom, list})
		}
	}
	for source := range int32(len(k.sources)) {
		if b := texts[source]; b != nil {
			x.addSource(k, b.build(source))
		}
	}
	return x
}

func (x *index) addSource(k *code, t textIndex) {
	if k.sources[t.source].from != fromBody {
		x.texts = append(x.texts, t)
		return
	}
	x.body = &t
	x.bodyFrom = t.rules[0][0]
	for _, list := range t.rules {
		x.bodyFrom = min(x.bodyFrom, list[0])
	}
}

// A textIndexer makes a textIndex.
type textIndexer struct {
	present  []int32
	keys     map[string][]int32
	literals *patterns
}

func indexerOf(all map[int32]*textIndexer, source int32) *textIndexer {
	if all[source] == nil {
		all[source] = &textIndexer{keys: map[string][]int32{}, literals: newPatterns()}
	}
	return all[source]
}

func (b *textIndexer) build(source int32) textIndex {
	t := textIndex{source: source, present: b.present, keys: b.keys}
	if len(b.literals.texts) > 0 {
		t.literals, t.rules = b.literals.build()
	}
	return t
}

// A search finds the candidates among the rules of a set for one message. It is used again for the next one.
type search struct {
	view       view
	candidates bitset
	withBody   bool

	text []byte // the normal form of a text
	seen bitset // patterns of one source
}

// start adds all candidates but those that are found by the body alone.
func (s *search) start(x *index) {
	s.candidates = append(s.candidates[:0], x.always...)
	s.withBody = false
	for i := range x.atoms {
		if s.view.atom(x.atoms[i].atom) {
			s.candidates.addAll(x.atoms[i].rules)
		}
	}
	for i := range x.texts {
		s.find(&x.texts[i])
	}
}

// find adds the rules that are found by the texts of a source.
func (s *search) find(t *textIndex) {
	texts := s.view.texts(t.source)
	if len(texts) == 0 {
		return
	}
	s.candidates.addAll(t.present)
	if len(t.keys) > 0 {
		for _, text := range s.view.foldedTexts(t.source) {
			s.candidates.addAll(t.keys[text])
		}
	}
	if t.literals == nil {
		return
	}
	s.seen = resized(s.seen, len(t.rules))
	for _, text := range texts {
		s.text = appendNormal(s.text[:0], text)
		t.literals.scan(s.text, func(pattern int32) bool {
			if s.seen.has(pattern) {
				return false
			}
			s.seen.add(pattern)
			s.candidates.addAll(t.rules[pattern])
			return true
		})
	}
}

func resized(b bitset, size int) bitset {
	words := (size + 63) / 64
	if cap(b) < words {
		return newBitset(size)
	}
	b = b[:words]
	clear(b)
	return b
}

// next returns the first candidate from a rule on; -1 if there is none.
func (s *search) next(x *index, from int32) int32 {
	found := s.candidates.next(from)
	if x.body == nil || s.withBody || found >= 0 && found < x.bodyFrom {
		return found
	}
	s.withBody = true
	s.find(x.body)
	return s.candidates.next(from)
}

// next returns the first number of the set from one on; -1 if there is none.
func (b bitset) next(from int32) int32 {
	word := int(from / 64)
	if word >= len(b) {
		return -1
	}
	rest := b[word] >> (from % 64) << (from % 64)
	for rest == 0 {
		if word++; word == len(b) {
			return -1
		}
		rest = b[word]
	}
	return int32(word*64 + bits.TrailingZeros64(rest))
}
