package htmltext

import (
	"slices"
	"strings"
)

// A node is an open element.
type node struct {
	self     identity
	style    textStyle
	probes   probes // of the children so far, if a sheet needs them
	hasChild bool   // likewise
	serial   int32  // not 0: the element is in the list of formats
	number   int    // of the next item of an ordered list
	link     int    // 1 + its place among the links; 0 for none
}

// A tree is the open elements of a page, as browsers build them from the tags. There is no other tree: each element
// is styled when it is opened, and its texts go to the output.
type tree struct {
	styler  styler
	out     output
	stack   []node
	open    [tagCount]uint16 // how many of each element are in the stack
	formats []openFormat
	serial  int32
	set     attrSet // of an element that is styled anew
	inBody  bool    // an element has come that does not belong to the head
}

// Deeper elements become siblings, as in browsers.
const maxOpen = 512

// top returns the innermost open element.
func (t *tree) top() *node { return &t.stack[len(t.stack)-1] }

// parent returns the index of the parent for the next text or element. Content that does not belong into a table, and
// is not in a cell, stands before the table.
func (t *tree) parent(inTable bool) int {
	last := len(t.stack) - 1
	if inTable || !elements[t.stack[last].self.tag].is(clearsTable) {
		return last
	}
	for i := last; i > 0; i-- {
		if t.stack[i].self.tag == tagTable {
			return i - 1
		}
	}
	return last
}

// push opens an element.
func (t *tree) push(self identity, set *attrSet) *node {
	if len(t.stack) == maxOpen {
		t.pop()
	}
	parent := len(t.stack) - 1
	if parent >= 0 {
		parent = t.parent(elements[self.tag].is(tableContent))
	}
	t.stack = append(t.stack, node{self: self})
	node := t.top()
	node.style = t.style(&node.self, set, parent)
	t.open[self.tag]++
	return node
}

// style computes the style of an element in a parent.
func (t *tree) style(self *identity, set *attrSet, parent int) textStyle {
	isChild := t.enter(parent, self)
	style := t.computed(self, set, t.stack[:parent+1])
	if isChild {
		node := &t.stack[parent]
		node.probes.next = t.styler.matcher.probes
		node.probes.all |= t.styler.matcher.probes
	}
	return style
}

// enter notes the elements before an element in its parent, if the sheet needs them. Elements of the head are not
// children of the page's body. It reports whether following elements need the new one.
func (t *tree) enter(parent int, self *identity) bool {
	if !t.styler.sheet.asksBefore || parent < 0 || !t.inBody && t.isOfHead(self) {
		self.before, self.isFirst = probes{}, parent < 0
		return false
	}
	node := &t.stack[parent]
	self.before, self.isFirst = node.probes, !node.hasChild
	node.hasChild = true
	return true
}

// isOfHead reports whether an element belongs to the head: no element outside of it has come before. Any other begins
// the body.
func (t *tree) isOfHead(self *identity) bool {
	switch self.tag {
	case tagBase, tagBasefont, tagBgsound, tagLink, tagMeta, tagNoframes, tagScript, tagStyle, tagTemplate, tagTitle:
		return true
	case 0:
		if strings.EqualFold(self.name, "noscript") {
			return true
		}
	}
	t.inBody = len(t.stack) > 1
	return false
}

// pass records an element without text of its own for its following siblings.
func (t *tree) pass(self identity, set *attrSet) {
	if t.styler.sheet.asksBefore {
		t.style(&self, set, t.parent(false))
	}
}

// pop closes the innermost element.
func (t *tree) pop() {
	node := t.top()
	if node.serial != 0 {
		for i := range t.formats {
			if t.formats[i].serial == node.serial {
				t.formats[i].isOpen = false
			}
		}
	}
	t.close(node)
	t.open[node.self.tag]--
	display := node.style.display
	t.stack = t.stack[:len(t.stack)-1]
	if display == wordBlock || display == wordTable {
		t.firstLineEnds()
	}
}

// close ends the line that a block stands on, and the link.
func (t *tree) close(node *node) {
	if node.link > 0 {
		t.out.endLink(node.link)
	}
	if node.self.tag == tagLi {
		t.out.seen.bullet.due = false
	}
	t.breakAround(node)
}

// breakAround breaks the line before and after a block.
func (t *tree) breakAround(node *node) {
	if node.style.display == wordNone || node.style.boxed == hiddenByDisplay || node.style.boxed == hiddenByElement {
		return
	}
	traits := elements[node.self.tag].traits
	switch {
	case traits&cell == cell && node.style.display == wordBlock && node.self.tag != tagCaption:
		t.out.seen.blank = true
		if t.out.pieceOpen {
			t.out.lost.blank = true
		}
	case node.style.display == wordTable && traits&tableContent == 0:
		t.out.breakLine(1)
	case node.style.display == wordBlock && traits&apart != 0:
		t.out.breakLine(2)
	case node.style.display == wordBlock && traits&(special|tableContent) != special|tableContent,
		traits&tableRow == tableRow:
		t.out.breakLine(1)
	}
}

