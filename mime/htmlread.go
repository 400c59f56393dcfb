package mime

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An htmlReader reads a page in one pass: the scanner gives tags and texts, the stack of open elements says where they stand,
// each element's style whether its text is seen.
type htmlReader struct {
	scanner htmlScanner
	quirks  bool // the page has no proper doctype, and is shown as browsers of the nineties did
	sheet   cssSheet
	matcher matcher
	cascade cascade
	// inline and inlineTexts are those of a style attribute, and inlineAsks says that it is about variables; for reuse.
	inline      []cssDecl
	inlineTexts []string
	inlineAsks  bool
	frames      []variableFrame
	vars        int32     // 1 + the place of the last frame of the element that is styled
	replaced    []cssDecl // with variables; for reuse
	set         attrSet   // of an element that is styled anew
	decoded     []byte    // a text with its references decoded; for reuse

	stack   []htmlNode
	open    [tagCount]uint16 // how many of each element are in the stack
	formats []htmlFormat
	serial  int32
	links   []Link
	// dropNewline says that a line break that comes next is part of the tag before it.
	dropNewline bool
	formOpen    bool
	inBody      bool // an element has come that does not belong to the head
	elements    int32
	types       []typeCount
	linkColor   htmlColor

	seen, lost textWriter
	pieces     []hiddenPiece
	pieceOpen  bool // the last piece goes on
}

type hiddenPiece struct {
	by            hiding
	offset, begin int
}

func newHTMLReader(source string) *htmlReader {
	r := &htmlReader{scanner: htmlScanner{source: source}, linkColor: linkColor}
	r.quirks = isQuirky(source)
	r.sheet = cssSheet{quirks: r.quirks, room: max(1024, len(source)/64)}
	lastPage, lastStyle := lastTags(source)
	r.readSheets(lastStyle)
	r.matcher = matcher{sheet: &r.sheet, budget: 100_000 + 4*len(source)}
	r.seen = textWriter{out: make([]byte, 0, len(source)/4+64), expected: len(source), room: len(source)/8 + 256}
	r.lost.expected = len(source)
	if r.sheet.asks&asksAhead != 0 {
		r.matcher.shape = surveyPage(r)
	} else {
		r.stack = make([]htmlNode, 0, 24)
	}
	r.begin()
	r.readPage(lastPage)
	return r
}

// begin opens the page.
func (r *htmlReader) begin() {
	r.set.has = 0
	r.push(identity{tag: tagHTML, name: "html"}, &r.set)
	r.pass(identity{tag: tagHead, name: "head"}, &r.set)
	r.push(identity{tag: tagBody, name: "body"}, &r.set)
	r.inBody = false
}

// readPage takes the attributes of the html and body elements before all else, since they count for the text before them, too. The last
// such tag begins at last.
func (r *htmlReader) readPage(last int) {
	templates := 0
	for s := (htmlScanner{source: r.scanner.source}); s.pos <= last; {
		switch token := s.next(); {
		case token == endOfHTML:
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

// readSheets reads all style elements, the last of which begins at last, since those at the end of a page count for its beginning, too.
func (r *htmlReader) readSheets(last int) {
	if last < 0 {
		return
	}
	templates := 0
	for s := (htmlScanner{source: r.scanner.source}); s.pos <= last; {
		token := s.next()
		switch {
		case token == endOfHTML:
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
		}
	}
	if len(r.sheet.selectors) == 0 {
		r.sheet.asks = 0 // what asked was not valid
		return
	}
	r.sheet.index()
}

// lastTags are the offsets of the last tags that look like those of html or body, and of style; negative when there is none.
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
		}
	}
}

func (r *htmlReader) read() {
	s := &r.scanner
	for {
		switch s.next() {
		case endOfHTML:
			r.popTo(0)
			return
		case textToken:
			r.textNode(s.text, s.at)
		case startToken:
			r.startTag()
		case endToken:
			r.endTag(s.tag, s.name)
		case commentToken:
			r.comment(s.text, s.at)
		}
	}
}

