package htmltext

import "strings"

// A reader reads a page in one pass. The scanner yields tags and texts, the tree of open elements gives their
// context, and each element's style determines whether its text is visible.
type reader struct {
	tree
	scanner    scanner
	decoded    []byte // a text with its references decoded; for reuse
	references referenceCache
	// dropNewline reports that a following line break is part of the previous tag.
	dropNewline bool
	formOpen    bool
	marker      *elementMarker // nil if no elements are marked
}

func newReader(source string, quirks bool) *reader {
	r := &reader{scanner: scanner{source: source}}
	r.out = newOutput(len(source))
	st := &r.styler
	st.page, st.linkColor = pageStyle, linkColor
	st.quirks = quirks
	st.sheet = cssSheet{quirks: quirks, room: max(1024, len(source)/64)}
	lastPage, lastStyle := lastTags(source)
	r.readSheets(lastStyle)
	st.matcher = matcher{sheet: &st.sheet, budget: 100_000 + 4*len(source)}
	r.stack = make([]node, 0, 24)
	r.begin()
	r.readPage(lastPage)
	return r
}

// result returns what was read.
func (r *reader) result() Page {
	st := &r.styler
	r.out.incomplete = r.out.incomplete || st.sheet.overfull || st.matcher.budget < 0 || st.generates || st.overlaps &&
		r.out.lostOnPage
	return r.out.page()
}

// begin opens the page.
func (r *reader) begin() {
	r.set.has = 0
	r.push(identity{tag: tagHTML, name: "html"}, &r.set)
	r.pass(identity{tag: tagHead, name: "head"}, &r.set)
	r.push(identity{tag: tagBody, name: "body"}, &r.set)
	r.inBody = false
}

// readPage reads the attributes of the html and body elements first, since they apply to the text before them, too.
// The last such tag begins at last.
func (r *reader) readPage(last int) {
	templates := 0
	for s := (scanner{source: r.scanner.source}); s.pos <= last; {
		switch token := s.next(); {
		case token == endOfPage:
			return
		case s.tag == tagTemplate && token == startToken:
			templates++
		case s.tag == tagTemplate && token == endToken:
			templates = max(0, templates-1)
		case token == startToken && (s.tag == tagBody || s.tag == tagHTML) && templates == 0:
			self := identity{tag: s.tag, name: s.name, attrs: s.attrs}
			if s.set.has&(1<<attrID|1<<attrClass) != 0 {
				self.id, self.class = s.set.get(attrID), s.set.get(attrClass)
			}
			r.page(self, &s.set)
			if s.tag == tagBody && s.attrs != "" {
				return
			}
		}
	}
}

// readSheets reads all style elements first, since those at the end of a page apply to its beginning, too. The last
// one begins at last.
func (r *reader) readSheets(last int) {
	if last < 0 {
		return
	}
	sheet, templates := &r.styler.sheet, 0
	for s := (scanner{source: r.scanner.source}); s.pos <= last; {
		token := s.next()
		switch {
		case token == endOfPage:
			s.pos = len(s.source) + 1
		case token == startToken && s.tag == tagTemplate:
			templates++
		case token == endToken && s.tag == tagTemplate:
			templates = max(0, templates-1)
		case token == startToken && s.tag == tagStyle && templates == 0:
			kind, applies := s.set.get(attrType), mediaApplies(lowerCSS(s.set.get(attrMedia)))
			if s.next() == textToken && (kind == "" || strings.EqualFold(kind, "text/css")) && applies != no {
				sheet.add(s.text, ruleContext{unsure: applies == unsure})
			}
		case token == startToken && s.tag == tagLink && templates == 0:
			// No sheet is loaded, nor is one within an address read.
			self, address := identity{attrs: s.attrs}, lowerASCII(strings.TrimSpace(s.set.get(attrHref)))
			rel, _ := self.attribute("rel")
			sheet.overfull = sheet.overfull || strings.HasPrefix(address, "data:") &&
				strings.Contains(lowerASCII(rel), "stylesheet")
		}
	}
	sheet.index()
}

// lastTags are the offsets of the last tags that look like those of html or body, and of style or link; negative if
// there is none.
func lastTags(source string) (page, style int) {
	page, style = -1, -1
	for i := 0; ; i++ {
		next := strings.IndexByte(source[i:], '<')
		if next < 0 || i+next+1 == len(source) {
			return page, style
		}
		i += next
		switch rest := source[i+1:]; rest[0] | 0x20 {
		case 'b':
			if isTagAt(rest, "body") {
				page = i
			}
		case 'h':
			if isTagAt(rest, "html") {
				page = i
			}
		case 's':
			if isTagAt(rest, "style") {
				style = i
			}
		case 'l':
			if isTagAt(rest, "link") {
				style = i
			}
		}
	}
}

func (r *reader) read() {
	s := &r.scanner
	for {
		switch s.next() {
		case endOfPage:
			r.popTo(0)
			return
		case textToken:
			r.textNode(s.text, s.at)
		case startToken:
			if r.marker != nil {
				r.marker.start(r)
			}
			r.startTag()
		case endToken:
			tag := s.tag
			r.endTag(tag, s.name)
			if r.marker != nil {
				r.marker.end(r, tag)
			}
		case commentToken:
			r.out.comment(s.text, s.at)
		}
	}
}

// isQuirky reports whether the doctype, or its absence, puts browsers into quirks mode.
func isQuirky(source string) bool {
	s := scanner{source: source}
	for {
		switch s.next() {
		case commentToken:
			continue
		case textToken:
			if isBlankText(s.text) {
				continue
			}
		case doctypeToken:
			return isQuirkyDoctype(lowerASCII(strings.TrimSpace(s.text[:min(len(s.text), 200)])))
		}
		return true
	}
}

func isQuirkyDoctype(doctype string) bool {
	name, public, hasPublic := strings.Cut(doctype, "public")
	if !hasPublic {
		return name != "html" && !strings.HasPrefix(name, "html system")
	}
	for _, old := range []string{
		"-//ietf//", "-//w3c//dtd html 3", "-//w3c//dtd html 4.0 transitional", "-//w3c//dtd html 4.0 frameset",
		"-//w3c//dtd w3 html",
		"-//w3o//", "-//netscape", "-//microsoft", "-//softquad", "-//sun ", "-//spyglass", "-//webtechs", "-//as//",
		"-//w3c//dtd html experimental",
	} {
		if strings.Contains(public, old) {
			return true
		}
	}
	withoutSystem := strings.Count(public, `"`)+strings.Count(public, "'") <= 2
	return withoutSystem && (strings.Contains(public, "html 4.01 transitional") ||
		strings.Contains(public, "html 4.01 frameset"))
}
