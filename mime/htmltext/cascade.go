package htmltext

// A cascade collects the declarations of one element, the weakest first, and computes its style.
type cascade struct {
	has    uint64
	doubts uint64 // the properties whose value is wordDoubt
	values [propCount]cssValue
	// unsure reports that a relevant value of the element is not read, isPainted that its box is painted, and isMoved that
	// the box may lie over others.
	unsure, isPainted, isMoved bool
}

func (c *cascade) reset() { c.has, c.doubts = 0, 0 }

func (c *cascade) set(prop cssProp, v cssValue) {
	bit := uint64(1) << prop
	if v.word == wordUnset {
		v.word = wordInitial
		if inherited&bit != 0 {
			v.word = wordInherit
		}
	}
	c.has |= bit
	c.doubts &^= bit
	if v.word == wordDoubt {
		c.doubts |= bit
	}
	c.values[prop] = v
}

// inherited holds the properties that are inherited by default.
const inherited = 1<<propColor | 1<<propFillColor | 1<<propFontSize | 1<<propLineHeight |
	1<<propTextIndent | 1<<propVisibility | 1<<propWhiteSpace | 1<<propShadow | 1<<propStroke | 1<<propLetterSpacing

// add adds either the important declarations or the others.
func (c *cascade) add(decls []cssDecl, important bool) {
	for i := range decls {
		switch d := &decls[i]; {
		case d.important != important:
		case d.prop == propAll:
			for prop := range propCount {
				c.set(prop, d.value)
			}
		default:
			c.set(d.prop, d.value)
		}
	}
}

// get returns a declared value. Inherited and default values are not included, nor are values that are not read,
// which make the element unsure.
func (c *cascade) get(prop cssProp) (cssValue, bool) {
	if c.has&(1<<prop) == 0 {
		return cssValue{}, false
	}
	v := c.values[prop]
	if v.word == wordDoubt {
		c.unsure = true
	}
	return v, v.word != wordInherit && v.word != wordInitial && v.word != wordDoubt
}

// is reports whether a property has the word as its value.
func (c *cascade) is(prop cssProp, word cssWord) bool {
	return c.has&(1<<prop) != 0 && c.values[prop].word == word
}

// apply computes the style of an element from the surrounding one.
func (c *cascade) apply(around *textStyle, traits elementTraits) textStyle {
	s := *around
	s.display = wordInline
	if traits&(block|tableContent) != 0 {
		s.display = wordBlock
	}
	c.unsure, c.isPainted, c.isMoved = c.doubts&mayHide != 0, false, false
	if c.has != 0 {
		c.applyDisplay(&s, around)
		c.applyText(&s, around)
		if s.display != wordNone && s.display != wordContents {
			c.applyPlace(&s)
		}
		c.applyColors(&s)
		c.applyBox(&s, traits)
		s.doubt = s.doubt || c.unsure
	}
	if s.display != wordInline && s.display != wordContents {
		s.shift = s.indent
		s.at.isUnknown = s.at.isUnknown || c.is(propDisplay, wordDoubt) && s.shift <= -farAway
	}
	switch {
	case traits&unseen != 0:
		s.seal(hiddenByElement)
	case s.display == wordNone:
		s.seal(hiddenByDisplay)
	}
	s.judge()
	return s
}

func (c *cascade) applyDisplay(s, around *textStyle) {
	if v, ok := c.get(propDisplay); ok {
		s.display = v.word
	} else if c.is(propDisplay, wordInherit) {
		s.display = around.display
	} else if c.is(propDisplay, wordInitial) {
		s.display = wordInline
	}
	floats := c.is(propFloat, wordBlock) || c.isOutOfFlow()
	if floats && (s.display == wordInline || s.display == wordInlineBlock) {
		s.display = wordBlock
	}
}

