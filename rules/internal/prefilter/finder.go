package prefilter

// A Finder finds which of many values may be in a text, in one pass over it. It is safe for concurrent use.
type Finder struct {
	literals *automaton // of the normal forms
	values   [][]int32  // of each normal form
}

// NewFinder makes a finder of values; nil if one of them is blank.
func NewFinder(values []string) *Finder {
	b := newPatterns()
	for i, value := range values {
		text := normal(value)
		if text == "" {
			return nil
		}
		b.add(text, int32(i))
	}
	literals, lists := b.build()
	return &Finder{literals, lists}
}

// Any reports whether confirm accepts one of the values that may be in the text, which it is given by their numbers.
// A value in the text is always given.
func (f *Finder) Any(text string, confirm func(value int32) bool) bool {
	seen, found := newBitset(len(f.values)), false
	f.literals.scan(appendNormal(nil, text), func(pattern int32) bool {
		if found || seen.has(pattern) {
			return false
		}
		seen.add(pattern)
		for _, value := range f.values[pattern] {
			found = found || confirm(value)
		}
		return true
	})
	return found
}

// patterns collects the patterns of an automaton, each with numbers.
type patterns struct {
	ids   map[string]int
	texts []string
	lists [][]int32
}

func newPatterns() *patterns { return &patterns{ids: map[string]int{}} }

func (b *patterns) add(text string, number int32) {
	id, known := b.ids[text]
	if !known {
		id = len(b.texts)
		b.ids[text], b.texts, b.lists = id, append(b.texts, text), append(b.lists, nil)
	}
	b.lists[id] = append(b.lists[id], number)
}

// build makes the automaton, and the numbers of each pattern.
func (b *patterns) build() (*automaton, [][]int32) { return newAutomaton(b.texts), b.lists }
