package mime

import "strings"

// An identity is what selectors ask of an element.
type identity struct {
	tag             htmlTag
	name, id, class string
	attrs           string // as written
	first           bool   // among the children of its parent
}

// A matcher finds the rules of a sheet that apply to an element.
type matcher struct {
	sheet   *cssSheet
	matched []int32
	// budget is how many tests may still be made. It is far beyond what pages need, and bounds what hostile ones cost.
	budget int
}

// find collects the selectors that match the element, the weakest first.
func (m *matcher) find(element *identity, ancestors []htmlNode, before *identity) []int32 {
	m.matched = m.matched[:0]
	m.look('<', element.nameLower(), element, ancestors, before)
	if element.id != "" {
		m.look('#', element.id, element, ancestors, before)
	}
	for rest := element.class; rest != ""; {
		var class string
		if class, rest = nextWord(rest); class != "" {
			m.look('.', class, element, ancestors, before)
		}
	}
	for _, i := range m.sheet.universal {
		m.try(i, element, ancestors, before)
	}
	if len(m.matched) > 1 {
		m.sheet.sort(m.matched)
	}
	return m.matched
}

// nextWord cuts the first word off.
func nextWord(s string) (word, rest string) {
	i := 0
	for i < len(s) && isHTMLSpace(s[i]) {
		i++
	}
	begin := i
	for i < len(s) && !isHTMLSpace(s[i]) {
		i++
	}
	return s[begin:i], s[i:]
}

func (m *matcher) look(mark byte, name string, element *identity, ancestors []htmlNode, before *identity) {
	for i := m.sheet.buckets[m.sheet.bucket(mark, name)]; i >= 0; i = m.sheet.selectors[i].next {
		if keyMark, keyName := m.sheet.key(&m.sheet.selectors[i]); keyMark == mark && len(keyName) == len(name) {
			m.try(i, element, ancestors, before)
		}
	}
}

func (m *matcher) try(i int32, element *identity, ancestors []htmlNode, before *identity) {
	selector := &m.sheet.selectors[i]
	tests := m.sheet.simples[selector.first : selector.first+selector.count]
	if m.match(tests, element, ancestors, before) == matchYes {
		m.matched = append(m.matched, i)
	}
}

type matchResult uint8

const (
	matchYes matchResult = iota
	matchNo
	matchNever // nor would it from any ancestor
)

// match reports whether the tests hold, of the element and of those around it.
func (m *matcher) match(tests []cssSimple, element *identity, ancestors []htmlNode, before *identity) matchResult {
	for i := range tests {
		if tests[i].isStep() {
			return m.step(tests[i].kind, tests[i+1:], ancestors, before)
		}
		m.budget -= 1 + len(element.class)>>4
		if m.budget < 0 || m.holds(&tests[i], element) == tests[i].negated {
			return matchNo
		}
	}
	return matchYes
}

func (m *matcher) step(kind simpleKind, tests []cssSimple, ancestors []htmlNode, before *identity) matchResult {
	last := len(ancestors) - 1
	switch {
	case kind == toSibling:
		if before == nil {
			return matchNo
		}
		return m.match(tests, before, ancestors, nil)
	case last < 0:
		return matchNever
	case kind == toParent:
		return m.match(tests, &ancestors[last].self, ancestors[:last], ancestors[last].before)
	}
	for ; last >= 0; last-- {
		switch m.match(tests, &ancestors[last].self, ancestors[:last], ancestors[last].before) {
		case matchYes:
			return matchYes
		case matchNever:
			return matchNever
		}
		if m.budget < 0 {
			break
		}
	}
	return matchNever
}

func (m *matcher) holds(test *cssSimple, element *identity) bool {
	switch test.kind {
	case simpleTag:
		return strings.EqualFold(test.name, element.name)
	case simpleClass:
		return m.hasWord(element.class, test.name)
	case simpleID:
		return m.same(element.id, test.name)
	case simpleFirstChild:
		return element.first
	case simpleRoot:
		return element.tag == tagHTML
	case simpleLink:
		_, ok := element.attribute("href")
		return ok && element.tag == tagA
	case simpleAttr:
		m.budget -= len(element.attrs) >> 3
		value, ok := element.attribute(test.name)
		return ok && test.compares(value)
	default:
		return false
	}
}

// same compares names: in quirks mode without regard to case.
func (m *matcher) same(a, b string) bool {
	return a == b || m.sheet.quirks && strings.EqualFold(a, b)
}

func (m *matcher) hasWord(list, word string) bool {
	for list != "" {
		var w string
		if w, list = nextWord(list); m.same(w, word) {
			return true
		}
	}
	return false
}

func (e *identity) nameLower() string {
	if e.tag != 0 {
		return elements[e.tag].name
	}
	return e.name
}

// attribute finds an attribute of any name.
func (e *identity) attribute(name string) (value string, ok bool) {
	r := attrReader{source: e.attrs}
	for r.next() {
		if strings.EqualFold(r.name, name) {
			return unescapeAttribute(r.value), true
		}
	}
	return "", false
}

// compares reports whether the value is as the operator of an attribute test wants it.
func (s *cssSimple) compares(value string) bool {
	if s.op == 0 {
		return true
	}
	if s.op != '=' && s.op != '|' && s.value == "" {
		return false
	}
	if s.fold {
		value = lowerASCII(value)
	}
	switch s.op {
	case '~':
		for value != "" {
			var word string
			if word, value = nextWord(value); word == s.value {
				return true
			}
		}
		return false
	case '|':
		return value == s.value || strings.HasPrefix(value, s.value+"-")
	case '^':
		return strings.HasPrefix(value, s.value)
	case '$':
		return strings.HasSuffix(value, s.value)
	case '*':
		return strings.Contains(value, s.value)
	default:
		return value == s.value
	}
}
