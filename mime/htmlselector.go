package mime

import "strings"

// A cssSimple is one test of a selector on one element, or the way from its element to the one that the next tests are about.
type cssSimple struct {
	kind        simpleKind
	op          byte // of an attribute: 0, or the character before "="
	negated     bool
	fold        bool // the value is in lower case, and an attribute's is compared without regard to case
	name, value string
}

type simpleKind uint8

const (
	simpleTag simpleKind = iota
	simpleClass
	simpleID
	simpleAttr
	simpleFirstChild
	simpleRoot
	simpleLink
	toAncestor
	toParent
	toSibling // the one just before
)

// isStep reports whether the tests that follow are about another element.
func (s *cssSimple) isStep() bool { return s.kind >= toAncestor }

// A cssSelector is one of the selectors of a rule: tests from the element that it is about to the outermost.
type cssSelector struct {
	first, count int32 // in cssSheet.simples
	rule         int32
	next         int32 // the next selector in the same bucket
	specificity  uint32
	// unsure says that a test is left out, since one look at each element does not answer it: the selector may match less
	// than it seems to. It can reveal, and does not hide.
	unsure bool
}

// The outcome of reading a selector.
type selectorFault uint8

const (
	selectorGood    selectorFault = iota
	selectorNever                 // it matches nothing that is shown at rest
	selectorInvalid               // the rule does not count
	selectorTooLong               // it is left out
)

// maxTests bounds the tests of a selector.
const maxTests = 64

// A selectorParser reads one selector from left to right.
type selectorParser struct {
	text     string
	pos      int
	parsed   []cssSimple // in the order of the text
	selector cssSelector
	never    bool
	nested   bool // the argument of :not
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
	switch last := len(p.parsed) - 1; {
	case p.never:
		return selectorNever
	case last >= 0 && p.parsed[last].isStep():
		return selectorInvalid
	default:
		return selectorGood
	}
}

// part reads a combinator or a simple selector; it returns false for what is neither.
func (p *selectorParser) part() bool {
	switch c := p.text[p.pos]; {
	case isHTMLSpace(c) || c == '>' || c == '+' || c == '~':
		return p.combinator()
	case c == '*' || c == '|':
		p.pos++
		return true
	case c == '.' || c == '#':
		p.pos++
		return p.named(c)
	case c == '[':
		return p.attribute()
	case c == ':':
		return p.pseudo()
	default:
		name := p.identifier()
		p.selector.specificity++
		p.parsed = append(p.parsed, cssSimple{kind: simpleTag, name: name})
		return name != ""
	}
}

func (p *selectorParser) combinator() bool {
	step := cssSimple{kind: toAncestor}
	explicit := 0
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case isHTMLSpace(c):
			continue
		case c == '>':
			step.kind = toParent
		case c == '+':
			step.kind = toSibling
		case c == '~':
			p.selector.unsure = true
			// What is before it is left out: the selector matches too much, and reveals only.
			p.parsed = p.parsed[:0]
			p.pos++
			return true
		default:
			p.parsed = append(p.parsed, step)
			return explicit < 2
		}
		explicit++
	}
	p.parsed = append(p.parsed, step)
	return true
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
	for ; p.pos < len(p.text); p.pos++ {
		c := p.text[p.pos]
		if c == '\\' {
			p.pos++
			continue
		}
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '_' && c < 0x80 {
			break
		}
	}
	p.pos = min(p.pos, len(p.text))
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
		value, test.fold = attributeValue(trimCSS(value))
		if test.value = unescapeCSS(value); test.fold {
			test.value = lowerASCII(test.value)
		}
	}
	test.name = lowerCSS(trimCSS(name))
	p.selector.specificity += 1 << 10
	p.parsed = append(p.parsed, test)
	return test.name != ""
}

