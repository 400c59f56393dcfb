package htmltext

import "slices"

// A node is an open element.
type node struct {
	self  identity
	style textStyle
	// Facts about earlier children, if a sheet needs them.
	probes   probes
	children int32
	last     int32 // the number of the last
	types    int32 // 1 + the place of what counts their names; 0 for none
	serial   int32 // not 0: the element is in the list of formats
	number   int   // of the next item of an ordered list
	link     int   // 1 + its place among the links; 0 for none
	after    int   // 1 + the place of the text that is generated at its end; 0 for none
}

// An openFormat is an element that continues after the element that it was opened in (WHATWG HTML, section 13.2.4.3), or a marker
// that none continues across.
type openFormat struct {
	self   identity // the tag is 0 for a mark
	serial int32
	isOpen bool
}

// Deeper elements become siblings, as in browsers.
const maxOpen = 512

// maxFormats bounds the formats that continue within a cell or another marker.
const maxFormats = 64

// top returns the innermost open element.
func (r *reader) top() *node { return &r.stack[len(r.stack)-1] }

// parent returns the index of the parent for the next text or element. Content that does not belong into a table, and is not in a
// cell, stands before the table.
func (r *reader) parent(inTable bool) int {
	last := len(r.stack) - 1
	if inTable || !elements[r.stack[last].self.tag].is(clearsTable) {
		return last
	}
	for i := last; i > 0; i-- {
		if r.stack[i].self.tag == tagTable {
			return i - 1
		}
	}
	return last
}

// push opens an element.
func (r *reader) push(self identity, set *attrSet) *node {
	if len(r.stack) == maxOpen {
		r.pop()
	}
	parent := len(r.stack) - 1
	if parent >= 0 {
		parent = r.parent(elements[self.tag].is(tableContent))
	}
	r.stack = append(r.stack, node{self: self})
	node := r.top()
	if parent < 0 {
		r.enterRoot(&node.self)
		node.style = r.styleIn(&node.self, set, nil)
	} else {
		node.style = r.style(&node.self, set, parent)
	}
	r.open[self.tag]++
	if len(r.matcher.parts) > 0 && len(r.stack) > 2 {
		r.addParts(node)
	}
	return node
}

// style gives an element its position in the parent, and computes its style.
func (r *reader) style(self *identity, set *attrSet, parent int) textStyle {
	r.enter(parent, self)
	style := r.styleIn(self, set, r.stack[:parent+1])
	if self.place.index > 0 {
		r.leave(parent)
	}
	return style
}

// pass records an element without text of its own for its following siblings.
func (r *reader) pass(self identity, set *attrSet) {
	if r.sheet.asks != 0 {
		r.style(&self, set, r.parent(false))
	}
}

// pop closes the innermost element.
func (r *reader) pop() {
	node := r.top()
	if node.serial != 0 {
		for i := range r.formats {
			if r.formats[i].serial == node.serial {
				r.formats[i].isOpen = false
			}
		}
	}
	r.close(node)
	r.open[node.self.tag]--
	display := node.style.display
	r.stack = r.stack[:len(r.stack)-1]
	if display == wordBlock || display == wordTable {
		r.firstLineEnds()
	}
}

// close ends the line that a block stands on, and the link.
func (r *reader) close(node *node) {
	if node.after > 0 {
		r.generateAfter(node)
	}
	if node.link > 0 {
		r.endLink(&r.links[node.link-1])
	}
	if node.self.tag == tagLi {
		r.seen.bullet.due = false
	}
	r.breakAround(node)
}

func (r *reader) endLink(l *Link) {
	if l.End = r.seen.out.Len(); l.Start < 0 {
		l.Start = l.End
	}
}

// breakAround breaks the line before and after a block.
func (r *reader) breakAround(node *node) {
	if node.style.display == wordNone || node.style.boxed == hiddenByDisplay || node.style.boxed == hiddenByElement {
		return
	}
	traits := elements[node.self.tag].traits
	switch {
	case traits&cell == cell && node.style.display == wordBlock && node.self.tag != tagCaption:
		r.seen.blank = true
		if r.pieceOpen {
			r.lost.blank = true
		}
	case node.style.display == wordTable && traits&tableContent == 0:
		r.breakLine(1)
	case node.style.display == wordBlock && traits&apart != 0:
		r.breakLine(2)
	case node.style.display == wordBlock && traits&(special|tableContent) != special|tableContent, traits&tableRow == tableRow:
		r.breakLine(1)
	}
}

// popTo closes elements until n are left; the page itself stays.
func (r *reader) popTo(n int) {
	for len(r.stack) > max(n, 2) {
		r.pop()
	}
}

// find returns the index of the innermost element with the tag, within the scope that the limits bound; negative if there is
// none.
func (r *reader) find(tag tagName, limits func(tagName) bool) int {
	if r.open[tag] == 0 {
		return -1
	}
	for i := len(r.stack) - 1; i > 0; i-- {
		switch t := r.stack[i].self.tag; {
		case t == tag:
			return i
		case limits(t):
			return -1
		}
	}
	return -1
}

func inScope(t tagName) bool       { return elements[t].is(limitsScope) && t != tagButton }
func inButtonScope(t tagName) bool { return elements[t].is(limitsScope) }
func inListScope(t tagName) bool   { return inScope(t) || t == tagOl || t == tagUl }
func inTableScope(t tagName) bool  { return t == tagTable || t == tagTemplate }

