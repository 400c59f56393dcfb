package mime

import (
	"strconv"
	"strings"
)

// styledBy are the attributes that style an element.
const styledBy = 1<<attrStyle | 1<<attrHidden | 1<<attrBgcolor | 1<<attrBackground | 1<<attrColor | 1<<attrSize | 1<<attrText | 1<<attrOpen

// styleIn computes the style of an element: what browsers give it, then its attributes, the sheets and its style attribute.
func (r *htmlReader) styleIn(self *identity, set *attrSet, ancestors []htmlNode, before *identity) textStyle {
	around := rootStyle()
	if len(ancestors) > 0 {
		around = ancestors[len(ancestors)-1].style
	}
	element := &elements[self.tag]
	c := &r.cascade
	c.has = 0
	r.defaults(self.tag, element, set)
	if set.has&styledBy != 0 {
		r.presentation(self.tag, set)
	}
	r.inline = r.inline[:0]
	if set.has&(1<<attrStyle) != 0 {
		r.inline = parseDeclarations(set.get(attrStyle), r.quirks, r.inline)
	}
	if len(r.sheet.selectors) == 0 || r.matcher.budget < 0 {
		c.add(r.inline, false)
		c.add(r.inline, true)
		return c.apply(&around, element.traits)
	}
	matched := r.matcher.find(self, ancestors, before)
	for _, important := range []bool{false, true} {
		for _, i := range matched {
			r.addRule(&r.sheet.selectors[i], important)
		}
		c.add(r.inline, important)
	}
	return c.apply(&around, element.traits)
}

func (r *htmlReader) addRule(selector *cssSelector, important bool) {
	rule := r.sheet.rules[selector.rule]
	r.matcher.budget -= int(rule.count)
	decls := r.sheet.decls[rule.first : rule.first+rule.count]
	if selector.unsure {
		r.cascade.addRevealing(decls, important)
	} else {
		r.cascade.add(decls, important)
	}
}

// defaults adds what browsers give an element.
func (r *htmlReader) defaults(tag htmlTag, element *htmlElement, set *attrSet) {
	c := &r.cascade
	if element.fontSize != 0 {
		c.set(propFontSize, cssValue{number: element.fontSize, unit: unitEm})
	}
	switch tag {
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
		c.set(propBackground, cssValue{color: htmlColor{255, 255, 0, 255}})
	case tagButton:
		c.set(propDisplay, cssValue{word: wordInlineBlock})
		c.set(propColor, cssValue{color: black})
		c.set(propBackground, cssValue{color: htmlColor{0xef, 0xef, 0xef, 255}})
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
}

// presentation adds what attributes other than style say.
func (r *htmlReader) presentation(tag htmlTag, set *attrSet) {
	c := &r.cascade
	if set.has&(1<<attrHidden) != 0 {
		if strings.EqualFold(set.get(attrHidden), "until-found") {
			c.set(propContentVisibility, cssValue{word: wordHidden})
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

// legacyFontSize reads the size of a font element: 1 to 7, or with a sign so much more or less than 3.
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
