package prefilter

// A Message has the texts of sources, and the truth of atoms.
type Message interface {
	// True reports whether an atom is true.
	True(atom int32) bool
	// Texts returns the texts of a source.
	Texts(source int32) []string
	// FoldedTexts returns the texts of a source in the form in which case does not count.
	FoldedTexts(source int32) []string
}

// A Search finds the candidates among the rules of an index for one message. It may be used again for another
// message, and is not safe for concurrent use.
type Search struct {
	candidates bitset
	withBody   bool

	text []byte // the normal form of a text
	seen bitset // patterns of one source
}

// Start adds all candidates but those that are found by the body alone.
func (s *Search) Start(x *Index, m Message) {
	s.candidates = append(s.candidates[:0], x.always...)
	s.withBody = false
	for i := range x.atoms {
		if m.True(x.atoms[i].atom) {
			s.candidates.addAll(x.atoms[i].rules)
		}
	}
	for i := range x.texts {
		s.find(&x.texts[i], m)
	}
}

// find adds the rules that are found by the texts of a source.
func (s *Search) find(t *textIndex, m Message) {
	texts := m.Texts(t.source)
	if len(texts) == 0 {
		return
	}
	s.candidates.addAll(t.present)
	if len(t.whole) > 0 {
		for _, text := range m.FoldedTexts(t.source) {
			s.candidates.addAll(t.whole[text])
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

// Next returns the first candidate from a rule on; -1 if there is none. The index and the message are those of Start.
func (s *Search) Next(x *Index, m Message, from int32) int32 {
	found := s.candidates.next(from)
	if x.body == nil || s.withBody || found >= 0 && found < x.bodyFrom {
		return found
	}
	s.withBody = true
	s.find(x.body, m)
	return s.candidates.next(from)
}
