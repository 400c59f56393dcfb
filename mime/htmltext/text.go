package htmltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// textNode reads a text between tags.
func (r *reader) textNode(text string, at int) {
	if len(r.stack) == 2 && !r.inBody && !isBlankText(text) {
		r.inBody = !r.scanner.isRaw || r.scanner.tag != tagStyle && r.scanner.tag != tagScript
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
	style := r.textStyle()
	if r.open[tagSVG] > 0 && !r.isDrawn() {
		lost := *style
		lost.boxed, lost.why = hiddenByElement, hiddenByElement
		style = &lost
	}
	// Character references are decoded piece by piece, so that a large text is never in memory three times.
	for text != "" {
		length := chunkLength(text)
		r.out.flow(r.unescape(text[:length]), style, at)
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
	case tag == tagStyle || tag == tagScript:
	case elements[tag].is(unseen):
		r.out.hide(hiddenByElement, text, at)
	default:
		style := *r.textStyle()
		style.keep = wordKeep
		r.out.flow(text, &style, at)
	}
}

// textStyle returns the style of the next text. Text in a table that is not in a cell stands before the table.
func (r *reader) textStyle() *textStyle {
	return &r.stack[r.parent(false)].style
}

// label writes the label of a picture or a button. The color and the size of the surrounding text do not hide a
// picture.
func (r *reader) label(text string, style *textStyle) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	shown := *style
	shown.why, shown.unsure = shown.boxed, shown.doubt || shown.at.isUnknown
	switch {
	case shown.why != notHidden:
	case shown.invisible:
		shown.why = hiddenByVisibility
	case shown.at.isAway() && !shown.at.isUnknown:
		shown.why = hiddenByPosition
	}
	r.out.flow(text, &shown, r.scanner.at)
}

// image writes the alternative text of a picture. That of a picture of at most one pixel is no hidden text: programs
// that count readers write one, and nobody would read it in place of the picture.
func (r *reader) image(self identity) {
	style := r.style(&self, &r.scanner.set, r.parent(false))
	for _, prop := range []cssProp{propWidth, propHeight} {
		if size, ok := r.styler.cascade.get(prop); ok && size.word == 0 && size.unit == unitPixel &&
			size.number <= minFontSize {
			return
		}
	}
	length := r.out.seen.out.Len()
	r.label(r.scanner.set.get(attrAlt), &style)
	r.out.markAlternative(length)
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
	r.out.seen.bullet = mark
}

// listNumber reads the number of an item, within four digits.
func listNumber(s string, otherwise int) int {
	n, err := strconv.Atoi(trimCSS(s))
	if err != nil {
		return otherwise
	}
	return max(1, min(n, 9999))
}
