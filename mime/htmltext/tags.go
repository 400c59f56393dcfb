package htmltext

import "strings"

// startTag opens an element, after closing those that it ends (WHATWG HTML, section 13.2.6).
func (r *reader) startTag() {
	s := &r.scanner
	r.dropNewline = false
	self := identity{tag: s.tag, name: s.name, attrs: s.attrs}
	set := &s.set
	if set.has&(1<<attrID|1<<attrClass) != 0 {
		self.id, self.class = set.get(attrID), set.get(attrClass)
	}
	if r.open[tagSVG]+r.open[tagMath] > 0 && r.embedded(self) {
		return
	}
	traits := elements[self.tag].traits
	if traits&tableContent != 0 {
		r.tablePart(self, set)
		return
	}
	if traits&closesP != 0 && (r.open[tagP] > 0) {
		r.closeElement(tagP, inButtonScope)
	}
	switch {
	case traits&formatting != 0:
		r.startFormat(self, set)
	case self.tag == 0 || traits&(block|special) == 0:
		r.reopenFormats()
		r.push(self, set)
	default:
		r.startSpecial(self, set, traits)
	}
}

func (r *reader) startFormat(self identity, set *attrSet) {
	if self.tag == tagA || self.tag == tagNobr {
		for i := len(r.formats) - 1; i >= 0 && r.formats[i].self.tag != 0; i-- {
			if r.formats[i].self.tag == self.tag {
				r.endFormat(self.tag, self.name)
				break
			}
		}
	}
	r.reopenFormats()
	node := r.format(self, set)
	if self.tag == tagA {
		r.startLink(node, set)
	}
}

// startSpecial opens an element with special rules.
func (r *reader) startSpecial(self identity, set *attrSet, traits elementTraits) {
	switch self.tag {
	case tagHTML, tagHead, tagBody, tagFrameset:
		r.page(self, set)
		return
	case tagLi, tagDd, tagDt:
		r.closeItem(self.tag)
	case tagH1, tagH2, tagH3, tagH4, tagH5, tagH6:
		if elements[r.top().self.tag].is(heading) {
			r.pop()
		}
	case tagButton:
		r.closeElement(tagButton, inScope)
	case tagForm:
		if r.formOpen {
			return
		}
		r.formOpen = true
		if elements[r.top().self.tag].is(clearsTable) {
			r.pass(self, set)
			return // in a table outside of a cell it has no content
		}
	case tagOption, tagOptgroup:
		if r.top().self.tag == tagOption {
			r.pop()
		}
	case tagTable:
		r.startTable()
	}
	if traits&(closesP|rawContent) == 0 && self.tag != tagTable {
		r.reopenFormats()
	}
	r.openSpecial(self, set, traits)
}

// openSpecial opens the element, or handles an element without content.
func (r *reader) openSpecial(self identity, set *attrSet, traits elementTraits) {
	if traits&void != 0 {
		r.voidElement(self)
		return
	}
	if self.tag == tagStyle || self.tag == tagScript {
		r.pass(self, set)
		return // their content is not text, and ends with them
	}
	node := r.push(self, set)
	r.breakAround(node)
	if traits&marksFormats != 0 {
		r.addFormat(openFormat{})
	}
	switch self.tag {
	case tagLi:
		r.item(&node.style)
	case tagOl:
		node.number = 1
		if set.has&(1<<attrStart) != 0 {
			node.number = listNumber(set.get(attrStart), 1)
		}
	case tagPre, tagListing, tagTextarea:
		r.dropNewline = true
	}
}

// voidElement handles an element without content.
func (r *reader) voidElement(self identity) {
	switch self.tag {
	case tagBr:
		r.lineEnd(self)
	case tagHr:
		if style := r.style(&self, &r.scanner.set, r.parent(false)); style.boxed == notHidden && !style.invisible {
			r.out.breakLine(1)
			r.out.pieceOpen = false
			r.out.seen.text("---", wordNone)
			r.out.breakLine(1)
		}
	case tagImg, tagImage:
		r.image(self)
	case tagInput:
		r.input(self)
	case tagMeta:
		r.meta(self)
	default:
		r.pass(self, &r.scanner.set)
	}
}

// meta reads whether the page is for dark windows, in which colors are others.
func (r *reader) meta(self identity) {
	r.pass(self, &r.scanner.set)
	name, _ := self.attribute("name")
	scheme, _ := self.attribute("content")
	if !strings.EqualFold(trimCSS(name), "color-scheme") || !isDarkScheme(lowerASCII(scheme)) {
		return
	}
	r.out.incomplete = true
	r.styler.page.anyColor, r.styler.page.anyBackground = true, true
	for i := range r.stack {
		r.restyle(i)
	}
}

// lineEnd ends a line. Text that an indent moved out of sight continues in sight on the next.
func (r *reader) lineEnd(self identity) {
	style := r.style(&self, &r.scanner.set, r.parent(false))
	if style.display == wordNone || style.boxed == hiddenByDisplay || style.boxed == hiddenByElement {
		return
	}
	r.out.breakLine(min(r.out.seen.breaks+1, 2))
	r.firstLineEnds()
}

