package htmltext

// An Element is a start tag that has an id, a class, a style or a type.
type Element struct {
	Name                   string // in lower case
	ID, Class, Style, Type string
	Offset                 int // of the tag in the source, in bytes
}

// A Mark is the place in a page's text where a marked element begins; or where it ends, if Kind is empty.
type Mark struct {
	Offset int
	Kind   string
}

// maxMarks bounds the marks of a page.
const maxMarks = 4096

// ReadMarked returns the visible text of HTML as [Text] does, but each marked element begins and ends a line, which
// may add empty lines. The marks are in the order of the text, and at most 4096.
//
// A judge decides which elements are marked: it returns an element's kind, or an empty string for an element without
// one. With rest, everything after the element's end is marked with the kind rest. The judge does not see the
// elements within a marked one.
func ReadMarked(source string, judge func(Element) (kind, rest string)) (text string, marks []Mark) {
	r := newReader(source, isQuirky(source))
	r.marker = &elementMarker{judge: judge}
	r.read()
	text, skipped := r.out.text()
	marks = r.marker.marks
	for i := range marks {
		marks[i].Offset = max(0, marks[i].Offset-skipped)
	}
	return text, marks
}

// An elementMarker records the places of marked elements while a page is read.
type elementMarker struct {
	judge func(Element) (kind, rest string)
	marks []Mark

	// element is the open element that is marked, and depth the number of open elements of its name. rest is the kind of
	// everything after it; empty if it has none.
	element tagName
	depth   int
	rest    string
}

// start examines the tag that the reader handles next.
func (m *elementMarker) start(r *reader) {
	s := &r.scanner
	if s.selfClosing {
		return
	}
	if m.element != 0 {
		if s.tag == m.element {
			m.depth++
		}
		return
	}
	if s.tag == 0 || s.set.has&(1<<attrID|1<<attrClass|1<<attrStyle|1<<attrType) == 0 {
		return
	}
	kind, rest := m.judge(Element{
		Name: lowerASCII(s.name), ID: s.set.get(attrID), Class: s.set.get(attrClass), Style: s.set.get(attrStyle),
		Type: s.set.get(attrType), Offset: s.at,
	})
	if kind == "" {
		return
	}
	m.mark(r, kind)
	m.element, m.depth, m.rest = s.tag, 1, rest
}

// end follows the end tag that the reader has handled.
func (m *elementMarker) end(r *reader, tag tagName) {
	if m.element == 0 || tag != m.element {
		return
	}
	if m.depth--; m.depth > 0 {
		return
	}
	m.mark(r, "")
	m.element = 0
	if m.rest != "" {
		m.mark(r, m.rest)
		m.element, m.depth = tagHTML, 1 // until the end of the document
	}
}

// mark ends the line, and records the kind of the next.
func (m *elementMarker) mark(r *reader, kind string) {
	r.out.breakLine(1)
	if len(m.marks) < maxMarks {
		m.marks = append(m.marks, Mark{r.out.seen.out.Len(), kind})
	}
}
