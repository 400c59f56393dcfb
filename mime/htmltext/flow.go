package htmltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// textNode reads a text between tags.
func (r *reader) textNode(text string, at int) {
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

// isDrawn reports whether a picture shows the next text: only in its text elements, and in pages within it.
func (r *reader) isDrawn() bool {
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
func (r *reader) unescape(text string) string {
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
		r.decoded = r.references.append(r.decoded, text[next:end])
		text = text[end:]
	}
	return string(append(r.decoded, text...))
}

// chunkLength returns the length of a part of a text that does not cut a character or a reference.
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

// rawContent reads the content of an element whose content is not markup. Style sheets and scripts are not text at all.
func (r *reader) rawContent(text string, at int) {
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

// textStyle returns the style of the next text. Text in a table that is not in a cell stands before the table.
func (r *reader) textStyle() *textStyle {
	return &r.stack[r.parent(false)].style
}

// flow writes a text to the visible or the hidden text.
func (r *reader) flow(text string, style *textStyle, at int) {
	if r.matcher.survey != nil {
		return
	}
	if why := style.why; why != notHidden {
		if why == hiddenByColor && r.overlaps && !style.onMoved {
			r.cascade.doubtful = r.cascade.doubtful || !isBlankText(text)
		} else if r.hide(why, text, at) {
			return
		}
	}
	if style.boxed == hiddenByDisplay || style.boxed == hiddenByElement {
		return
	}
	if style.unsure && !r.cascade.doubtful {
		r.cascade.doubtful = !isBlankText(text)
	}
	if style.isReversed {
		text = r.reverse(text)
	} else {
		r.isReversed = r.isReversed && isBlankText(text)
	}
	length := r.seen.out.Len()
	r.seen.text(text, style.keep)
	if r.seen.out.Len() > length {
		r.pieceOpen = false
		r.markLinks(length)
		if style.isDoubtful() && len(r.doubtful) < maxRemoved {
			r.doubtful = append(append(r.doubtful, r.seen.out.String()[length:]...), ' ')
		}
	}
	if len(r.seen.removed) > 0 {
		if style.why == notHidden {
			r.hideCharacters(at)
		}
		r.seen.removed = r.seen.removed[:0]
	}
}

// markLinks sets the start of links whose text begins with the text written since length.
func (r *reader) markLinks(length int) {
	if r.open[tagA] == 0 {
		return
	}
	begin := r.seen.out.Len() - len(strings.TrimLeft(r.seen.out.String()[length:], " \n"))
	for i := range r.stack {
		if n := r.stack[i].link; n > 0 && r.links[n-1].Start < 0 {
			r.links[n-1].Start = begin
		}
	}
}

// hide stores a hidden text. It reports whether there is any.
func (r *reader) hide(by hiding, text string, at int) bool {
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

// openPiece begins a piece of hidden text, unless the last one continues: it has the same reason, and no visible text came since.
func (r *reader) openPiece(by hiding, at int) {
	last := len(r.pieces) - 1
	if last >= 0 && (r.pieceOpen && r.pieces[last].by == by || last+1 == maxHidden) {
		r.pieceOpen = true
		return
	}
	r.lost.restart()
	r.pieces = append(r.pieces, hiddenPiece{by: by, offset: at, begin: r.lost.out.Len()})
	r.pieceOpen = true
}

// hideCharacters stores the characters that were left out of a visible text. Those of consecutive texts are joined.
func (r *reader) hideCharacters(at int) {
	if last := len(r.pieces) - 1; last < 0 || r.pieces[last].by != hiddenByCharacter {
		r.pieceOpen = false
		r.openPiece(hiddenByCharacter, at)
	}
	if r.lost.out.Len()-r.lost.begin < maxRemoved {
		r.lost.write(string(r.seen.removed))
	}
	r.pieceOpen = false
}

// comment stores the text of a comment. The halves of a condition that excludes only Outlook have none.
func (r *reader) comment(text string, at int) {
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
func (r *reader) breakLine(n int) {
	r.seen.lineBreak(n)
	if r.pieceOpen {
		r.lost.lineBreak(n)
	}
}

// label writes the label of a picture or a button. The color and the size of the surrounding text do not hide a picture.
func (r *reader) label(text string, style *textStyle) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	shown := *style
	shown.why, shown.unsure = shown.boxed, false
	switch {
	case shown.why != notHidden:
	case shown.invisible:
		shown.why = hiddenByVisibility
	case shown.at.isAway() && !shown.at.isTurned:
		shown.why = hiddenByPosition
	case shown.at.scale < minScale:
		shown.why = hiddenByClipping
	}
	r.flow(text, &shown, r.scanner.at)
}

// image writes the alternative text of a picture, unless the picture is too small for a text.
func (r *reader) image(self identity) {
	style := r.style(&self, &r.scanner.set, r.parent(false))
	for _, prop := range []cssProp{propWidth, propHeight} {
		if size, ok := r.cascade.get(prop); ok && size.word == 0 && size.unit == unitPixel && size.number <= minFontSize && style.boxed == notHidden {
			style.boxed = hiddenBySize
		}
	}
	if r.matcher.survey != nil {
		return
	}
	length := r.seen.out.Len()
	r.label(r.scanner.set.get(attrAlt), &style)
	r.markAlternative(length)
}

// markAlternative notes the position of a picture's text that was written since length.
func (r *reader) markAlternative(length int) {
	end := r.seen.out.Len()
	if end == length {
		return
	}
	if len(r.alternative) == maxAlternatives {
		r.cascade.doubtful = true
		return
	}
	begin := end - len(strings.TrimLeft(r.seen.out.String()[length:], " \n"))
	r.alternative = append(r.alternative, Span{begin, end})
}

// input writes the label of a button, or the text of a field.
func (r *reader) input(self identity) {
	style := r.style(&self, &r.scanner.set, r.parent(false))
	switch kind := lowerASCII(r.scanner.set.get(attrType)); kind {
	case "hidden", "checkbox", "radio", "image", "file", "password", "range", "color":
	default:
		r.label(r.scanner.set.get(attrValue), &style)
	}
}

// item makes the mark of a list's item due.
func (r *reader) item(style *textStyle) {
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