// popTo closes elements until n are left; the page itself stays.
func (t *tree) popTo(n int) {
	for len(t.stack) > max(n, 2) {
		t.pop()
	}
}

// find returns the index of the innermost element with the tag, within the scope that the limits bound; negative if
// there is none.
func (t *tree) find(tag tagName, limits func(tagName) bool) int {
	if t.open[tag] == 0 {
		return -1
	}
	for i := len(t.stack) - 1; i > 0; i-- {
		switch found := t.stack[i].self.tag; {
		case found == tag:
			return i
		case limits(found):
			return -1
		}
	}
	return -1
}

func inScope(t tagName) bool       { return elements[t].is(limitsScope) && t != tagButton }
func inButtonScope(t tagName) bool { return elements[t].is(limitsScope) }
func inListScope(t tagName) bool   { return inScope(t) || t == tagOl || t == tagUl }
func inTableScope(t tagName) bool  { return t == tagTable || t == tagTemplate }

// closeElement closes the innermost element with the tag in the scope, and all within it. It reports whether there
// was one.
func (t *tree) closeElement(tag tagName, limits func(tagName) bool) bool {
	i := t.find(tag, limits)
	if i < 0 {
		return false
	}
	t.popTo(i)
	if elements[tag].is(marksFormats) {
		t.clearFormats()
	}
	return true
}

// restyle computes the style of an open element again after the surrounding ones have changed.
func (t *tree) restyle(i int) {
	node := &t.stack[i]
	t.styler.matcher.budget -= 4 + len(node.self.attrs)
	if t.styler.matcher.budget < 0 {
		return
	}
	t.set.read(node.self.attrs)
	node.style = t.computed(&node.self, &t.set, t.stack[:i])
}

func (t *tree) computed(self *identity, set *attrSet, ancestors []node) textStyle {
	style := t.styler.style(self, set, ancestors)
	t.out.overlaps = t.styler.overlaps
	return style
}

// startLink remembers a link, whose text begins with what is written next.
func (t *tree) startLink(node *node, set *attrSet) {
	if set.has&(1<<attrHref) != 0 {
		node.link = t.out.startLink(strings.TrimSpace(set.get(attrHref)))
	}
}

// firstLineEnds brings the following text of the open elements back into sight, except in blocks of their own.
func (t *tree) firstLineEnds() {
	for i := len(t.stack) - 1; i > 0 && t.stack[i].style.shift <= -farAway; i-- {
		t.stack[i].style.shift = 0
		t.stack[i].style.judge()
	}
}

// closeItem closes the item of a list or the term that a new one ends.
func (t *tree) closeItem(tag tagName) {
	for i := len(t.stack) - 1; i > 1; i-- {
		found := t.stack[i].self.tag
		if found == tag || tag != tagLi && (found == tagDd || found == tagDt) {
			t.popTo(i)
			break
		}
		if elements[found].is(special) && found != tagAddress && found != tagDiv && found != tagP {
			break
		}
	}
	t.closeElement(tagP, inButtonScope)
}

// tableContext returns the index of the innermost table or part of one; negative outside of tables.
func (t *tree) tableContext() int {
	for i := len(t.stack) - 1; i > 1; i-- {
		switch found := t.stack[i].self.tag; {
		case found == tagTable || elements[found].is(tableContent):
			return i
		case found == tagTemplate || found == tagSVG:
			return -1
		}
	}
	return -1
}

// clearTo closes all elements up to the innermost part of a table that may contain the next one: a row, a group of
// rows, or the table.
func (t *tree) clearTo(part tagName) {
	for i := len(t.stack) - 1; i > 1; i-- {
		found := t.stack[i].self.tag
		isGroup := found == tagTbody || found == tagThead || found == tagTfoot
		if found == tagTable || found == tagTemplate || isGroup && part != tagTable || found == tagTr && part == tagTr {
			t.popTo(i + 1)
			return
		}
	}
}

// imply opens an omitted element, if the innermost is one of its possible parents.
func (t *tree) imply(tag tagName, in ...tagName) {
	if slices.Contains(in, t.top().self.tag) {
		t.set.has = 0
		t.push(identity{tag: tag, name: elements[tag].name}, &t.set)
	}
}

func (t *tree) endHeading() {
	for i := len(t.stack) - 1; i > 1; i-- {
		found := t.stack[i].self.tag
		if elements[found].is(heading) {
			t.popTo(i)
			return
		}
		if inScope(found) {
			return
		}
	}
}

// endOther closes an element without rules, unless a special one is open in it.
func (t *tree) endOther(tag tagName, name string) {
	if t.open[tag] == 0 {
		return
	}
	for i := len(t.stack) - 1; i > 1; i-- {
		self := &t.stack[i].self
		if self.tag == tag && (tag != 0 || strings.EqualFold(self.name, name)) {
			t.popTo(i)
			return
		}
		if elements[self.tag].is(special) {
			return
		}
	}
}
