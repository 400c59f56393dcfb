package htmltext

// list reads the selectors of a list that stands within a selector.
func (s *cssSheet) list(text string, around *selectorParser, forgiving bool) (list cssList, ok bool) {
	var found []cssSelector
	depth := around.depth
	if !around.relation {
		depth++
	}
	for text := range splitSelectors(text) {
		before := s.mark()
		p := selectorParser{sheet: s, text: text, parent: around.parent, depth: depth, relation: around.relation && depth == around.depth}
		switch p.parse() {
		case selectorGood:
			if p.selector.part != 0 { // in which nothing stands
				s.reset(before)
				continue
			}
			list.specificity = max(list.specificity, p.selector.specificity)
			if !s.keep(&p, &found) {
				return list, false
			}
		case selectorTooLong:
			s.overfull = true
			return list, false
		case selectorInvalid:
			s.reset(before)
			if !forgiving {
				return list, false
			}
		}
	}
	list.first, list.count = int32(len(s.nested)), int32(len(found))
	s.nested = append(s.nested, found...)
	return list, true
}

// parent makes the selectors of a rule a list that those within it can ask about; it returns -1 if they are not valid.
func (s *cssSheet) parent(prelude string, at ruleContext) int32 {
	around := selectorParser{parent: at.parent, depth: -1}
	list, ok := s.list(prelude, &around, false)
	if !ok || list.count == 0 {
		return -1
	}
	s.lists = append(s.lists, list)
	return int32(len(s.lists) - 1)
}

const (
	maxProbes    = 64
	maxRelations = 31
)

// A cssProbe is the part of selectors that stands before "+" or "~".
type cssProbe struct {
	text     string
	parent   int32
	selector cssSelector
}

// probe returns the number of what a parser has read, as a probe. Many selectors begin with the same one.
func (s *cssSheet) probe(text string, p *selectorParser) (n int32, ok bool) {
	for i := range s.probes {
		if s.probes[i].text == text && s.probes[i].parent == p.parent {
			return int32(i), true
		}
	}
	n = int32(len(s.probes))
	if n == maxProbes {
		return 0, false
	}
	var kept []cssSelector
	if p.never || !s.keep(p, &kept) {
		return 0, false
	}
	s.asks |= asksBefore
	kept[0].rule, kept[0].probe = isProbe, uint8(n+1)
	s.probes = append(s.probes, cssProbe{text: text, parent: p.parent, selector: kept[0]})
	return n, true
}