// closeElement closes the innermost element with the tag in the scope, and all within it. It reports whether there was one.
func (r *reader) closeElement(tag tagName, limits func(tagName) bool) bool {
	i := r.find(tag, limits)
	if i < 0 {
		return false
	}
	r.popTo(i)
	if elements[tag].is(marksFormats) {
		r.clearFormats()
	}
	return true
}

// clearFormats removes formats up to the last marker, and the marker.
func (r *reader) clearFormats() {
	for len(r.formats) > 0 {
		last := r.formats[len(r.formats)-1]
		r.formats = r.formats[:len(r.formats)-1]
		if last.self.tag == 0 {
			return
		}
	}
}

// format opens an element that continues after those that it is closed in.
func (r *reader) format(self identity, set *attrSet) *node {
	node := r.push(self, set)
	r.serial++
	node.serial = r.serial
	same, first := 0, 0
	for i := len(r.formats) - 1; i >= 0 && r.formats[i].self.tag != 0; i-- {
		if f := &r.formats[i].self; f.tag == self.tag && f.attrs == self.attrs {
			same, first = same+1, i
		}
	}
	if same >= 3 { // the standard's "Noah's Ark": of equal ones, three continue
		r.formats = slices.Delete(r.formats, first, first+1)
	} else if begin := len(r.formats) - maxFormats; begin >= 0 && !slices.ContainsFunc(r.formats[begin:], isMark) {
		r.formats = slices.Delete(r.formats, begin, begin+1)
	}
	r.addFormat(openFormat{self: self, serial: r.serial, isOpen: true})
	return node
}

func isMark(f openFormat) bool { return f.self.tag == 0 }

// addFormat adds a format or a marker. If there are more than the open elements and continuing formats can make, the older half
// is removed.
func (r *reader) addFormat(f openFormat) {
	if len(r.formats) == maxOpen+maxFormats {
		r.formats = slices.Delete(r.formats, 0, len(r.formats)/2)
	}
	r.formats = append(r.formats, f)
}

// anyToReopen reports whether formats were closed with an enclosing element, and continue.
func (r *reader) anyToReopen() bool {
	last := len(r.formats) - 1
	return last >= 0 && r.formats[last].self.tag != 0 && !r.formats[last].isOpen
}

// reopenFormats opens the formats that continue.
func (r *reader) reopenFormats() {
	if !r.anyToReopen() {
		return
	}
	first := len(r.formats) - 1
	for first > 0 && r.formats[first-1].self.tag != 0 && !r.formats[first-1].isOpen {
		first--
	}
	for i := first; i < len(r.formats); i++ {
		f := &r.formats[i]
		r.set.read(f.self.attrs)
		r.matcher.budget -= len(f.self.attrs)
		node := r.push(f.self, &r.set)
		r.serial++
		node.serial, f.serial, f.isOpen = r.serial, r.serial, true
		if f.self.tag == tagA {
			r.startLink(node, &r.set)
		}
	}
}

// endFormat ends a formatting element: the standard's adoption agency. Blocks that were opened within it stay open, without it.
func (r *reader) endFormat(tag tagName, name string) {
	format := len(r.formats) - 1
	for format >= 0 && r.formats[format].self.tag != tag && r.formats[format].self.tag != 0 {
		format--
	}
	if format < 0 || r.formats[format].self.tag == 0 {
		r.endOther(tag, name)
		return
	}
	f := r.formats[format]
	r.formats = slices.Delete(r.formats, format, format+1)
	if !f.isOpen {
		return
	}
	i := len(r.stack) - 1
	for r.stack[i].serial != f.serial {
		if inScope(r.stack[i].self.tag) {
			return // the element is outside of a cell or the like
		}
		i--
	}
	if r.stack[i].link > 0 {
		r.endLink(&r.links[r.stack[i].link-1])
		r.stack[i].link = 0
	}
	r.takeOut(i)
}

// takeOut removes the element at i from the stack, together with the elements in it up to the innermost block, unless they are
// formats. The remaining ones are styled again.
func (r *reader) takeOut(i int) {
	lastBlock := len(r.stack) - 1
	for lastBlock > i && !elements[r.stack[lastBlock].self.tag].is(special) {
		lastBlock--
	}
	if lastBlock == i {
		r.popTo(i)
		return
	}
	r.popTo(lastBlock + 1)
	kept := i
	for j := i; j <= lastBlock; j++ {
		node := &r.stack[j]
		if j == i || !elements[node.self.tag].is(special) && node.serial == 0 {
			r.open[node.self.tag]--
			r.cascade.doubtful = r.cascade.doubtful || node.after > 0
			continue
		}
		r.stack[kept] = *node
		kept++
	}
	r.stack = r.stack[:kept]
	r.enter(i-1, &r.stack[i].self) // it follows the element that has ended
	for j := i; j < kept; j++ {
		r.restyle(j)
	}
}

// restyle computes the style of an open element again after the surrounding ones have changed.
func (r *reader) restyle(i int) {
	node := &r.stack[i]
	if r.matcher.survey != nil {
		return
	}
	r.matcher.budget -= 4 + len(node.self.attrs)
	if r.matcher.budget < 0 {
		return
	}
	r.set.read(node.self.attrs)
	node.style = r.styleIn(&node.self, &r.set, r.stack[:i])
}
