package htmltext

import "strings"

// A cssSimple is one test of a selector on one element, or the step from its element to that of the next tests.
type cssSimple struct {
	kind        simpleKind
	op          byte // of an attribute: 0, or the character before "="; of simpleBefore: the combinator
	negated     bool
	fold        bool  // the value is in lower case, and an attribute's is compared without regard to case
	n           int32 // the number of the probe of simpleBefore, or of the list of simpleList
	name, value string
}

type simpleKind uint8

const (
	simpleTag simpleKind = iota
	simpleClass
	simpleID
	simpleAttr
	simpleRoot
	simpleLink
	simpleFirst  // it is the first child of its parent
	simpleList   // one of the selectors of a list matches
	simpleBefore // the match of a probe stands before it in its parent
	simpleUnsure // a test that is not evaluated
	toAncestor
	toParent
)

// isStep reports whether the following tests are about another element.
func (s *cssSimple) isStep() bool { return s.kind >= toAncestor }

// A cssSelector is one of the selectors of a rule: tests from its subject to the outermost element.
type cssSelector struct {
	first, count int32 // in cssSheet.simples
	rule         int32 // or isProbe
	next         int32 // the next selector in the same bucket
	specificity  uint32
	probe        uint8 // 1 + its number, where rule is isProbe
	part         elementPart
}

// isProbe is the value of rule for the part of a selector before "+" or "~", which only other selectors use.
const isProbe = -1

// A cssProbe is such a part.
type cssProbe struct {
	text     string
	selector cssSelector
}

// A cssList is a list of selectors within another, as that of :is.
type cssList struct {
	first, count int32 // in cssSheet.nested
	specificity  uint32
}

// The outcome of reading a selector.
type selectorFault uint8

const (
	selectorGood    selectorFault = iota
	selectorNever                 // it matches nothing on a page at rest
	selectorInvalid               // the rule does not count
	selectorTooLong               // it is left out
)

const (
	maxTests  = 64 // of a selector
	maxProbes = 64 // of a page; tests of more are not evaluated
	maxLists  = 4  // within each other
)

// A selectorParser reads one selector from left to right.
type selectorParser struct {
	sheet    *cssSheet
	text     string
	pos      int
	parsed   []cssSimple // in the order of the text
	selector cssSelector
	never    bool
	anyTest  bool // the compound holds something
	depth    int  // of lists within each other
}

func (p *selectorParser) parse() selectorFault {
	p.text = trimCSS(p.text)
	if p.text == "" {
		return selectorInvalid
	}
	for p.pos < len(p.text) {
		if len(p.parsed) == maxTests {
			return selectorTooLong
		}
		if !p.part() {
			return selectorInvalid
		}
	}
	switch {
	case !p.anyTest:
		return selectorInvalid
	case p.never:
		return selectorNever
	default:
		return selectorGood
	}
}

// part reads a combinator or a simple selector. It returns false if there is neither.
func (p *selectorParser) part() bool {
	p.never = p.never || p.selector.part != 0 // nothing may follow a part of an element
	c := p.text[p.pos]
	if isSpaceByte(c) || c == '>' || c == '+' || c == '~' {
		return p.combinator()
	}
	isFirst := !p.anyTest
	p.anyTest = true
	switch c {
	case '*', '|':
		return isFirst && p.universal()
	case '&': // outside of rules, the element of the page
		p.pos++
		p.parsed = append(p.parsed, cssSimple{kind: simpleRoot})
		return true
	case '.', '#':
		p.pos++
		return p.named(c)
	case '[':
		return p.attribute()
	case ':':
		return p.pseudo()
	default:
		name := p.identifier()
		p.selector.specificity++
		p.parsed = append(p.parsed, cssSimple{kind: simpleTag, name: name})
		return name != "" && isFirst
	}
}

// universal reads "*", or the namespace before a name: any, or none, which no element has.
func (p *selectorParser) universal() bool {
	if p.text[p.pos] == '|' {
		p.never = true
	} else if p.pos++; !strings.HasPrefix(p.text[p.pos:], "|") {
		return true
	}
	p.pos++
	p.anyTest = strings.HasPrefix(p.text[min(p.pos, len(p.text)):], "*")
	if p.anyTest {
		p.pos++
	}
	return p.pos == len(p.text) || p.text[p.pos] != '|'
}

func (p *selectorParser) combinator() bool {
	mark := byte(' ')
	end := p.pos
	for ; p.pos < len(p.text); p.pos++ {
		c := p.text[p.pos]
		if isSpaceByte(c) {
			continue
		}
		if c != '>' && c != '+' && c != '~' {
			break
		}
		if mark != ' ' {
			return false
		}
		mark = c
	}
	if !p.anyTest {
		return false
	}
	if mark == '+' || mark == '~' {
		p.before(mark, p.text[:end])
		return true
	}
	p.step(mark)
	return true
}