// attributeValue takes the quotes off, and the flag that may follow: i for comparing without regard to case.
func attributeValue(text string) (value string, fold bool) {
	var flag string
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		length := quotedLength(text)
		value, flag = strings.Trim(text[:length], text[:1]), trimCSS(text[length:])
	} else {
		value, flag = nextWord(text)
		flag = trimCSS(flag)
	}
	return value, flag == "i" || flag == "I"
}

// pseudo reads a pseudo-class or a pseudo-element.
func (p *selectorParser) pseudo() bool {
	p.pos++
	isElement := p.pos < len(p.text) && p.text[p.pos] == ':'
	if isElement {
		p.pos++
	}
	name := strings.ToLower(p.identifier())
	args := ""
	if p.pos < len(p.text) && p.text[p.pos] == '(' {
		length := bracketLength(p.text[p.pos:])
		args = strings.TrimSuffix(p.text[p.pos+1:p.pos+length], ")")
		p.pos += length
	}
	meaning, known := pseudoClasses[name]
	switch {
	case isElement || meaning == pseudoNever:
		p.never = true
		return known || strings.HasPrefix(name, "-webkit-")
	case !known:
		return false
	}
	p.selector.specificity += 1 << 10
	switch meaning {
	case pseudoUnsure:
		p.selector.unsure = true
	case pseudoFirstChild:
		p.parsed = append(p.parsed, cssSimple{kind: simpleFirstChild})
	case pseudoRoot:
		p.parsed = append(p.parsed, cssSimple{kind: simpleRoot})
	case pseudoLink:
		p.parsed = append(p.parsed, cssSimple{kind: simpleLink})
	case pseudoNot:
		return p.not(args)
	}
	return true
}

// not reads the argument of :not, when it is a single test.
func (p *selectorParser) not(args string) bool {
	inner := selectorParser{text: args, nested: true}
	if p.nested || inner.parse() != selectorGood || len(inner.parsed) != 1 || strings.Contains(args, ",") {
		p.selector.unsure = true
		return true
	}
	inner.parsed[0].negated = true
	p.parsed = append(p.parsed, inner.parsed[0])
	return true
}

// bracketLength is the length of what is in brackets, with them.
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
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		}
	}
	return len(text)
}

type pseudoMeaning uint8

const (
	pseudoUnsure pseudoMeaning = iota
	pseudoNever
	pseudoFirstChild
	pseudoRoot
	pseudoLink
	pseudoNot
)

var pseudoClasses = map[string]pseudoMeaning{
	"active": pseudoNever, "focus": pseudoNever, "focus-visible": pseudoNever, "focus-within": pseudoNever, "hover": pseudoNever,
	"target": pseudoNever, "visited": pseudoNever, "after": pseudoNever, "before": pseudoNever, "first-letter": pseudoNever,
	"first-line": pseudoNever, "selection": pseudoNever, "placeholder": pseudoNever, "marker": pseudoNever, "backdrop": pseudoNever,

	"first-child": pseudoFirstChild, "root": pseudoRoot, "link": pseudoLink, "any-link": pseudoLink, "not": pseudoNot,

	"checked": pseudoUnsure, "disabled": pseudoUnsure, "empty": pseudoUnsure, "enabled": pseudoUnsure,
	"first-of-type": pseudoUnsure, "has": pseudoUnsure, "is": pseudoUnsure, "lang": pseudoUnsure, "last-child": pseudoUnsure,
	"last-of-type": pseudoUnsure, "nth-child": pseudoUnsure, "nth-last-child": pseudoUnsure, "nth-last-of-type": pseudoUnsure,
	"nth-of-type": pseudoUnsure, "only-child": pseudoUnsure, "only-of-type": pseudoUnsure, "optional": pseudoUnsure,
	"placeholder-shown": pseudoUnsure, "read-only": pseudoUnsure, "read-write": pseudoUnsure, "required": pseudoUnsure,
	"valid": pseudoUnsure, "where": pseudoUnsure, "-webkit-any": pseudoUnsure,
}