// textNode reads a text between tags.
func (r *htmlReader) textNode(text string, at int) {
	if r.sheet.asks != 0 {
		r.noteText(text)
	}
	if r.scanner.isRaw {
		r.rawContent(text, at)
		return
	}
	if r.dropNewline {
		r.dropNewline = false
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if r.anyToReopen() && !isBlankText(text) {
		r.reopenFormats()
	}
	if r.matcher.survey != nil {
		return
	}
	style := r.textStyle()
	if r.open[tagSVG] > 0 && !r.isDrawn() {
		lost := *style
		lost.boxed, lost.why = hiddenByElement, hiddenByElement
		style = &lost
	}
	// Character references are decoded piece by piece, so that a large text is never in memory three times.
	for text != "" {
		length := chunkLength(text)
		r.flow(r.unescape(text[:length]), style, at)
		text, at = text[length:], at+length
	}
}

// isDrawn reports whether a picture shows the text that comes next: it does so in its text elements, and in pages within it.
func (r *htmlReader) isDrawn() bool {
	for i := len(r.stack) - 1; i > 1; i-- {
		switch self := &r.stack[i].self; {
		case self.tag == tagForeignObject || strings.EqualFold(self.name, "text"):
			return true
		case self.tag == tagSVG:
			return false
		}
	}
	return true
}

// unescape decodes the character references of a text.
func (r *htmlReader) unescape(text string) string {
	next := strings.IndexByte(text, '&')
	if next < 0 {
		return text
	}
	if cap(r.decoded) < len(text) {
		r.decoded = make([]byte, 0, len(text)+64)
	}
	r.decoded = r.decoded[:0]
	for ; next >= 0; next = strings.IndexByte(text, '&') {
		end := next + 1
		for end < len(text) && (isLetter(text[end]) || isDigit(text[end]) || text[end] == '#') {
			end++
		}
		if end < len(text) && text[end] == ';' {
			end++
		}
		r.decoded = append(r.decoded, text[:next]...)
		r.decoded = appendReference(r.decoded, text[next:end])
		text = text[end:]
	}
	return string(append(r.decoded, text...))
}

// chunkLength is the length of a part of a text that cuts no character and no reference.
func chunkLength(text string) int {
	const size, longestReference = 8 << 10, 40
	if len(text) <= size {
		return len(text)
	}
	if i := strings.LastIndexByte(text[size-longestReference:size], '&'); i >= 0 {
		return size - longestReference + i
	}
	length := size
	for length > size-utf8.UTFMax && !utf8.RuneStart(text[length]) {
		length--
	}
	return length
}

// rawContent reads the content of an element that holds no markup. Sheets and scripts are no text at all.
func (r *htmlReader) rawContent(text string, at int) {
	switch tag := r.scanner.tag; {
	case r.matcher.survey != nil:
	case tag == tagStyle || tag == tagScript:
	case elements[tag].is(unseen):
		r.hide(hiddenByElement, text, at)
	default:
		style := *r.textStyle()
		style.keep = wordKeep
		r.flow(text, &style, at)
	}
}

// textStyle is the style of text that comes next. Text in a table and not in a cell stands before the table.
func (r *htmlReader) textStyle() *textStyle {
	return &r.stack[r.parent(false)].style
}

// flow gives a text to the person or to those who look for what is hidden.
func (r *htmlReader) flow(text string, style *textStyle, at int) {
	if r.matcher.survey != nil {
		return
	}
	if style.why != notHidden && r.hide(style.why, text, at) {
		return
	}
	if style.boxed == hiddenByDisplay || style.boxed == hiddenByElement {
		return
	}
	length := len(r.seen.out)
	r.seen.text(text, style.keep)
	if len(r.seen.out) > length {
		r.pieceOpen = false
		r.markLinks(length)
	}
	if len(r.seen.removed) > 0 {
		if style.why == notHidden {
			r.hideCharacters(at)
		}
		r.seen.removed = r.seen.removed[:0]
	}
}

// markLinks sets the beginning of links that the text written since length is the first of.
func (r *htmlReader) markLinks(length int) {
	if r.open[tagA] == 0 {
		return
	}
	begin := len(r.seen.out) - len(bytes.TrimLeft(r.seen.out[length:], " \n"))
	for i := range r.stack {
		if n := r.stack[i].link; n > 0 && r.links[n-1].Start < 0 {
			r.links[n-1].Start = begin
		}
	}
}

// hide keeps a hidden text; it reports whether there is any.
func (r *htmlReader) hide(by hiding, text string, at int) bool {
	if isBlankText(text) {
		if r.pieceOpen {
			r.lost.blank = true
		}
		return false
	}
	r.openPiece(by, at)
	r.lost.text(text, wordNone)
	r.lost.removed = r.lost.removed[:0]
	return true
}

// openPiece begins a piece of hidden text, unless the last goes on: with the same reason, and with nothing seen since.
func (r *htmlReader) openPiece(by hiding, at int) {
	last := len(r.pieces) - 1
	if last >= 0 && (r.pieceOpen && r.pieces[last].by == by || last+1 == maxHidden) {
		r.pieceOpen = true
		return
	}
	r.lost.restart()
	r.pieces = append(r.pieces, hiddenPiece{by: by, offset: at, begin: len(r.lost.out)})
	r.pieceOpen = true
}

// hideCharacters keeps the characters that were left out of a text that is seen; those of one text after the other together.
func (r *htmlReader) hideCharacters(at int) {
	if last := len(r.pieces) - 1; last < 0 || r.pieces[last].by != hiddenByCharacter {
		r.pieceOpen = false
		r.openPiece(hiddenByCharacter, at)
	}
	if len(r.lost.out)-r.lost.begin < maxRemoved {
		r.lost.write(string(r.seen.removed))
	}
	r.pieceOpen = false
}

// comment keeps what a comment says. The halves of a condition that all but Outlook pass say nothing.
func (r *htmlReader) comment(text string, at int) {
	inner := strings.TrimLeft(text, " \t\r\n")
	by := hiddenByComment
	if strings.HasPrefix(inner, "[if ") {
		_, inner, _ = strings.Cut(inner, "]>")
		inner = strings.TrimSuffix(strings.TrimRight(inner, " \t\r\n"), "<![endif]")
		by = hiddenByCondition
	}
	if r.matcher.survey != nil || inner == "" || inner == "<!" || inner == "[endif]" || inner == "<![endif]" {
		return
	}
	r.pieceOpen = false
	r.hide(by, inner, at+len("<!--"))
	r.pieceOpen = false
}

// breakLine ends the line, as a block or a br element does.
func (r *htmlReader) breakLine(n int) {
	r.seen.lineBreak(n)
	if r.pieceOpen {
		r.lost.lineBreak(n)
	}
}

// label writes what a picture or a button says of itself. Neither the color nor the size of the text around hides a picture.
func (r *htmlReader) label(text string, style *textStyle) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	shown := *style
	shown.why = shown.boxed
	if shown.why == notHidden && shown.invisible {
		shown.why = hiddenByVisibility
	}
	r.flow(text, &shown, r.scanner.at)
}

