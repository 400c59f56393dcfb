package htmltext

import "strings"

// A reader reads a page in one pass. The scanner yields tags and texts, the stack of open elements gives their context, and
// each element's style determines whether its text is visible.
type reader struct {
	scanner scanner
	quirks  bool // the page has no proper doctype, and is shown as in browsers of the nineties
	sheet   cssSheet
	matcher matcher
	cascade cascade
	// inline and inlineTexts are those of a style attribute, and inlineAsks reports that it uses variables. They are reused.
	inline      []cssDecl
	inlineTexts []string
	inlineAsks  bool
	frames      []variableFrame
	vars        int32     // 1 + the place of the last frame of the element that is styled
	replaced    []cssDecl // with variables; for reuse
	set         attrSet   // of an element that is styled anew
	decoded     []byte    // a text with its references decoded; for reuse
	references  referenceCache

	stack   []node
	open    [tagCount]uint16 // how many of each element are in the stack
	formats []openFormat
	serial  int32
	links   []Link
	// dropNewline reports that a following line break is part of the previous tag.
	dropNewline bool
	marker      *elementMarker // nil if no elements are marked
	isDark      bool           // the page asks for a dark window
	isReversed  bool           // the text before ran from right to left

	// The texts that are generated before the content of elements (next), and after that of the open elements; the bytes of them
	// that may still be written; and whether a painted box may lie over others.
	before, after []generatedText
	generateRoom  int
	overlaps      bool
	partMatches   []cssMatch
	formOpen      bool
	inBody        bool // an element has come that does not belong to the head
	elements      int32
	types         []typeCount
	linkColor     rgba

	seen, lost textWriter
	doubtful   []byte

	alternative []Span
	pieces      []hiddenPiece
	pieceOpen   bool // the last piece goes on
}

type hiddenPiece struct {
	by            hiding
	offset, begin int
}

func newReader(source string) *reader {
	r := &reader{scanner: scanner{source: source}, linkColor: linkColor}
	r.quirks = isQuirky(source)
	r.sheet = cssSheet{quirks: r.quirks, room: max(1024, len(source)/64)}
	lastPage, lastStyle, lastMeta := lastTags(source)
	r.readSheets(lastStyle)
	r.matcher = matcher{sheet: &r.sheet, budget: 100_000 + 4*len(source)}
	r.seen, r.lost = newTextWriter(len(source)/4+64), newTextWriter(0)
	r.seen.expected, r.lost.expected = len(source), len(source)
	r.seen.room = len(source)/8 + 256
	if r.sheet.asks&asksAhead != 0 {
		r.matcher.shape = surveyPage(r)
	} else {
		r.stack = make([]node, 0, 24)
	}
	if lastMeta >= 0 {
		r.readScheme(lastMeta)
	}
	r.generateRoom = 256 + len(source)/8
	r.begin()
	r.readPage(lastPage)
	if r.sheet.hasParts {
		r.addPageParts()
	}
	if r.stack[0].style.isDark && r.linkColor == linkColor {
		r.linkColor = darkLinkColor
	}
	return r
}

// begin opens the page.
func (r *reader) begin() {
	r.set.has = 0
	r.push(identity{tag: tagHTML, name: "html"}, &r.set)
	r.pass(identity{tag: tagHead, name: "head"}, &r.set)
	r.push(identity{tag: tagBody, name: "body"}, &r.set)
	r.inBody = false
}

// readPage reads the attributes of the html and body elements first, since they apply to the text before them, too. The last such
// tag begins at last.
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

// readSheets reads all style elements first, since those at the end of a page apply to its beginning, too. The last one begins at
// last.
func (r *reader) readSheets(last int) {
	if last < 0 {
		return
	}
	templates := 0
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
			kind, media := s.set.get(attrType), lowerCSS(s.set.get(attrMedia))
			if s.next() == textToken && (kind == "" || strings.EqualFold(kind, "text/css")) && mediaApplies(media) {
				r.sheet.add(s.text)
			}
		case token == startToken && s.tag == tagLink && templates == 0:
			r.readLinkedSheet(&s)
		}
	}
	if len(r.sheet.selectors) == 0 {
		r.sheet.asks = 0 // the selector with the test was invalid
		return
	}
	r.sheet.index()
}

// lastTags are the offsets of the last tags that look like those of html or body, of style or link, and of meta; negative if
// there is none.
func lastTags(source string) (page, style, meta int) {
	page, style, meta = -1, -1, -1
	for i := 0; ; i++ {
		next := strings.IndexByte(source[i:], '<')
		if next < 0 || i+next+1 == len(source) {
			return page, style, meta
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
		case 'm':
			if isTagAt(rest, "meta") {
				meta = i
			}
		}
	}
}

func (r *reader) read() {
	s := &r.scanner
	for {
		if len(r.before) > 0 {
			r.generateBefore()
		}
		switch s.next() {
		case endOfPage:
			r.popTo(0)
			for i := len(r.stack) - 1; i >= 0; i-- {
				r.generateAfter(&r.stack[i])
			}
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
			r.comment(s.text, s.at)
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
		"-//ietf//", "-//w3c//dtd html 3", "-//w3c//dtd html 4.0 transitional", "-//w3c//dtd html 4.0 frameset", "-//w3c//dtd w3 html",
		"-//w3o//", "-//netscape", "-//microsoft", "-//softquad", "-//sun ", "-//spyglass", "-//webtechs", "-//as//",
		"-//w3c//dtd html experimental",
	} {
		if strings.Contains(public, old) {
			return true
		}
	}
	withoutSystem := strings.Count(public, `"`)+strings.Count(public, "'") <= 2
	return withoutSystem && (strings.Contains(public, "html 4.01 transitional") || strings.Contains(public, "html 4.01 frameset"))
}
