package prefilter

import (
	"maps"
	"slices"
)

// An Index finds the rules that may match a message without trying the others. It holds the trigger of each rule: a rule whose
// trigger is not found cannot match, and one whose trigger is found is tried.
//
// Reading the body costs by far the most, so rules with triggers in it are looked for only when all rules before the first of
// them have failed.
type Index struct {
	always   bitset // rules without a trigger
	atoms    []posting
	texts    []textIndex
	body     *textIndex // nil when no rule is found by the body
	bodyFrom int32      // the first rule that is found by it
}

// A Source is the kind of a place in a message that has texts.
type Source uint8

// The kinds.
const (
	Other  Source = iota
	Shared        // its texts are those of nearly all messages of an account
	Body          // reading it costs the most
)

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

// New makes the index of rules, by the clue of each in their order. The numbers of sources in clues are those of the list.
func New(clues []Clue, sources []Source) *Index {
	chosen := triggers(clues, sources)
	x := &Index{always: newBitset(len(chosen))}
	atoms := map[int32][]int32{}
	texts := map[int32]*textIndexer{}
	for i := range chosen {
		rule, t := int32(i), &chosen[i]
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
	for _, atom := range slices.Sorted(maps.Keys(atoms)) {
		x.atoms = append(x.atoms, posting{atom, atoms[atom]})
	}
	for _, source := range slices.Sorted(maps.Keys(texts)) {
		x.addSource(texts[source].build(source), sources[source])
	}
	return x
}

func (x *Index) addSource(t textIndex, kind Source) {
	if kind != Body {
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
