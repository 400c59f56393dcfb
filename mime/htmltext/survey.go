package htmltext

import "strings"

// A pageShape has facts about elements that selectors need before those elements are read: the number of an element's children,
// and the relations of :has. A first pass collects it, only if a sheet needs it.
type pageShape struct {
	elements []elementShape // by number
	doubts   uint32         // relations that were ever unsure
}

type elementShape struct {
	children int32
	ofType   int32  // elements of its name in its parent, if it is the first
	before   int32  // the index of the previous sibling
	holds    uint32 // relations that it has, in bits, and hasText
}

const hasText = 1 << 31

// surveyPage reads the page for its shape. The shape of elements beyond the available room is unknown.
func surveyPage(r *reader) *pageShape {
	shape := &pageShape{elements: make([]elementShape, 1, min(strings.Count(r.scanner.source, "<"), 1024+len(r.scanner.source)/40)+64)}
	s := &reader{scanner: scanner{source: r.scanner.source}, quirks: r.quirks, sheet: r.sheet}
	s.stack = make([]node, 0, max(24, min(maxOpen, len(r.scanner.source)/128))) // large pages may be deep
	s.matcher = matcher{sheet: &s.sheet, survey: shape, budget: r.matcher.budget}
	s.begin()
	s.read()
	r.matcher.budget = s.matcher.budget
	r.stack, r.formats, r.types = s.stack[:0], s.formats[:0], s.types[:0] // room for the reading
	return shape
}

// add keeps the shape of an element that stands in a parent.
func (p *pageShape) add(parent, before int32) {
	if len(p.elements) < cap(p.elements) {
		p.elements = append(p.elements, elementShape{before: before})
	}
	if e := p.at(parent); e != nil {
		e.children++
	}
}

// at returns the shape of an element; nil if it is unknown.
func (p *pageShape) at(element int32) *elementShape {
	if p == nil || element <= 0 || int(element) >= len(p.elements) {
		return nil
	}
	return &p.elements[element]
}

func (p *pageShape) isEmpty(element *identity) truth {
	e := p.at(element.place.element)
	if e == nil {
		return unsure
	}
	return truthOf(e.children == 0 && e.holds&hasText == 0)
}

func (p *pageShape) has(element *identity, relation int32) truth {
	e := p.at(element.place.element)
	if e == nil || p.doubts&(1<<relation) != 0 {
		return unsure
	}
	return truthOf(e.holds&(1<<relation) != 0)
}

// relate records that an element, or its previous siblings, has the argument of :has. It does not match, so that all such
// elements are found.
func (m *matcher) relate(test *cssSimple, element *identity) matchResult {
	bit := uint32(1) << test.n
	if m.survey == nil {
		return matchNever
	}
	if m.unsure {
		m.survey.doubts |= bit
	}
	e := m.survey.at(element.place.element)
	if e == nil {
		return matchNo
	}
	switch test.op {
	case '>':
		e.holds |= bit
	case '+':
		if e = m.survey.at(e.before); e != nil {
			e.holds |= bit
		}
	case '~':
		for e = m.survey.at(e.before); e != nil && e.holds&bit == 0; e = m.survey.at(e.before) {
			e.holds |= bit
		}
	default:
		if e.holds&bit != 0 {
			return matchNever // nor would it from an ancestor
		}
		e.holds |= bit
	}
	return matchNo
}

// enter gives an element its position in the parent, if the sheet needs it. Elements of the head are not children of the page's
// body.
func (r *reader) enter(parent int, self *identity) {
	if r.sheet.asks == 0 || !r.inBody && r.isOfHead(self) {
		self.place = place{}
		return
	}
	node := &r.stack[parent]
	r.elements++
	node.children++
	self.place = place{index: node.children, element: r.elements, probes: node.probes}
	if r.matcher.survey != nil {
		r.matcher.survey.add(node.self.place.element, node.last)
	}
	node.last = r.elements
	if e := r.matcher.shape.at(node.self.place.element); e != nil {
		self.place.fromEnd = max(0, e.children-self.place.index+1)
	}
	if r.sheet.asks&asksTypes != 0 {
		r.enterType(node, self)
	}
}

// enterRoot gives the html element its place.
func (r *reader) enterRoot(self *identity) {
	r.elements++
	self.place = place{index: 1, typeIndex: 1, fromEnd: 1, typeFromEnd: 1, element: r.elements}
	if r.matcher.survey != nil {
		r.matcher.survey.add(0, 0)
	}
}

// noteText notes that a text stands in the innermost element, and that it begins the body.
func (r *reader) noteText(text string) {
	if r.scanner.isRaw && (r.scanner.tag == tagStyle || r.scanner.tag == tagScript) {
		return
	}
	if len(r.stack) == 2 && !isBlankText(text) {
		r.inBody = true
	}
	if r.matcher.survey != nil {
		if e := r.matcher.survey.at(r.stack[r.parent(false)].self.place.element); e != nil {
			e.holds |= hasText
		}
	}
}

// leave records the element that was styled last for its following siblings.
func (r *reader) leave(parent int) {
	if r.sheet.asks&asksBefore != 0 {
		node := &r.stack[parent]
		node.probes.next = r.matcher.probes
		node.probes.all |= r.matcher.probes
	}
}

// isOfHead reports whether an element belongs to the head: no element outside of it has come before. Any other begins the body.
func (r *reader) isOfHead(self *identity) bool {
	switch self.tag {
	case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta, tagNoframes, tagScript, tagStyle, tagTemplate, tagTitle:
		return true
	case 0:
		if strings.EqualFold(self.name, "noscript") {
			return true
		}
	}
	r.inBody = len(r.stack) > 1
	return false
}

// A typeCount is the number of elements of a type in a parent.
type typeCount struct {
	name  string
	count int32
	first int32 // the number of the first
	next  int32 // the index of another of the same parent
}

// enterType counts the element among those of its name.
func (r *reader) enterType(node *node, self *identity) {
	i := node.types
	for ; i > 0; i = r.types[i-1].next {
		if r.matcher.budget--; r.matcher.budget < 0 {
			return
		}
		if strings.EqualFold(r.types[i-1].name, self.name) {
			break
		}
	}
	if i == 0 {
		if len(r.types) >= 1024+len(r.scanner.source)/256 {
			r.sheet.overfull = true
			return
		}
		r.types = append(r.types, typeCount{name: self.name, first: self.place.element, next: node.types})
		i = int32(len(r.types))
		node.types = i
	}
	found := &r.types[i-1]
	found.count++
	self.place.typeIndex = found.count
	if r.matcher.survey != nil {
		if e := r.matcher.survey.at(found.first); e != nil {
			e.ofType = found.count
		}
	}
	if e := r.matcher.shape.at(found.first); e != nil {
		self.place.typeFromEnd = max(0, e.ofType-found.count+1)
	}
}
