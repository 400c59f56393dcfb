package htmltext

import "strings"

// An identity has the parts of an element that selectors test.
type identity struct {
	tag             tagName
	name, id, class string
	attrs           string // as written
	before          probes
	isFirst         bool // among the children of its parent, if the sheet needs that
}

// probes are those that the element right before another, and all elements before it in their parent, match, in bits.
type probes struct{ next, all uint64 }

// A truth is the result of a test on an element.
type truth uint8

const (
	no truth = iota
	yes
	unsure // it may be either
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// A matcher finds the rules of a sheet that apply to an element.
type matcher struct {
	sheet *cssSheet
	// matched are the selectors that match, the weakest first; unsure are those that may match, or whose rules may
	// apply, or that are about the first line or letter; generated are those of ::before and ::after.
	matched, unsure, generated []int32

	probes  uint64 // that the element matches
	doubts  uint64 // probes that were ever unsure
	isClear bool   // the match that is looked for is not unsure
	// budget is the number of tests that are left. It is far more than pages need, and bounds the cost of hostile ones.
	budget int
	quirky bool // names matched only without regard to case
}

// find collects the selectors that match the element.
func (m *matcher) find(element *identity, ancestors []node) {
	m.matched, m.unsure, m.generated, m.probes = m.matched[:0], m.unsure[:0], m.generated[:0], 0
	if len(m.sheet.selectors) == 0 || m.budget < 0 {
		return
	}
	m.look('<', element.nameLower(), element, ancestors)
	if element.id != "" {
		m.look('#', element.id, element, ancestors)
	}
	for rest := element.class; rest != ""; {
		var class string
		if class, rest = nextWord(rest); class != "" {
			m.look('.', class, element, ancestors)
		}
	}
	for _, i := range m.sheet.universal {
		m.try(i, element, ancestors)
	}
	if len(m.matched) > 1 {
		m.sheet.sort(m.matched)
	}
}

// nextWord cuts the first word off.
func nextWord(s string) (word, rest string) {
	i := 0
	for i < len(s) && isSpaceByte(s[i]) {
		i++
	}
	begin := i
	for i < len(s) && !isSpaceByte(s[i]) {
		i++
	}
	return s[begin:i], s[i:]
}

func (m *matcher) look(mark byte, name string, element *identity, ancestors []node) {
	for i := m.sheet.buckets[m.sheet.bucket(mark, name)]; i >= 0 && m.budget >= 0; i = m.sheet.selectors[i].next {
		m.budget--
		if keyMark, keyName := m.sheet.key(&m.sheet.selectors[i]); keyMark == mark && len(keyName) == len(name) {
			m.try(i, element, ancestors)
		}
	}
}

func (m *matcher) try(i int32, element *identity, ancestors []node) {
	selector := &m.sheet.selectors[i]
	m.isClear = true
	if m.match(m.tests(selector), element, ancestors) != matchYes {
		return
	}
	switch {
	case selector.rule == isProbe:
		bit := uint64(1) << (selector.probe - 1)
		m.probes |= bit
		if !m.isClear {
			m.doubts |= bit
		}
	case selector.part == partGenerated:
		m.generated = append(m.generated, i)
	case !m.isClear || selector.part == partFirst || m.sheet.rules[selector.rule].unsure:
		m.unsure = append(m.unsure, i)
	default:
		m.matched = append(m.matched, i)
	}
}

func (m *matcher) tests(selector *cssSelector) []cssSimple {
	return m.sheet.simples[selector.first : selector.first+selector.count]
}

type matchResult uint8

const (
	matchYes matchResult = iota
	matchNo
	matchNever // nor would it from any ancestor
)

// match reports whether the tests hold for the element and its surroundings.
func (m *matcher) match(tests []cssSimple, element *identity, ancestors []node) matchResult {
	for i := range tests {
		test := &tests[i]
		if test.isStep() {
			return m.step(test.kind, tests[i+1:], ancestors)
		}
		m.budget -= 1 + len(element.class)>>4
		if m.budget < 0 {
			return matchNo
		}
		switch found := m.holds(test, element, ancestors); {
		case found == unsure:
			m.isClear = false
		case (found == yes) == test.negated:
			return matchNo
		}
	}
	return matchYes
}

func (m *matcher) step(kind simpleKind, tests []cssSimple, ancestors []node) matchResult {
	last := len(ancestors) - 1
	switch {
	case last < 0:
		return matchNever
	case kind == toParent:
		return m.match(tests, &ancestors[last].self, ancestors[:last])
	}
	for ; last >= 0; last-- {
		switch m.match(tests, &ancestors[last].self, ancestors[:last]) {
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

func (m *matcher) holds(test *cssSimple, element *identity, ancestors []node) truth {
	switch test.kind {
	case simpleTag:
		return truthOf(strings.EqualFold(test.name, element.name))
	case simpleClass:
		return truthOf(m.hasWord(element.class, test.name))
	case simpleID:
		return truthOf(m.same(element.id, test.name))
	case simpleRoot:
		return truthOf(element.tag == tagHTML)
	case simpleLink:
		return truthOf(element.tag == tagA && m.has(element, "href"))
	case simpleAttr:
		m.budget -= len(element.attrs) >> 3
		value, ok := element.attribute(test.name)
		return truthOf(ok && test.compares(value))
	case simpleFirst:
		return truthOf(element.isFirst)
	case simpleList:
		return m.any(m.sheet.lists[test.n], element, ancestors)
	case simpleBefore:
		return m.isBefore(test, element)
	default:
		return unsure
	}
}

// any reports whether one of the selectors of a list matches.
func (m *matcher) any(list cssList, element *identity, ancestors []node) truth {
	around, found := m.isClear, no
	for i := list.first; i < list.first+list.count && found != yes && m.budget >= 0; i++ {
		m.isClear = true
		if m.match(m.tests(&m.sheet.nested[i]), element, ancestors) != matchYes {
			continue
		}
		if found = unsure; m.isClear {
			found = yes
		}
	}
	m.isClear = around
	return found
}

func (m *matcher) isBefore(test *cssSimple, element *identity) truth {
	bit := uint64(1) << test.n
	if m.doubts&bit != 0 {
		return unsure
	}
	before := element.before.all
	if test.op == '+' {
		before = element.before.next
	}
	return truthOf(before&bit != 0)
}

func (m *matcher) has(element *identity, name string) bool {
	m.budget -= len(element.attrs) >> 3
	_, ok := element.attribute(name)
	return ok
}

// same compares names: in quirks mode without regard to case.
func (m *matcher) same(a, b string) bool {
	if a == b {
		return true
	}
	same := m.sheet.quirks && strings.EqualFold(a, b)
	m.quirky = m.quirky || same
	return same
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

// compares reports whether the value satisfies the operator of an attribute test.
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
