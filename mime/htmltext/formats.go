package htmltext

import "slices"

// An openFormat is an element that continues after the element that it was opened in (WHATWG HTML, section 13.2.4.3),
// or a marker that none continues across.
type openFormat struct {
	self   identity // the tag is 0 for a mark
	serial int32
	isOpen bool
}

// maxFormats bounds the formats that continue within a cell or another marker.
const maxFormats = 64

// clearFormats removes formats up to the last marker, and the marker.
func (t *tree) clearFormats() {
	for len(t.formats) > 0 {
		last := t.formats[len(t.formats)-1]
		t.formats = t.formats[:len(t.formats)-1]
		if last.self.tag == 0 {
			return
		}
	}
}

// format opens an element that continues after those that it is closed in.
func (t *tree) format(self identity, set *attrSet) *node {
	node := t.push(self, set)
	t.serial++
	node.serial = t.serial
	same, first := 0, 0
	for i := len(t.formats) - 1; i >= 0 && t.formats[i].self.tag != 0; i-- {
		if f := &t.formats[i].self; f.tag == self.tag && f.attrs == self.attrs {
			same, first = same+1, i
		}
	}
	if same >= 3 { // the standard's "Noah's Ark": of equal ones, three continue
		t.formats = slices.Delete(t.formats, first, first+1)
	} else if begin := len(t.formats) - maxFormats; begin >= 0 && !slices.ContainsFunc(t.formats[begin:], isMark) {
		t.formats = slices.Delete(t.formats, begin, begin+1)
	}
	t.addFormat(openFormat{self: self, serial: t.serial, isOpen: true})
	return node
}

func isMark(f openFormat) bool { return f.self.tag == 0 }

// addFormat adds a format or a marker. If there are more than the open elements and continuing formats can make, the
// older half is removed.
func (t *tree) addFormat(f openFormat) {
	if len(t.formats) == maxOpen+maxFormats {
		t.formats = slices.Delete(t.formats, 0, len(t.formats)/2)
	}
	t.formats = append(t.formats, f)
}

// anyToReopen reports whether formats were closed with an enclosing element, and continue.
func (t *tree) anyToReopen() bool {
	last := len(t.formats) - 1
	return last >= 0 && t.formats[last].self.tag != 0 && !t.formats[last].isOpen
}

// reopenFormats opens the formats that continue.
func (t *tree) reopenFormats() {
	if !t.anyToReopen() {
		return
	}
	first := len(t.formats) - 1
	for first > 0 && t.formats[first-1].self.tag != 0 && !t.formats[first-1].isOpen {
		first--
	}
	for i := first; i < len(t.formats); i++ {
		f := &t.formats[i]
		t.set.read(f.self.attrs)
		t.styler.matcher.budget -= len(f.self.attrs)
		node := t.push(f.self, &t.set)
		t.serial++
		node.serial, f.serial, f.isOpen = t.serial, t.serial, true
		if f.self.tag == tagA {
			t.startLink(node, &t.set)
		}
	}
}

// endFormat ends a formatting element: the standard's adoption agency. Blocks that were opened within it stay open,
// without it.
func (t *tree) endFormat(tag tagName, name string) {
	format := len(t.formats) - 1
	for format >= 0 && t.formats[format].self.tag != tag && t.formats[format].self.tag != 0 {
		format--
	}
	if format < 0 || t.formats[format].self.tag == 0 {
		t.endOther(tag, name)
		return
	}
	f := t.formats[format]
	t.formats = slices.Delete(t.formats, format, format+1)
	if !f.isOpen {
		return
	}
	i := len(t.stack) - 1
	for t.stack[i].serial != f.serial {
		if inScope(t.stack[i].self.tag) {
			return // the element is outside of a cell or the like
		}
		i--
	}
	if t.stack[i].link > 0 {
		t.out.endLink(t.stack[i].link)
		t.stack[i].link = 0
	}
	t.takeOut(i)
}

// takeOut removes the element at i from the stack, together with the elements in it up to the innermost block, unless
// they are formats. The remaining ones are styled again.
func (t *tree) takeOut(i int) {
	lastBlock := len(t.stack) - 1
	for lastBlock > i && !elements[t.stack[lastBlock].self.tag].is(special) {
		lastBlock--
	}
	if lastBlock == i {
		t.popTo(i)
		return
	}
	t.popTo(lastBlock + 1)
	kept := i
	for j := i; j <= lastBlock; j++ {
		node := &t.stack[j]
		if j == i || !elements[node.self.tag].is(special) && node.serial == 0 {
			t.open[node.self.tag]--
			continue
		}
		t.stack[kept] = *node
		kept++
	}
	t.stack = t.stack[:kept]
	t.enter(i-1, &t.stack[i].self) // it follows the element that has ended
	for j := i; j < kept; j++ {
		t.restyle(j)
	}
}
