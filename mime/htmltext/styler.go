package htmltext

import (
	"strconv"
	"strings"
)

// A styler computes the styles of elements: the browser's defaults, then their attributes, the sheets and their style
// attribute.
type styler struct {
	quirks    bool
	quirky    bool // a style says something else in standards mode
	sheet     cssSheet
	matcher   matcher
	cascade   cascade
	trial     cascade   // to try rules of which it is unknown whether they apply
	all       []cssDecl // of them; for reuse
	inline    []cssDecl // of a style attribute; for reuse
	page      textStyle // of a page without styles
	linkColor rgba
	overlaps  bool // a painted box may lie over others: text in the color of what is behind it may be visible
	generates bool // a style generates text
}

// styledBy are the attributes that style an element like a sheet.
const styledBy = 1<<attrWidth | 1<<attrHeight | 1<<attrHidden | 1<<attrBgcolor | 1<<attrBackground | 1<<attrColor |
	1<<attrSize | 1<<attrText

// style computes the style of an element within its ancestors.
func (st *styler) style(self *identity, set *attrSet, ancestors []node) textStyle {
	around := &st.page
	if len(ancestors) > 0 {
		around = &ancestors[len(ancestors)-1].style
	}
	element := &elements[self.tag]
	c := &st.cascade
	c.reset()
	st.defaults(self.tag, element, set, ancestors)
	if set.has&styledBy != 0 {
		st.presentation(self.tag, set)
	}
	st.inline = st.inline[:0]
	if set.has&(1<<attrStyle) != 0 {
		p := declParser{quirks: st.quirks, out: st.inline}
		p.parse(set.get(attrStyle))
		st.inline, st.quirky = p.out, st.quirky || p.quirky
	}
	st.matcher.find(self, ancestors)
	for _, important := range [...]bool{false, true} {
		for _, i := range st.matcher.matched {
			decls := st.sheet.declsOf(i)
			st.matcher.budget -= len(decls)
			c.add(decls, important)
		}
		c.add(st.inline, important)
	}
	style := c.apply(around, element.traits)
	if len(st.matcher.unsure) > 0 {
		st.tryUnsure(&style, around, element.traits)
	}
	switch {
	case self.tag == tagDetails && set.has&(1<<attrOpen) == 0:
		style.veiled = true
	case self.tag == tagSummary && len(ancestors) > 1 && ancestors[len(ancestors)-1].self.tag == tagDetails:
		style.veiled = ancestors[len(ancestors)-2].style.veiled
	}
	if c.isPainted && c.isMoved {
		style.onMoved, st.overlaps = c.doubts&mayMove == 0, true
	}
	if len(st.matcher.generated) > 0 && !element.is(void|rawContent) {
		st.noteGenerated(&style)
	}
	return style
}

// noteGenerated judges ::before and ::after of an element. Their text is not read, and their box may lie behind that
// of the element.
func (st *styler) noteGenerated(style *textStyle) {
	if style.why != notHidden && style.why != hiddenByColor {
		return
	}
	t := &st.trial
	isPainted, isMoved := false, false
	for _, selector := range st.matcher.generated {
		decls := st.sheet.declsOf(selector)
		st.matcher.budget -= 8 + len(decls)
		t.reset()
		t.add(decls, false)
		t.add(decls, true)
		s := t.apply(style, 0)
		isPainted, isMoved = isPainted || t.isPainted, isMoved || t.isMoved
		isText := t.is(propContent, wordUnknown) || t.is(propContent, wordDoubt)
		st.generates = st.generates || isText && s.why == notHidden
	}
	if isPainted && isMoved {
		style.anyBackground = true
		style.judge()
	}
}

// tryUnsure applies the rules of which it is unknown whether they apply, as the strongest: each declaration, each
// rule, and all of them. If that hides text that is visible otherwise, or shows hidden text, the text counts as
// visible, and is in doubt.
func (st *styler) tryUnsure(style, around *textStyle, traits elementTraits) {
	st.all = st.all[:0]
	for _, selector := range st.matcher.unsure {
		decls := st.sheet.declsOf(selector)
		for i := range decls {
			st.try(decls[i:i+1], style, around, traits)
		}
		if len(decls) > 1 {
			st.try(decls, style, around, traits)
		}
		st.all = append(st.all, decls...)
	}
	if len(st.matcher.unsure) > 1 {
		st.try(st.all, style, around, traits)
	}
	style.judge()
}

func (st *styler) try(decls []cssDecl, style, around *textStyle, traits elementTraits) {
	const cost = 16
	if st.matcher.budget -= cost + len(decls); st.matcher.budget < 0 {
		return // the reading is incomplete
	}
	st.trial = st.cascade
	st.trial.add(decls, false)
	st.trial.add(decls, true)
	style.compare(st.trial.apply(around, traits))
	st.overlaps = st.overlaps || st.trial.isPainted && st.trial.isMoved
}