// image writes the alternative text of a picture.
func (r *htmlReader) image(self identity) {
	style := r.style(&self, &r.scanner.set, r.parent(false))
	r.label(r.scanner.set.get(attrAlt), &style)
}

// input writes the label of a button, or the text of a field.
func (r *htmlReader) input(self identity) {
	style := r.style(&self, &r.scanner.set, r.parent(false))
	switch kind := lowerASCII(r.scanner.set.get(attrType)); kind {
	case "hidden", "checkbox", "radio", "image", "file", "password", "range", "color":
	default:
		r.label(r.scanner.set.get(attrValue), &style)
	}
}

// item makes the mark of a list's item due.
func (r *htmlReader) item(style *textStyle) {
	if style.why != notHidden {
		return
	}
	mark := listMark{due: true, depth: -1}
	for i := range r.stack {
		if tag := r.stack[i].self.tag; tag == tagOl || tag == tagUl {
			mark.depth++
			mark.number = 0
			if tag == tagOl {
				mark.number = r.stack[i].number
			}
		}
	}
	for i := len(r.stack) - 1; i >= 0; i-- {
		if tag := r.stack[i].self.tag; tag == tagUl {
			break
		} else if tag == tagOl {
			if r.scanner.set.has&(1<<attrValue) != 0 {
				mark.number = listNumber(r.scanner.set.get(attrValue), mark.number)
			}
			r.stack[i].number = mark.number + 1
			break
		}
	}
	mark.depth = max(0, mark.depth)
	r.seen.bullet = mark
}

// listNumber reads the number of an item, within four digits.
func listNumber(s string, otherwise int) int {
	n, err := strconv.Atoi(trimCSS(s))
	if err != nil {
		return otherwise
	}
	return max(1, min(n, 9999))
}

// isQuirky reports whether the doctype, or that there is none, makes browsers show the page in quirks mode.
func isQuirky(source string) bool {
	s := htmlScanner{source: source}
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
