package htmltext

import "strings"

// An elementPart is a part of an element that styles can name; 0 is the whole element.
type elementPart uint8

const (
	partGenerated elementPart = iota + 1 // ::before and ::after
	partFirst                            // the first line or letter
)

var elementParts = map[string]elementPart{
	"before": partGenerated, "after": partGenerated, "first-line": partFirst, "first-letter": partFirst,
}

type pseudoMeaning uint8

const (
	pseudoUnsure pseudoMeaning = iota + 1 // it is not evaluated
	pseudoNever                           // never matches on a page at rest
	pseudoRoot
	pseudoLink
	pseudoFirst
	pseudoIs
	pseudoWhere
	pseudoNot
	pseudoElement // a part of an element
)

// pseudoClasses are those that browsers know. Honest mail hides nothing by the place of an element among others, by
// its state or by its content: such classes are unsure.
var pseudoClasses = func() map[string]pseudoMeaning {
	classes := map[string]pseudoMeaning{}
	for meaning, names := range map[pseudoMeaning]string{
		pseudoRoot:    "root",
		pseudoLink:    "link any-link -webkit-any-link",
		pseudoFirst:   "first-child",
		pseudoIs:      "is -webkit-any",
		pseudoWhere:   "where",
		pseudoNot:     "not",
		pseudoElement: "after before first-letter first-line",
		pseudoNever: "active focus focus-visible focus-within hover target target-within visited autofill -webkit-autofill fullscreen " +
			"-webkit-full-screen modal popover-open user-valid user-invalid playing current past future picture-in-picture local-link",
		pseudoUnsure: "scope empty lang dir has last-child first-of-type last-of-type only-child " +
			"only-of-type nth-child nth-last-child nth-of-type nth-last-of-type checked defined disabled enabled open optional " +
			"placeholder-shown read-only read-write required valid invalid in-range out-of-range default indeterminate paused muted " +
			"seeking stalled buffering volume-locked host host-context state",
	} {
		for name := range strings.FieldsSeq(names) {
			classes[name] = meaning
		}
	}
	return classes
}()

var pseudoElements = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(
		"after before first-letter first-line selection placeholder marker backdrop part slotted cue " +
			"file-selector-button highlight target-text spelling-error grammar-error view-transition details-content") {
		names[name] = true
	}
	return names
}()

// pseudo reads a pseudo-class or a pseudo-element. It reports whether browsers know it.
func (p *selectorParser) pseudo() bool {
	p.pos++
	isElement := p.pos < len(p.text) && p.text[p.pos] == ':'
	if isElement {
		p.pos++
	}
	name, args := lowerASCII(p.identifier()), ""
	if p.pos < len(p.text) && p.text[p.pos] == '(' {
		length := bracketLength(p.text[p.pos:])
		args = strings.TrimSuffix(p.text[p.pos+1:p.pos+length], ")")
		p.pos += length
	}
	meaning := pseudoClasses[name]
	if isElement || meaning == pseudoElement {
		p.selector.part = elementParts[name]
		p.selector.specificity++
		p.never = p.never || p.selector.part == 0
		return p.depth == 0 && (pseudoElements[name] || strings.HasPrefix(name, "-webkit-"))
	}
	if meaning >= pseudoIs {
		return p.list(meaning, args)
	}
	p.selector.specificity += 1 << 10
	test := cssSimple{kind: simpleUnsure}
	switch meaning {
	case 0:
		return false
	case pseudoNever:
		p.never = true
	case pseudoRoot:
		test.kind = simpleRoot
	case pseudoLink:
		test.kind = simpleLink
	case pseudoFirst:
		test.kind, p.sheet.asksBefore = simpleFirst, true
	}
	p.parsed = append(p.parsed, test)
	return true
}

// list reads the argument of :is, :where or :not. The first two ignore invalid selectors.
func (p *selectorParser) list(meaning pseudoMeaning, args string) bool {
	test := cssSimple{kind: simpleUnsure}
	if p.depth < maxLists {
		list, ok := p.sheet.list(args, p.depth+1, meaning != pseudoNot)
		if !ok {
			return false
		}
		if meaning != pseudoWhere {
			p.selector.specificity += list.specificity
		}
		if list.count == 0 {
			p.never = p.never || meaning != pseudoNot
			return true
		}
		test = cssSimple{kind: simpleList, n: int32(len(p.sheet.lists)), negated: meaning == pseudoNot}
		p.sheet.lists = append(p.sheet.lists, list)
	}
	p.parsed = append(p.parsed, test)
	return true
}

// list reads the selectors of a list that stands within a selector.
func (s *cssSheet) list(text string, depth int, ignoresInvalid bool) (list cssList, ok bool) {
	var found []cssSelector
	for text := range splitSelectors(text) {
		before := s.mark()
		p := selectorParser{sheet: s, text: text, depth: depth}
		switch p.parse() {
		case selectorGood:
			list.specificity = max(list.specificity, p.selector.specificity)
			if !s.keep(&p, &found) {
				return list, false
			}
		case selectorTooLong:
			s.overfull = true
			return list, false
		case selectorInvalid:
			s.reset(before)
			if !ignoresInvalid {
				return list, false
			}
		}
	}
	list.first, list.count = int32(len(s.nested)), int32(len(found))
	s.nested = append(s.nested, found...)
	return list, true
}