// page reads the attributes of html and body elements. Repeated ones add missing attributes.
func (r *reader) page(self identity, set *attrSet) {
	i := 1
	switch {
	case self.tag == tagHTML:
		i = 0
	case self.tag != tagBody:
		return
	}
	node := &r.stack[i]
	if node.self.attrs != "" || self.attrs == "" {
		return
	}
	self.before, self.isFirst = node.self.before, node.self.isFirst
	node.self = self
	if link, ok := parseLegacyColor(set.get(attrLink)); ok && i == 1 {
		r.styler.linkColor = link
	}
	for ; i < len(r.stack); i++ {
		r.restyle(i)
	}
}

// startTable closes a table that the new one stands directly in.
func (r *reader) startTable() {
	if !r.styler.quirks {
		r.closeElement(tagP, inButtonScope)
	}
	if context := r.tableContext(); context >= 0 && elements[r.stack[context].self.tag].is(clearsTable) {
		r.closeElement(tagTable, inTableScope)
	}
}

// tablePart opens a part of a table, with its omitted parents. Outside of a table it is ignored.
func (r *reader) tablePart(self identity, set *attrSet) {
	context := r.tableContext()
	if context < 0 {
		return
	}
	if t := r.stack[context].self.tag; t == tagTd || t == tagTh || t == tagCaption {
		if r.find(tagTable, inTableScope) < 0 {
			return
		}
		r.popTo(context)
		r.clearFormats()
	}
	switch self.tag {
	case tagTd, tagTh:
		r.clearTo(tagTr)
		r.imply(tagTbody, tagTable)
		r.imply(tagTr, tagTbody, tagThead, tagTfoot)
	case tagTr:
		r.clearTo(tagTbody)
		r.imply(tagTbody, tagTable)
	default:
		r.clearTo(tagTable)
	}
	if elements[self.tag].is(void) {
		r.pass(self, set)
		return
	}
	node := r.push(self, set)
	r.breakAround(node)
	if elements[self.tag].is(marksFormats) {
		r.addFormat(openFormat{})
	}
}

// embedded handles a tag within a picture or a formula. It reports whether the tag is done. Elements of text end
// pictures.
func (r *reader) embedded(self identity) bool {
	for i := len(r.stack) - 1; i > 1; i-- {
		switch r.stack[i].self.tag {
		case tagForeignObject:
			return false
		case tagSVG, tagMath:
			if elements[self.tag].is(breaksOut) {
				r.popTo(i)
				return false
			}
			r.scanner.raw = 0
			if r.scanner.selfClosing {
				r.pass(self, &r.scanner.set)
			} else {
				node := r.push(self, &r.scanner.set)
				if isUndrawn(self) {
					node.style.boxed, node.style.why = hiddenByElement, hiddenByElement
				}
			}
			return true
		}
	}
	return false
}

// isUndrawn reports whether an element of a picture or a formula hides its content.
func isUndrawn(self identity) bool {
	switch self.tag {
	case tagTitle, tagStyle, tagScript:
		return true
	case 0:
		switch lowerASCII(self.name) {
		case "desc", "metadata", "annotation", "annotation-xml":
			return true
		}
	}
	return false
}

// endTag closes an element.
func (r *reader) endTag(tag tagName, name string) {
	traits := elements[tag].traits
	switch {
	case tag == tagBody || tag == tagHTML || tag == tagHead || tag == tagStyle && r.open[tagStyle] == 0:
	case tag == tagBr:
		r.scanner.set.has = 0
		r.lineEnd(identity{tag: tagBr, name: "br"})
	case tag == tagP:
		if !r.closeElement(tagP, inButtonScope) {
			r.scanner.set.has = 0
			r.pass(identity{tag: tagP, name: "p"}, &r.scanner.set)
			r.out.breakLine(2)
		}
	case traits&heading != 0:
		r.endHeading()
	case tag == tagForm:
		r.endForm()
	case traits&formatting != 0:
		r.endFormat(tag, name)
	case tag == tagTable || traits&tableContent != 0:
		r.closeElement(tag, inTableScope)
	case tag == tagLi:
		r.closeElement(tag, inListScope)
	case traits&(block|special) != 0 && traits&void == 0 && tag != tagOption && tag != tagOptgroup:
		r.closeElement(tag, inScope)
	case traits&void == 0:
		r.endOther(tag, name)
	}
}

// endForm removes the form from the stack. Elements within it stay open.
func (r *reader) endForm() {
	if !r.formOpen {
		return
	}
	r.formOpen = false
	i := r.find(tagForm, inScope)
	if i < 0 {
		return
	}
	r.breakAround(&r.stack[i])
	if i == len(r.stack)-1 {
		r.pop()
		return
	}
	r.open[tagForm]--
	r.stack = append(r.stack[:i], r.stack[i+1:]...)
	for ; i < len(r.stack); i++ {
		r.restyle(i)
	}
}
