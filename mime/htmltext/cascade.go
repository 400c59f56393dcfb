package htmltext

import (
	"slices"
	"strconv"
	"strings"
)

// styledBy are the attributes that style an element like a sheet.
const styledBy = 1<<attrWidth | 1<<attrHeight | 1<<attrHidden | 1<<attrBgcolor | 1<<attrBackground | 1<<attrColor | 1<<attrSize | 1<<attrText | 1<<attrDir

// styleIn computes the style of an element: the browser's defaults, then its attributes, the sheets and its style attribute.
func (r *reader) styleIn(self *identity, set *attrSet, ancestors []node) textStyle {
	if r.matcher.survey != nil {
		if r.matcher.budget >= 0 {
			r.matcher.find(self, ancestors)
		}
		return textStyle{}
	}
	around := &pageStyle
	if len(ancestors) > 0 {
		around = &ancestors[len(ancestors)-1].style
	}
	element := &elements[self.tag]
	c := &r.cascade
	c.has = 0
	r.defaults(self.tag, element, set)
	c.keepDefaults()
	if set.has&styledBy != 0 {
		r.presentation(self.tag, set)
	}
	r.readInline(set)
	var matched []cssMatch
	r.matcher.parts = r.matcher.parts[:0]
	if len(r.sheet.selectors) > 0 && r.matcher.budget >= 0 {
		matched = r.matcher.find(self, ancestors)
	}
	r.vars = around.vars
	if r.sheet.asks&asksVariables != 0 || r.inlineAsks {
		r.setVariables(around.vars, matched)
	}
	r.addAll(matched)
	style := c.apply(around, element.traits)
	style.vars = r.vars
	switch {
	case self.tag == tagDetails && set.has&(1<<attrOpen) == 0:
		style.veiled = true
	case self.tag == tagSummary && len(ancestors) > 1 && ancestors[len(ancestors)-1].self.tag == tagDetails:
		style.veiled = ancestors[len(ancestors)-2].style.veiled
	}
	if c.isPainted && c.isMoved {
		style.onMoved = true
		r.noteOverlap()
	}
	return style
}

// readInline reads the style attribute.
func (r *reader) readInline(set *attrSet) {
	r.inline, r.inlineTexts, r.inlineAsks = r.inline[:0], r.inlineTexts[:0], false
	if set.has&(1<<attrStyle) == 0 {
		return
	}
	p := declParser{quirks: r.quirks, out: r.inline, texts: r.inlineTexts, textRoom: variableTexts}
	p.parse(set.get(attrStyle))
	r.inline, r.inlineTexts, r.inlineAsks = p.out, p.texts, p.asksVariables
	if p.asksLayerBelow {
		r.sheet.asks |= asksLayerBelow
	}
}

// addAll adds matching rules and the style attribute to the cascade. Layers of important declarations come in the opposite order.
func (r *reader) addAll(matched []cssMatch) {
	r.addMatches(matched, false)
	r.addDeclarations(r.inline, r.inlineTexts, false)
	if len(r.sheet.layers) > 0 && len(matched) > 1 {
		slices.SortStableFunc(matched, func(a, b cssMatch) int {
			return int(r.sheet.rank(&r.sheet.selectors[b.selector]) - r.sheet.rank(&r.sheet.selectors[a.selector]))
		})
	}
	r.addMatches(matched, true)
	r.addDeclarations(r.inline, r.inlineTexts, true)
}

func (r *reader) addMatches(matched []cssMatch, important bool) {
	keepsBelow := r.sheet.asks&asksLayerBelow != 0
	layer := int32(-1)
	for _, match := range matched {
		rule := &r.sheet.rules[r.sheet.selectors[match.selector].rule]
		r.matcher.budget -= int(rule.count)
		if keepsBelow && rule.layer != layer {
			r.cascade.keepBelow()
			layer = rule.layer
		}
		decls := r.sheet.decls[rule.first : rule.first+rule.count]
		if match.unsure || rule.unsure {
			r.cascade.addRevealing(decls, important)
		} else {
			r.addDeclarations(decls, r.sheet.texts, important)
		}
	}
	if keepsBelow {
		r.cascade.keepBelow()
	}
}

// addDeclarations adds either the important declarations or the others.
func (r *reader) addDeclarations(decls []cssDecl, texts []string, important bool) {
	for i := range decls {
		switch d := &decls[i]; {
		case d.important != important || d.prop == propVariable:
		case d.text > 0:
			r.addWithVariables(d, texts)
		case d.prop == propAll:
			r.cascade.setAll(d.value)
		default:
			r.cascade.set(d.prop, d.value)
		}
	}
}

// defaults adds the browser's defaults for an element.
func (r *reader) defaults(tag tagName, element *elementInfo, set *attrSet) {
	c := &r.cascade
	if element.fontSize != 0 {
		c.set(propFontSize, cssValue{number: element.fontSize, unit: unitEm})
	}
	switch tag {
	case tagHTML:
		if r.isDark {
			c.set(propColorScheme, cssValue{word: wordDark})
		}
	case tagBdo:
		c.set(propUnicodeBidi, cssValue{word: wordOverride})
	case tagA:
		if set.has&(1<<attrHref) != 0 {
			c.set(propColor, cssValue{color: r.linkColor})
		}
	case tagTable:
		if r.quirks { // a table begins anew
			c.set(propFontSize, cssValue{number: defaultFontSize, unit: unitPixel})
			c.set(propLineHeight, cssValue{word: wordNone})
			c.set(propWhiteSpace, cssValue{word: wordNone})
			if len(r.stack) > 1 {
				c.set(propColor, cssValue{color: r.stack[1].style.color})
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
func (r *reader) presentation(tag tagName, set *attrSet) {
	c := &r.cascade
	if set.has&(1<<attrHidden) != 0 {
		if strings.EqualFold(set.get(attrHidden), "until-found") {
			c.set(propContentVisibility, cssValue{word: wordHidden})
		} else {
			c.set(propDisplay, cssValue{word: wordNone})
		}
	}
	if dir := set.get(attrDir); strings.EqualFold(dir, "rtl") {
		c.set(propDirection, cssValue{word: wordReversed})
	} else if strings.EqualFold(dir, "ltr") {
		c.set(propDirection, cssValue{word: wordNone})
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