// applyText applies the styles of letters. One that is not read does not hide.
func (c *cascade) applyText(s, around *textStyle) {
	if v, ok := c.get(propVisibility); ok {
		s.invisible = v.word == wordHidden
	} else if c.forgets(propVisibility) {
		s.invisible = false
	}
	c.applyFontSize(s, around)
	if v, ok := c.get(propLineHeight); ok {
		s.lineHeight = -1
		if v.word == 0 && v.unit == unitNumber {
			s.lineHeight = v.number * s.fontSize
		} else if v.word == 0 {
			s.lineHeight = v.inPixels(s.fontSize, 0)
		}
	} else if c.forgets(propLineHeight) {
		s.lineHeight = -1
	}
	if v, ok := c.get(propTextIndent); ok {
		s.indent = v.inPixels(s.fontSize, windowWidth)
	} else if c.forgets(propTextIndent) {
		s.indent = 0
	}
	const crammed = -.4 // of the size of the letters
	if v, ok := c.get(propLetterSpacing); ok {
		s.crammed = v.word == 0 && v.inPixels(s.fontSize, 0) <= crammed*s.fontSize
	} else if c.forgets(propLetterSpacing) {
		s.crammed = false
	}
	if v, ok := c.get(propWhiteSpace); ok {
		s.keep = v.word
	} else if c.forgets(propWhiteSpace) {
		s.keep = wordNone
	}
	if v, ok := c.get(propOpacity); ok {
		s.opacity *= v.number
	}
}

func (c *cascade) applyFontSize(s, around *textStyle) {
	if v, ok := c.get(propFontSize); ok {
		s.fontSize = v.inPixels(around.fontSize, 0)
		s.isFixed = v.unit == unitPixel || around.isFixed
	} else if c.is(propFontSize, wordInitial) {
		s.fontSize, s.isFixed = defaultFontSize, false
	} else if c.is(propFontSize, wordDoubt) {
		s.fontSize = max(s.fontSize, defaultFontSize)
	}
}

// forgets reports whether a property does not keep the inherited value, and has no other that is known.
func (c *cascade) forgets(prop cssProp) bool {
	return c.is(prop, wordInitial) || c.is(prop, wordDoubt)
}

const (
	ofLetters = 1<<propColor | 1<<propFillColor | drawsAgain
	ofGround  = 1<<propBackground | 1<<propBackgroundImage
)

// applyColors applies the colors of the letters and of what is behind them.
func (c *cascade) applyColors(s *textStyle) {
	if c.has&ofLetters != 0 {
		c.applyLetters(s)
	}
	if c.isMoved || c.is(propFloat, wordBlock) || c.doubts&(repaints|mayMove) != 0 {
		s.anyBackground = true // the backdrop is unknown
	}
	if c.has&ofGround != 0 {
		c.applyGround(s)
	}
	if c.doubts&repaints != 0 { // of what the element itself is painted on
		s.anyBackground = true
		s.anyColor = s.anyColor || c.is(propColorScheme, wordDoubt)
	}
}

func (c *cascade) applyLetters(s *textStyle) {
	if v, ok := c.get(propColor); ok && v.word != wordCurrent { // that is the inherited color
		s.color, s.anyColor = v.color, false
		s.other.hasLetters = s.other.hasLetters && s.other.isFill
	} else if c.is(propColor, wordInitial) {
		s.color, s.anyColor = black, false
	} else if c.is(propColor, wordDoubt) {
		s.anyColor = true
	}
	if v, ok := c.get(propFillColor); ok {
		s.fill, s.isFilled = v.color, v.word != wordCurrent
		s.other.hasLetters = false
	} else if c.is(propFillColor, wordInitial) {
		s.isFilled = false
	} else if c.is(propFillColor, wordDoubt) {
		s.isFilled, s.anyColor = false, true
	}
	switch {
	case c.doubts&drawsAgain != 0:
		s.drawnAgain = true
	case c.is(propShadow, wordNone) && c.is(propStroke, wordNone):
		s.drawnAgain = false
	}
}

// applyGround applies the paint behind the letters.
func (c *cascade) applyGround(s *textStyle) {
	v, ok := c.get(propBackground)
	switch v.word {
	case wordCurrent:
		v.color, v.word = s.color, 0
		if s.anyColor {
			ok, s.anyBackground = false, true
		}
	case wordDoubt:
		s.anyBackground = true
	}
	image, hasImage := c.get(propBackgroundImage)
	hasImage = hasImage && image.word == wordUnknown
	hasColor := ok && v.word == 0 && v.color.a > 0
	c.isPainted = hasImage || hasColor
	if hasColor {
		if v.color.a == 255 {
			s.isPicture, s.anyBackground, s.other.hasGround = false, false, false
		}
		s.background = v.color.over(s.background)
	}
	s.isPicture = s.isPicture || hasImage
}