func (p *selectorParser) step(mark byte) {
	kind := toAncestor
	if mark == '>' {
		kind = toParent
	}
	p.parsed = append(p.parsed, cssSimple{kind: kind})
	p.anyTest = false
}

// before turns the selector so far into a probe: its matches are remembered for later siblings.
func (p *selectorParser) before(mark byte, text string) {
	test := cssSimple{kind: simpleUnsure}
	if n, ok := p.sheet.probe(text, p); ok {
		test = cssSimple{kind: simpleBefore, op: mark, n: n}
	}
	p.parsed = append(p.parsed[:0], test)
	p.anyTest = false
}

// probe returns the number of what a parser has read, as a probe. Many selectors begin with the same one.
func (s *cssSheet) probe(text string, p *selectorParser) (n int32, ok bool) {
	for i := range s.probes {
		if s.probes[i].text == text {
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
	s.asksBefore = true
	kept[0].rule, kept[0].probe = isProbe, uint8(n+1)
	s.probes = append(s.probes, cssProbe{text, kept[0]})
	return n, true
}

func (p *selectorParser) named(mark byte) bool {
	name := p.identifier()
	if mark == '.' {
		p.selector.specificity += 1 << 10
		p.parsed = append(p.parsed, cssSimple{kind: simpleClass, name: name})
	} else {
		p.selector.specificity += 1 << 20
		p.parsed = append(p.parsed, cssSimple{kind: simpleID, name: name})
	}
	return name != ""
}

func (p *selectorParser) identifier() string {
	begin := p.pos
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		if c == '\\' {
			p.pos += escapeLength(p.text[p.pos:])
			continue
		}
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '_' && c < 0x80 {
			break
		}
		p.pos++
	}
	if begin < p.pos && isDigit(p.text[begin]) {
		return "" // an identifier does not begin with a digit
	}
	return unescapeCSS(p.text[begin:p.pos])
}

// attribute reads [name], [name=value] and the other operators.
func (p *selectorParser) attribute() bool {
	end := p.pos
	for end < len(p.text) && p.text[end] != ']' {
		if c := p.text[end]; c == '"' || c == '\'' {
			end += quotedLength(p.text[end:])
			continue
		}
		end++
	}
	if end >= len(p.text) {
		return false
	}
	inner := p.text[p.pos+1 : end]
	p.pos = end + 1
	name, value, hasValue := strings.Cut(inner, "=")
	test := cssSimple{kind: simpleAttr}
	if hasValue {
		test.op = '='
		if last := len(name) - 1; last > 0 && strings.IndexByte("~|^$*", name[last]) >= 0 {
			test.op, name = name[last], name[:last]
		}
	}
	name = trimCSS(name)
	test.name = lowerCSS(strings.TrimPrefix(strings.TrimPrefix(name, "*"), "|"))
	if hasValue {
		var flag string
		value, flag = attributeValue(trimCSS(value))
		test.fold = flag == "i" || flag == "I" || flag == "" && isFoldedAttribute(test.name)
		if test.value = unescapeCSS(value); test.fold {
			test.value = lowerASCII(test.value)
		}
	}
	p.selector.specificity += 1 << 10
	p.parsed = append(p.parsed, test)
	return test.name != ""
}

// attributeValue removes the quotes and the following flag: i ignores case, s does not.
func attributeValue(text string) (value, flag string) {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		length := quotedLength(text)
		return strings.Trim(text[:length], text[:1]), trimCSS(text[length:])
	}
	value, flag = nextWord(text)
	return value, trimCSS(flag)
}

// isFoldedAttribute reports whether an attribute's values are compared without regard to case (WHATWG HTML, section
// 4.17.2).
func isFoldedAttribute(name string) bool {
	switch name {
	case "accept", "accept-charset", "align", "alink", "axis", "bgcolor", "charset", "checked", "clear", "codetype",
		"color", "compact",
		"declare", "defer", "dir", "direction", "disabled", "enctype", "face", "frame", "hreflang", "http-equiv",
		"lang", "language",
		"link", "media", "method", "multiple", "nohref", "noresize", "noshade", "nowrap", "readonly", "rel", "rev",
		"rules", "scope",
		"scrolling", "selected", "shape", "target", "text", "type", "valign", "valuetype", "vlink":
		return true
	default:
		return false
	}
}

// bracketLength returns the length of a bracketed text, including the brackets.
func bracketLength(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
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
