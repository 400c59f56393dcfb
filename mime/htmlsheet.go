package mime

import (
	"slices"
	"strings"
)

// A cssSheet holds the rules of all style elements of a page, indexed by what their selectors ask of the element itself.
type cssSheet struct {
	quirks    bool
	decls     []cssDecl
	rules     []cssRule
	selectors []cssSelector
	simples   []cssSimple
	scratch   []cssSimple
	// buckets hold the first selector for each hash of an id, class or element name; -1 for none.
	buckets   []int32
	universal []int32
	// asksSiblings reports whether a selector is about the element before another.
	asksSiblings bool
	// room is how many tests may still be kept. Sheets that hold more are cut, and overfull says so.
	room     int
	overfull bool
}

type cssRule struct{ first, count int32 }

// maxNesting is how deep at-rules are read within each other.
const maxNesting = 8

// add reads a sheet.
func (s *cssSheet) add(text string) {
	if strings.Contains(text, "/*") {
		text = removeCSSComments(text)
	}
	if s.decls == nil { // about what a usual sheet needs
		s.decls = make([]cssDecl, 0, 8+len(text)/64)
		s.selectors = make([]cssSelector, 0, 8+len(text)/128)
		s.simples = make([]cssSimple, 0, 8+len(text)/128)
	}
	s.read(text, 0)
}

func (s *cssSheet) read(text string, depth int) {
	for {
		text = trimSheet(text)
		if text == "" {
			return
		}
		end := preludeEnd(text)
		prelude := text[:end]
		if end == len(text) {
			return
		}
		if text[end] == ';' { // as of @import and @charset, which bring nothing
			text = text[end+1:]
			continue
		}
		length := blockLength(text[end:])
		content := strings.TrimSuffix(text[end+1:end+length], "}")
		text = text[end+length:]
		if !strings.HasPrefix(prelude, "@") {
			s.rule(prelude, content)
		} else if depth < maxNesting && atRuleApplies(prelude) {
			s.read(content, depth+1)
		}
	}
}

func trimSheet(text string) string {
	for {
		before := len(text)
		text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimLeft(text, " \t\r\n\f"), "<!--"), "-->")
		if len(text) == before {
			return text
		}
	}
}

// preludeEnd is the offset of what ends the part before a block: its brace, or the semicolon of an at-rule without one.
func preludeEnd(text string) int {
	for i := 0; i < len(text); i++ {
		if !isCSSMark[text[i]] {
			continue
		}
		switch text[i] {
		case '{':
			return i
		case ';':
			if text[0] == '@' {
				return i
			}
		case '\\':
			i++
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		}
	}
	return len(text)
}

// blockLength is the length of a block with its braces; one that is not closed ends with the text.
func blockLength(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		if !isCSSMark[text[i]] {
			continue
		}
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			i++
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		}
	}
	return len(text)
}

// rule keeps a rule, unless it has nothing to say about what is seen, or one of its selectors is not valid.
func (s *cssSheet) rule(prelude, content string) {
	first := len(s.decls)
	s.decls = parseDeclarations(content, s.quirks, s.decls)
	if len(s.decls) == first {
		return
	}
	selectors, simples := len(s.selectors), len(s.simples)
	number := int32(len(s.rules))
	for text := range splitSelectors(prelude) {
		p := selectorParser{text: text, parsed: s.scratch[:0]}
		fault := p.parse()
		s.scratch = p.parsed
		switch fault {
		case selectorGood:
			s.keep(&p, number)
		case selectorTooLong:
			s.overfull = true
		case selectorInvalid:
			s.decls, s.selectors, s.simples = s.decls[:first], s.selectors[:selectors], s.simples[:simples]
			return
		}
	}
	if len(s.selectors) == selectors {
		s.decls = s.decls[:first]
		return
	}
	s.rules = append(s.rules, cssRule{int32(first), int32(len(s.decls) - first)})
}

// splitSelectors yields the selectors of a list.
func splitSelectors(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		begin := 0
		for i := 0; i < len(list); i++ {
			switch list[i] {
			case ',':
				if !yield(list[begin:i]) {
					return
				}
				begin = i + 1
			case '(':
				i += bracketLength(list[i:]) - 1
			case '\\':
				i++
			case '"', '\'':
				i += quotedLength(list[i:]) - 1
			}
		}
		yield(list[min(begin, len(list)):])
	}
}

// keep stores a selector with its compounds turned round.
func (s *cssSheet) keep(p *selectorParser, rule int32) {
	const selectorCost = 2 // a selector takes about as much memory as that many tests
	if s.room -= len(p.parsed) + selectorCost; s.room < 0 {
		s.overfull = true
		return
	}
	selector := p.selector
	selector.rule, selector.next = rule, -1
	selector.first, selector.count = int32(len(s.simples)), int32(len(p.parsed))
	end := len(p.parsed)
	for i := len(p.parsed) - 1; i >= 0; i-- {
		if p.parsed[i].isStep() {
			s.asksSiblings = s.asksSiblings || p.parsed[i].kind == toSibling
			s.simples = append(s.simples, p.parsed[i+1:end]...)
			s.simples = append(s.simples, p.parsed[i])
			end = i
		}
	}
	s.simples = append(s.simples, p.parsed[:end]...)
	s.selectors = append(s.selectors, selector)
}

// index makes the buckets, once all sheets are read.
func (s *cssSheet) index() {
	size := 16
	for size < len(s.selectors) {
		size *= 2
	}
	s.buckets = make([]int32, size)
	for i := range s.buckets {
		s.buckets[i] = -1
	}
	for i := range s.selectors {
		selector := &s.selectors[i]
		mark, name := s.key(selector)
		if name == "" {
			s.universal = append(s.universal, int32(i))
			continue
		}
		bucket := s.bucket(mark, name)
		selector.next = s.buckets[bucket]
		s.buckets[bucket] = int32(i)
	}
}

// key is the test on the element itself that the fewest elements pass.
func (s *cssSheet) key(selector *cssSelector) (mark byte, name string) {
	for _, test := range s.simples[selector.first : selector.first+selector.count] {
		if test.isStep() {
			break
		}
		switch {
		case test.negated:
		case test.kind == simpleID:
			return '#', test.name
		case test.kind == simpleClass:
			mark, name = '.', test.name
		case test.kind == simpleTag && mark == 0:
			mark, name = '<', test.name
		}
	}
	return mark, name
}

// bucket is the place of a name: FNV-1a, without regard to case.
func (s *cssSheet) bucket(mark byte, name string) uint32 {
	h := (uint32(2166136261) ^ uint32(mark)) * 16777619
	for i := range len(name) {
		h = (h ^ uint32(name[i]|0x20)) * 16777619
	}
	return (h ^ h>>15) & uint32(len(s.buckets)-1)
}

// sort orders selectors as the cascade does: by specificity, then by place.
func (s *cssSheet) sort(matched []int32) {
	slices.SortFunc(matched, func(a, b int32) int {
		if x, y := s.selectors[a].specificity, s.selectors[b].specificity; x != y {
			return int(x) - int(y)
		}
		return int(a - b)
	})
}