// compare notes what a style that may be the true one changes, for the element and for what it holds.
func (s *textStyle) compare(other textStyle) {
	switch {
	case s.why != notHidden && other.why == notHidden:
		*s, other = other, *s
		s.doubt = true
	case s.why == notHidden && other.why != notHidden, other.unsure && !s.unsure:
		s.doubt = true
	}
	const far, small = 50, 1. / 3 // a few of such moves and sizes within each other hide
	s.doubt = s.doubt || other.opacity != s.opacity || other.fontSize < small*s.fontSize
	s.opacity = max(s.opacity, other.opacity)
	x, y := other.at.x-s.at.x, other.at.y-s.at.y
	s.at.isUnknown = s.at.isUnknown || other.at.isUnknown || max(x, -x, y, -y) >= far ||
		other.indent != s.indent && min(other.indent, s.indent) <= -far || other.hasFlatLines() != s.hasFlatLines()
	if other.letters() != s.letters() {
		s.other.letters, s.other.hasLetters, s.other.isFill = other.letters(), true, other.isFilled || s.isFilled
	}
	if other.background != s.background {
		s.other.ground, s.other.hasGround = other.background, true
	}
	s.anyColor = s.anyColor || other.anyColor
	s.anyBackground = s.anyBackground || other.anyBackground || s.other.hasGround || other.isPicture != s.isPicture
	s.drawnAgain = s.drawnAgain || other.drawnAgain
}

// defaults adds the browser's defaults for an element.
func (st *styler) defaults(tag tagName, element *elementInfo, set *attrSet, ancestors []node) {
	c := &st.cascade
	if element.fontSize != 0 {
		c.set(propFontSize, cssValue{number: element.fontSize, unit: unitEm})
	}
	switch tag {
	case tagBdo:
		if strings.EqualFold(set.get(attrDir), "rtl") { // the letters are seen in the opposite order
			c.set(propUnicodeBidi, cssValue{word: wordDoubt})
		}
	case tagA:
		if set.has&(1<<attrHref) != 0 {
			c.set(propColor, cssValue{color: st.linkColor})
		}
	case tagTable:
		if st.quirks { // a table begins anew
			around := &ancestors[len(ancestors)-1].style
			st.quirky = st.quirky || around.fontSize <= minFontSize || len(ancestors) > 1 &&
				around.color != ancestors[1].style.color
			c.set(propFontSize, cssValue{number: defaultFontSize, unit: unitPixel})
			c.set(propLineHeight, cssValue{word: wordNone})
			c.set(propWhiteSpace, cssValue{word: wordNone})
			if len(ancestors) > 1 {
				c.set(propColor, cssValue{color: ancestors[1].style.color})
			}
		}
		c.set(propTextIndent, cssValue{unit: unitPixel})
	case tagMark:
		c.set(propColor, cssValue{color: black})
		c.set(propBackground, cssValue{color: rgba{255, 255, 0, 255}})
	case tagButton:
		c.set(propDisplay, cssValue{word: wordInlineBlock})
		c.set(propColor, cssValue{color: black})
		c.set(propBackground, cssValue{color: rgba{0xef, 0xef, 0xef, 255}})
	case tagInput, tagTextarea, tagSelect:
		c.set(propDisplay, cssValue{word: wordInlineBlock})
		c.set(propColor, cssValue{color: black})
		c.set(propBackground, cssValue{color: white})
		c.set(propFontSize, cssValue{number: 13, unit: unitPixel})
	case tagPre, tagListing, tagXmp, tagPlaintext:
		c.set(propWhiteSpace, cssValue{word: wordKeep})
	case tagDialog:
		if set.has&(1<<attrOpen) == 0 {
			c.set(propDisplay, cssValue{word: wordNone})
		}
	}
	if set.has&(1<<attrPopover) != 0 {
		c.set(propDisplay, cssValue{word: wordNone})
	}
}

// presentation adds the styles of attributes other than style.
func (st *styler) presentation(tag tagName, set *attrSet) {
	c := &st.cascade
	if set.has&(1<<attrHidden) != 0 {
		if strings.EqualFold(set.get(attrHidden), "until-found") {
			c.set(propContentVisibility, cssValue{word: wordDoubt})
		} else {
			c.set(propDisplay, cssValue{word: wordNone})
		}
	}
	traits := elements[tag].traits
	if tag == tagTable || tag == tagBody || traits&tableContent != 0 {
		if color, ok := parseLegacyColor(set.get(attrBgcolor)); ok {
			c.set(propBackground, cssValue{color: color})
		}
		if set.get(attrBackground) != "" {
			c.set(propBackgroundImage, cssValue{word: wordUnknown})
		}
	}
	switch tag {
	case tagImg:
		c.setPixels(propWidth, set.get(attrWidth))
		c.setPixels(propHeight, set.get(attrHeight))
	case tagBody:
		if color, ok := parseLegacyColor(set.get(attrText)); ok {
			c.set(propColor, cssValue{color: color})
		}
	case tagFont:
		if color, ok := parseLegacyColor(set.get(attrColor)); ok {
			c.set(propColor, cssValue{color: color})
		}
		if size, ok := legacyFontSize(set.get(attrSize)); ok {
			c.set(propFontSize, cssValue{number: size, unit: unitPixel})
		}
	}
}

// setPixels sets a size that an attribute gives in pixels; other units are ignored.
func (c *cascade) setPixels(prop cssProp, value string) {
	if size, err := strconv.Atoi(trimCSS(value)); err == nil {
		c.set(prop, cssValue{number: float32(size), unit: unitPixel})
	}
}

// legacyFontSize reads the size of a font element: 1 to 7, or with a sign relative to 3.
func legacyFontSize(s string) (float32, bool) {
	s = trimCSS(s)
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, false
	}
	if s[0] == '+' || s[0] == '-' {
		n += 3
	}
	return [...]float32{10, 13, 16, 18, 24, 32, 48}[max(1, min(n, 7))-1], true
}
