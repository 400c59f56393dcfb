package htmltext

import "strings"

// An elementPart is a part of an element that styles can name; 0 is the whole element.
type elementPart uint8

const (
	partBefore elementPart = iota + 1 // generated text before the element's content
	partAfter
	partFirst // the first line or letter
	partCount
)

var elementParts = map[string]elementPart{"before": partBefore, "after": partAfter, "first-line": partFirst, "first-letter": partFirst}

// A generatedText is a text that a style adds to the page.
type generatedText struct {
	text  string
	style textStyle
}

// content keeps the texts of a content property.
func (p *declParser) content(written, value string) {
	if p.textRoom--; p.textRoom < 0 {
		return
	}
	p.texts = append(p.texts, written)
	p.set(propContent, cssValue{word: shapeWord(propContent, value), number: float32(len(p.texts))})
}

// addPageParts adds the parts of the html and body elements once their attributes are known.
func (r *reader) addPageParts() {
	for i := range r.stack {
		if r.restyle(i); len(r.matcher.parts) > 0 {
			r.addParts(&r.stack[i])
		}
	}
}

// addParts adds the styles of the parts of an element that was just opened.
func (r *reader) addParts(node *node) {
	if r.matcher.survey != nil || elements[node.self.tag].is(void|rawContent) {
		return
	}
	found := r.matcher.parts
	r.sheet.sort(found)
	r.inline, r.inlineTexts = r.inline[:0], r.inlineTexts[:0]
	around := r.vars
	for part := partBefore; part < partCount; part++ {
		r.partMatches = r.partMatches[:0]
		for _, match := range found {
			if r.sheet.selectors[match.selector].part == part {
				r.partMatches = append(r.partMatches, match)
			}
		}
		if len(r.partMatches) == 0 {
			continue
		}
		c := &r.cascade
		c.has = 0
		c.keepDefaults()
		r.vars = node.style.vars
		r.addAll(r.partMatches)
		if part == partFirst {
			c.has &= ofLetters | ofGround | 1<<propFontSize
		}
		style := c.apply(&node.style, 0)
		if part == partFirst {
			node.doubtFirst(style.why)
		} else {
			r.addGenerated(node, part, &style)
		}
	}
	r.vars, r.matcher.parts = around, found[:0]
}

// doubtFirst records that the first line or letter is hidden while the rest is visible, or the other way round.
func (node *node) doubtFirst(why hiding) {
	s := &node.style
	if why == s.why {
		return
	}
	s.doubt = true
	switch s.why {
	case hiddenByColor:
		s.anyBackground = true
	case hiddenBySize:
		s.fontSize, s.zoom = defaultFontSize, 1
	}
	s.judge()
}

// addGenerated stores a text until its place is reached.
func (r *reader) addGenerated(node *node, part elementPart, style *textStyle) {
	v, ok := r.cascade.get(propContent)
	if !ok || v.number == 0 || style.display == wordNone {
		r.cascade.doubtful = r.cascade.doubtful || v.word == wordDoubt && style.why == notHidden
		return
	}
	if r.cascade.isPainted && r.cascade.isMoved {
		node.style.anyBackground = true // it may stand behind the letters
		node.style.judge()
	}
	if r.generateRoom < 0 {
		r.cascade.doubtful = true
		return
	}
	text, known := contentText(r.sheet.texts[int(v.number)-1], &node.self)
	if style.why != notHidden {
		return
	}
	r.cascade.doubtful = r.cascade.doubtful || !known
	if isBlankText(text) {
		return
	}
	if r.generateRoom -= len(text); r.generateRoom < 0 {
		r.cascade.doubtful = true
		return
	}
	generated := generatedText{text, *style}
	if part == partBefore {
		r.before = append(r.before, generated)
		return
	}
	r.after = append(r.after, generated)
	node.after = len(r.after)
}

// generateBefore writes the texts before the content of the element that was opened last.
func (r *reader) generateBefore() {
	for i := range r.before {
		r.generate(&r.before[i])
	}
	r.before = r.before[:0]
}

// generateAfter writes the text after an element's content.
func (r *reader) generateAfter(node *node) {
	if node.after > 0 && node.after <= len(r.after) {
		r.generate(&r.after[node.after-1])
		r.after = r.after[:node.after-1]
	}
}

func (r *reader) generate(g *generatedText) {
	isBlock := g.style.display == wordBlock || g.style.display == wordTable
	if isBlock {
		r.breakLine(1)
	}
	r.flow(g.text, &g.style, r.scanner.at)
	if isBlock {
		r.breakLine(1)
	}
}

// contentText reads the strings and attributes of a content property. It reports whether there is nothing else.
func contentText(value string, element *identity) (text string, known bool) {
	var out strings.Builder
	known = true
	for part := range cssParts(value) {
		switch name, args, rest := cutFunction(part); {
		case part == "/":
			return out.String(), known // the rest is for people who cannot see
		case part[0] == '"' || part[0] == '\'':
			length := quotedLength(part)
			out.WriteString(unescapeCSS(strings.Trim(part[:length], part[:1])))
			known = known && length == len(part)
		case lowerCSS(name) == "attr" && rest == "":
			found, _ := element.attribute(args)
			out.WriteString(found)
		case imageWord(lowerCSS(part)) == wordUnknown:
		default:
			known = false
		}
	}
	return out.String(), known
}

// noteOverlap records that a painted box may lie behind texts, or over them. The verdict on text hidden by color came too early.
func (r *reader) noteOverlap() {
	if r.overlaps {
		return
	}
	r.overlaps = true
	for _, piece := range r.pieces {
		r.cascade.doubtful = r.cascade.doubtful || piece.by == hiddenByColor
	}
}

// reverse returns a text in visible order if its letters are forced from right to left. It ignores lines and elements within the
// text.
func (r *reader) reverse(text string) string {
	const line = 100
	if isBlankText(text) {
		return text
	}
	r.cascade.doubtful = r.cascade.doubtful || r.isReversed || len(text) > line
	r.isReversed = true
	const brackets = "()[]{}<>\u00ab\u00bb"
	letters := []rune(text)
	for i, j := 0, len(letters)-1; i < j; i, j = i+1, j-1 {
		letters[i], letters[j] = letters[j], letters[i]
	}
	runes := []rune(brackets)
	for i, letter := range letters {
		for j, bracket := range runes {
			if letter == bracket {
				letters[i] = runes[j^1]
			}
		}
	}
	return string(letters)
}
