package htmltext

import (
	"slices"
	"strings"
)

// A cssSheet holds the rules of all style elements of a page, indexed by the tests of their selectors on the element itself.
type cssSheet struct {
	quirks    bool
	decls     []cssDecl
	texts     []string // of declarations that hold variables
	rules     []cssRule
	selectors []cssSelector
	simples   []cssSimple
	scratch   []cssSimple
	// buckets hold the first selector for each hash of an id, class or element name; -1 for none.
	buckets   []int32
	universal []int32
	asks      sheetAsks
	nths      []cssNth
	nested    []cssSelector // of lists
	lists     []cssList
	relations []cssList // the arguments of :has
	probes    []cssProbe
	layers    []cssLayer
	// foreign reports that element names are not those of HTML.
	foreign bool
	// room is the number of tests that may still be stored. Sheets with more are cut, and overfull reports that.
	room     int
	overfull bool
	hasParts bool // selectors name parts of elements
	imports  int  // sheets in addresses
}

// sheetAsks are the facts that selectors need beyond an element and its ancestors.
type sheetAsks uint8

const (
	asksPlace  sheetAsks = 1 << iota // its place among the children of its parent
	asksTypes                        // and among those of the same type
	asksBefore                       // its previous siblings
	asksAhead                        // its content and its following siblings
	asksVariables
	asksLayerBelow // for the values of the layer below
)

type cssRule struct {
	first, count int32
	layer        int32
	unsure       bool // it is not known whether the rule applies
}

// A ruleContext is the context of a rule.
type ruleContext struct {
	parent int32 // the list of selectors of the rule around; negative for none
	layer  int32
	depth  int
	unsure bool
}

// maxNesting bounds the nesting of at-rules and rules.
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
	s.read(text, ruleContext{parent: -1})
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
			s.statement(prelude, at)
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

// statement reads an at-rule without a block. Only those that set the order of layers, and the namespace, matter.
func (s *cssSheet) statement(prelude string, at ruleContext) {
	lower := lowerASCII(prelude)
	if space, ok := strings.CutPrefix(lower, "@namespace"); ok {
		s.foreign = s.foreign || !strings.Contains(space, "xhtml")
	}
	if strings.HasPrefix(lower, "@import") {
		s.importSheet(prelude[len("@import"):], at)
	}
	if names, ok := strings.CutPrefix(lower, "@layer"); ok {
		for name := range strings.SplitSeq(prelude[len(prelude)-len(names):], ",") {
			s.layer(trimCSS(name), at.layer)
		}
	}
}

// atRule returns the context of the rules in the block of an at-rule, if they apply.
func (s *cssSheet) atRule(prelude string, at ruleContext) (inner ruleContext, ok bool) {
	end := 1
	for end < len(prelude) && (isLetter(prelude[end]) || prelude[end] == '-') {
		end++
	}
	at.depth++
	name, condition := lowerASCII(prelude[1:end]), trimCSS(prelude[end:])
	applies := no
	switch name {
	case "media":
		applies = truthOf(mediaApplies(lowerCSS(condition)))
	case "supports":
		applies = isSupported(condition)
	case "layer":
		at.layer = s.layer(condition, at.layer)
		applies = yes
	case "container": // depends on how the page is laid out
		applies = unsure
	case "scope":
		return s.scope(condition, at)
	}
	at.unsure = at.unsure || applies == unsure
	return at, applies != no && at.depth <= maxNesting // @font-face, @keyframes, @page and others have no rules for elements
}

// scope reads the root of @scope. Rules with a limit below it may match less than they seem to.
func (s *cssSheet) scope(condition string, at ruleContext) (inner ruleContext, ok bool) {
	if condition == "" || condition[0] != '(' {
		at.unsure = true
		return at, at.depth <= maxNesting
	}
	length := bracketLength(condition)
	at.unsure = at.unsure || trimCSS(condition[length:]) != ""
	at.parent = s.parent(strings.TrimSuffix(condition[1:length], ")"), at)
	return at, at.parent >= 0 && at.depth <= maxNesting
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

// preludeEnd returns the offset of the end of the part before a block: its brace, or the semicolon of an at-rule without one.
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
	for _, list := range s.relations {
		for _, selector := range s.nested[list.first : list.first+list.count] {
			selector.rule = isRelation
			s.selectors = append(s.selectors, selector)
		}
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
	s.orderLayers()
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

// sort orders the matches as the cascade does: by layer, by specificity, then by position.
func (s *cssSheet) sort(matched []cssMatch) {
	slices.SortFunc(matched, func(a, b cssMatch) int {
		x, y := &s.selectors[a.selector], &s.selectors[b.selector]
		if d := s.rank(x) - s.rank(y); d != 0 {
			return int(d)
		}
		if x.specificity != y.specificity {
			return int(x.specificity) - int(y.specificity)
		}
		return int(a.selector - b.selector)
	})
}
