package htmltext

import (
	"slices"
	"strings"
)

// A cssSheet holds the rules of all style elements of a page, indexed by the tests of their selectors on the element
// itself.
type cssSheet struct {
	quirks    bool
	quirky    bool // a rule says something else in standards mode
	decls     []cssDecl
	rules     []cssRule
	selectors []cssSelector
	simples   []cssSimple
	scratch   []cssSimple
	// buckets hold the first selector for each hash of an id, class or element name; -1 for none.
	buckets   []int32
	universal []int32
	probes    []cssProbe
	nested    []cssSelector // of lists
	lists     []cssList
	// asksBefore reports that selectors need the elements before another in its parent.
	asksBefore bool
	// foreign reports that element names are not those of HTML.
	foreign bool
	// room is the number of tests that may still be stored. Sheets with more are cut, and overfull reports that, or that
	// a sheet is not read.
	room     int
	overfull bool
}

type cssRule struct {
	first, count int32
	unsure       bool // it is not known whether the rule applies
}

func (s *cssSheet) declsOf(selector int32) []cssDecl {
	rule := &s.rules[s.selectors[selector].rule]
	return s.decls[rule.first : rule.first+rule.count]
}

// A ruleContext is the context of a rule.
type ruleContext struct {
	depth  int
	unsure bool
}

// maxNesting bounds the nesting of at-rules and rules.
const maxNesting = 8

// add reads a sheet.
func (s *cssSheet) add(text string, at ruleContext) {
	if strings.Contains(text, "/*") {
		text = removeCSSComments(text)
	}
	if s.decls == nil { // about what a usual sheet needs
		s.decls = make([]cssDecl, 0, 8+len(text)/64)
		s.selectors = make([]cssSelector, 0, 8+len(text)/128)
		s.simples = make([]cssSimple, 0, 8+len(text)/128)
	}
	s.read(text, at)
}

func (s *cssSheet) read(text string, at ruleContext) {
	for {
		text = trimSheet(text)
		if text == "" || s.room < 0 {
			return
		}
		end := preludeEnd(text)
		prelude := text[:end]
		if end == len(text) {
			return
		}
		if text[end] == ';' { // such as @import and @charset, which have no rules
			s.statement(prelude)
			text = text[end+1:]
			continue
		}
		length := blockLength(text[end:])
		content := strings.TrimSuffix(text[end+1:end+length], "}")
		text = text[end+length:]
		if !strings.HasPrefix(prelude, "@") {
			s.rule(prelude, content, at)
		} else if inner, ok := s.atRule(prelude, at); ok {
			s.read(content, inner)
		}
	}
}

// statement reads an at-rule without a block. Layers without rules, and sheets that are loaded, do not matter.
func (s *cssSheet) statement(prelude string) {
	lower := lowerASCII(prelude)
	if space, ok := strings.CutPrefix(lower, "@namespace"); ok {
		s.foreign = s.foreign || !strings.Contains(space, "xhtml")
	}
	if strings.HasPrefix(lower, "@import") {
		address := lowerCSS(strings.TrimLeft(prelude[len("@import"):], " \t\r\n\f"))
		s.overfull = s.overfull || strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(address, "url("), "\"' \t\r\n\f"),
			"data:")
	}
}

// atRule returns the context of the rules in the block of an at-rule, if they may apply.
func (s *cssSheet) atRule(prelude string, at ruleContext) (inner ruleContext, ok bool) {
	end := 1
	for end < len(prelude) && (isLetter(prelude[end]) || prelude[end] == '-') {
		end++
	}
	at.depth++
	applies := no
	switch lowerASCII(prelude[1:end]) {
	case "media":
		applies = mediaApplies(lowerCSS(trimCSS(prelude[end:])))
	case "supports", "layer", "container", "scope", "starting-style":
		applies = unsure
	}
	at.unsure = at.unsure || applies == unsure
	if at.depth > maxNesting {
		s.overfull = true
		return at, false
	}
	return at, applies != no // @font-face, @keyframes, @page and others have no rules for elements
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

// preludeEnd returns the offset of the end of the part before a block: its brace, or the semicolon of an at-rule
// without one.
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
		case '(':
			if text[0] == '@' { // the address of a sheet may contain anything
				i += bracketLength(text[i:]) - 1
			}
		case '\\':
			i++
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		}
	}
	return len(text)
}

// blockLength returns the length of a block with its braces. An unclosed one ends with the text.
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

// keep stores a selector with its compounds in reverse order. It reports whether there was room.
func (s *cssSheet) keep(p *selectorParser, to *[]cssSelector) bool {
	const selectorCost = 2 // a selector takes about as much memory as that many tests
	if s.room -= len(p.parsed) + selectorCost; s.room < 0 {
		s.overfull = true
		return false
	}
	selector := p.selector
	selector.next = -1
	selector.first, selector.count = int32(len(s.simples)), int32(len(p.parsed))
	end := len(p.parsed)
	for i := len(p.parsed) - 1; i >= 0; i-- {
		if p.parsed[i].isStep() {
			s.simples = append(s.simples, p.parsed[i+1:end]...)
			s.simples = append(s.simples, p.parsed[i])
			end = i
		}
	}
	s.simples = append(s.simples, p.parsed[:end]...)
	*to = append(*to, selector)
	return true
}

// index makes the buckets, once all sheets are read.
func (s *cssSheet) index() {
	for i := range s.probes {
		s.selectors = append(s.selectors, s.probes[i].selector)
	}
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

// key returns the test on the element itself that the fewest elements pass.
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

// bucket returns the index of a name: FNV-1a, ignoring case.
func (s *cssSheet) bucket(mark byte, name string) uint32 {
	h := (uint32(2166136261) ^ uint32(mark)) * 16777619
	for i := range len(name) {
		h = (h ^ uint32(name[i]|0x20)) * 16777619
	}
	return (h ^ h>>15) & uint32(len(s.buckets)-1)
}

// sort orders the matches as the cascade does: by specificity, then by position.
func (s *cssSheet) sort(matched []int32) {
	slices.SortFunc(matched, func(a, b int32) int {
		x, y := &s.selectors[a], &s.selectors[b]
		if x.specificity != y.specificity {
			return int(x.specificity) - int(y.specificity)
		}
		return int(a - b)
	})
}
