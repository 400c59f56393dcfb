package prefilter

import (
	"maps"
	"slices"
)

// An Index finds the rules that may match a message without trying the others. It holds the index key of each rule: a
// rule whose index key is not found cannot match, and one whose index key is found is tried.
//
// Reading the body costs by far the most, so rules with index keys in it are looked for only when all rules before the
// first of them have failed.
type Index struct {
	always   bitset // rules without an index key
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
	whole    map[string][]int32 // rules that want the whole text
	literals *automaton         // nil when there are none
	rules    [][]int32          // of each pattern of literals
}

// New makes the index of rules, by the key of each in their order. The numbers of sources in keys are those of the
// list.
func New(keys []Key, sources []Source) *Index {
	chosen := indexKeys(keys, sources)
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
		for _, one := range t.whole {
			whole := indexerOf(texts, one.source).whole
			whole[one.text] = append(whole[one.text], rule)
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
	whole    map[string][]int32
	literals *patterns
}

func indexerOf(all map[int32]*textIndexer, source int32) *textIndexer {
	if all[source] == nil {
		all[source] = &textIndexer{whole: map[string][]int32{}, literals: newPatterns()}
	}
	return all[source]
}

func (b *textIndexer) build(source int32) textIndex {
	t := textIndex{source: source, present: b.present, whole: b.whole}
	if len(b.literals.texts) > 0 {
		t.literals, t.rules = b.literals.build()
	}
	return t
}
