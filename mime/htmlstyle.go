package mime

import "math/bits"

const (
	defaultFontSize = 16
	// minFontSize is the size in pixels up to which text is taken for hidden. Sizes that are relative to the default size are not
	// made so small by browsers.
	minFontSize = 1
	noFontSize  = 1e-7 // but this is none
	// minOpacity is the opacity below which it is.
	minOpacity = .1
	// farAway is how many pixels to the left or above text is out of sight; farRight to the right, where windows can be
	// scrolled.
	farAway  = 500
	farRight = 5000
)

// A textStyle is what styles say about the text in an element.
type textStyle struct {
	// Inherited.
	color      htmlColor
	background htmlColor // that is seen behind the text
	isPicture  bool      // the background is a picture, so that no color is known to be lost on it
	anyColor   bool      // the color is not known
	invisible  bool
	fontSize   float32
	isFixed    bool    // the size goes back to one in pixels
	lineHeight float32 // in pixels; negative when it is that of the font
	indent     float32 // of the first line of a block
	opacity    float32
	zoom       float32
	fill       htmlColor // in place of the color
	isFilled   bool
	keep       cssWord
	crammed    bool  // letters stand upon each other
	veiled     bool  // behind a mask, or in what is closed
	vars       int32 // 1 + the place of the last frame of variables
	// boxed is why all that the element holds is hidden, whatever is said within.
	boxed hiding

	// The element's own.
	display cssWord
	shift   float32 // the indent of the line that its text stands on
	// why is the reason why its text is hidden; empty when it is seen.
	why hiding
}

// pageStyle is that of a page without styles.
var pageStyle = textStyle{
	color: black, background: white, fontSize: defaultFontSize, lineHeight: -1, opacity: 1, zoom: 1, keep: wordNone, display: wordBlock,
}

// A cascade collects what counts for one element, the weakest first.
type cascade struct {
	has    uint64
	values [propCount]cssValue
	// defaults are what browsers give the element, and below what the layers below say, where a sheet asks for it.
	defaults []cssDecl
	below    *cascade
	// doubtful reports that a rule which may hide something was left out, since it is not known whether it applies.
	doubtful bool
}

func (c *cascade) set(prop cssProp, v cssValue) {
	if v.word >= wordUnset {
		c.restore(prop, v.word)
		return
	}
	c.has |= 1 << prop
	c.values[prop] = v
}

func (c *cascade) setAll(v cssValue) {
	for prop := range propCount {
		c.set(prop, v)
	}
}

// keepDefaults remembers what has been said for reverting to it.
func (c *cascade) keepDefaults() {
	c.defaults = c.defaults[:0]
	for rest := c.has; rest != 0; rest &= rest - 1 {
		prop := cssProp(bits.TrailingZeros64(rest))
		c.defaults = append(c.defaults, cssDecl{prop: prop, value: c.values[prop]})
	}
}

// keepBelow remembers what has been said for reverting to it in the next layer.
func (c *cascade) keepBelow() {
	if c.below == nil {
		c.below = new(cascade)
	}
	c.below.has, c.below.values = c.has, c.values
}

// inherited holds the properties that are as around the element where nothing is said.
const inherited = 1<<propColor | 1<<propFillColor | 1<<propFontSize | 1<<propLineHeight | 1<<propTextIndent | 1<<propVisibility |
	1<<propWhiteSpace | 1<<propLetterSpacing

// restore takes back what has been said of a property: all of it, what sheets say, or what the sheet's layer says.
func (c *cascade) restore(prop cssProp, word cssWord) {
	bit := uint64(1) << prop
	switch {
	case word == wordUnset && inherited&bit != 0:
		c.set(prop, cssValue{word: wordInherit})
		return
	case word == wordUnset:
		c.set(prop, cssValue{word: wordInitial})
		return
	case word == wordRevertLayer && c.below != nil:
		c.has = c.has&^bit | c.below.has&bit
		c.values[prop] = c.below.values[prop]
		return
	}
	c.has &^= bit
	for _, d := range c.defaults {
		if d.prop == prop {
			c.set(prop, d.value)
		}
	}
}

// addRevealing adds only what shows text.
func (c *cascade) addRevealing(decls []cssDecl, important bool) {
	for i := range decls {
		d := &decls[i]
		if d.important != important {
			continue
		}
		shows, hides := false, false
		switch d.prop {
		case propDisplay:
			hides = d.value.word == wordNone
			shows = !hides
		case propVisibility:
			shows, hides = d.value.word == wordVisible, d.value.word == wordHidden
		case propOpacity:
			shows = d.value.word != 0 || d.value.number >= minOpacity
			hides = !shows
		case propFontSize, propMaxHeight, propHeight, propMaxWidth, propWidth:
			shows = d.value.word == wordNone || d.value.number > minFontSize
			hides = d.prop == propFontSize && d.value.word == 0 && !shows
		}
		c.doubtful = c.doubtful || hides || d.text > 0 && d.prop != propVariable
		if shows && d.text == 0 {
			c.set(d.prop, d.value)
		}
	}
}

// get returns a value that is said; what is said to be as around it, or as by default, is not among them.
func (c *cascade) get(prop cssProp) (cssValue, bool) {
	if c.has&(1<<prop) == 0 {
		return cssValue{}, false
	}
	v := c.values[prop]
	return v, v.word != wordInherit && v.word != wordInitial
}

// is reports whether a property has the word.
func (c *cascade) is(prop cssProp, word cssWord) bool {
	return c.has&(1<<prop) != 0 && c.values[prop].word == word
}

// apply computes the style of an element from that around it.
func (c *cascade) apply(around *textStyle, traits elementTraits) textStyle {
	s := *around
	s.display = wordInline
	if traits&(block|tableContent) != 0 {
		s.display = wordBlock
	}
	if c.has != 0 {
		c.applyDisplay(&s, around)
		c.applyText(&s, around)
		c.applyColors(&s)
		c.applyBox(&s, traits)
	}
	if s.display != wordInline && s.display != wordContents {
		s.shift = s.indent
	}
	if traits&unseen != 0 && s.boxed == notHidden {
		s.boxed = hiddenByElement
	}
	if s.display == wordNone && s.boxed == notHidden {
		s.boxed = hiddenByDisplay
	}
	s.why = s.reason()
	return s
}

// isDoubtful reports whether some mail clients show the text, and others do not.
func (s *textStyle) isDoubtful() bool {
	return s.crammed || s.veiled || s.fontSize <= minFontSize && !s.isFixed
}

func (s *textStyle) reason() hiding {
	switch {
	case s.boxed != notHidden:
		return s.boxed
	case s.invisible:
		return hiddenByVisibility
	case s.fontSize <= minFontSize && (s.isFixed || s.fontSize < noFontSize), s.zoom < 1 && s.fontSize*s.zoom <= minFontSize:
		return hiddenBySize
	case s.shift <= -farAway:
		return hiddenByPosition
	case !s.isPicture && s.isLost():
		return hiddenByColor
	default:
		return notHidden
	}
}

// isLost reports whether the text has the color of its background.
func (s *textStyle) isLost() bool {
	if s.isFilled {
		return s.fill.isLost(s.background)
	}
	return !s.anyColor && s.color.isLost(s.background)
}

func (c *cascade) applyDisplay(s, around *textStyle) {
	if v, ok := c.get(propDisplay); ok {
		s.display = v.word
	} else if c.is(propDisplay, wordInherit) {
		s.display = around.display
	} else if c.is(propDisplay, wordInitial) {
		s.display = wordInline
	}
	floats := c.is(propFloat, wordBlock) || c.is(propPosition, wordAbsolute)
	if floats && (s.display == wordInline || s.display == wordInlineBlock) {
		s.display = wordBlock
	}
}

func (c *cascade) applyText(s, around *textStyle) {
	if v, ok := c.get(propVisibility); ok {
		s.invisible = v.word == wordHidden
	} else if c.is(propVisibility, wordInitial) {
		s.invisible = false
	}
	if v, ok := c.get(propFontSize); ok {
		s.fontSize = v.inPixels(around.fontSize, 0)
		s.isFixed = v.unit == unitPixel || around.isFixed
	} else if c.is(propFontSize, wordInitial) {
		s.fontSize, s.isFixed = defaultFontSize, false
	}
	if v, ok := c.get(propLineHeight); ok {
		s.lineHeight = -1
		if v.word == 0 && v.unit == unitNumber {
			s.lineHeight = v.number * s.fontSize
		} else if v.word == 0 {
			s.lineHeight = v.inPixels(s.fontSize, 0)
		}
	} else if c.is(propLineHeight, wordInitial) {
		s.lineHeight = -1
	}
	if v, ok := c.get(propTextIndent); ok {
		s.indent = v.inPixels(s.fontSize, windowWidth)
	} else if c.is(propTextIndent, wordInitial) {
		s.indent = 0
	}
	const crammed = -.4 // of the size of the letters
	if v, ok := c.get(propLetterSpacing); ok {
		s.crammed = v.word == 0 && v.inPixels(s.fontSize, 0) <= crammed*s.fontSize
	} else if c.is(propLetterSpacing, wordInitial) {
		s.crammed = false
	}
	s.veiled = s.veiled || c.is(propMask, wordUnknown)
	if v, ok := c.get(propWhiteSpace); ok {
		s.keep = v.word
	} else if c.is(propWhiteSpace, wordInitial) {
		s.keep = wordNone
	}
	if v, ok := c.get(propOpacity); ok {
		s.opacity *= v.number
	}
	if v, ok := c.get(propZoom); ok {
		s.zoom *= v.number
	}
}

func (c *cascade) applyColors(s *textStyle) {
	if v, ok := c.get(propBackground); ok && v.word == 0 && v.color.a > 0 {
		if v.color.a == 255 {
			s.isPicture = false
		}
		s.background = v.color.over(s.background)
	} else if ok && v.word == wordUnknown {
		s.isPicture = true
	}
	if v, ok := c.get(propBackgroundImage); ok && v.word == wordUnknown {
		s.isPicture = true
	}
	if v, ok := c.get(propColor); ok && v.word != wordUnknown { // currentcolor is the color around
		s.color, s.anyColor = v.color, false
	} else if c.is(propColor, wordInitial) {
		s.color, s.anyColor = black, false
	}
	if v, ok := c.get(propFillColor); ok {
		s.fill, s.isFilled = v.color, v.word != wordUnknown
	} else if c.is(propFillColor, wordInitial) {
		s.isFilled = false
	}
}

// applyBox finds what hides all that is in the element: opacity, position and clipping.
func (c *cascade) applyBox(s *textStyle, traits elementTraits) {
	if s.boxed != notHidden || s.display == wordContents || s.display == wordNone {
		return
	}
	// The boxes of tables, of their parts and of the page grow with what they hold, and those of inline elements have no size.
	isBox := s.display == wordInlineBlock ||
		s.display == wordBlock && (traits&container != 0 || traits&(block|tableContent) == 0 || c.has&(1<<propDisplay) != 0)
	switch {
	case s.opacity < minOpacity || c.is(propFilter, wordHidden):
		s.boxed = hiddenByOpacity
	case c.is(propContentVisibility, wordHidden) && isBox:
		s.boxed = hiddenByVisibility
	case c.is(propClip, wordHidden), c.is(propClip, wordAbsolute) && c.is(propPosition, wordAbsolute):
		s.boxed = hiddenByClipping
	case s.display != wordInline && c.isTransformed(), c.is(propContent, wordHidden):
		s.boxed = hiddenByClipping
	case c.isOffScreen(s):
		s.boxed = hiddenByPosition
	case isBox && c.is(propOverflow, wordHidden) && (c.isFlat(s) || c.isPushedOut(s)):
		s.boxed = hiddenByClipping
	}
}

func (c *cascade) isTransformed() bool {
	return c.is(propTransform, wordHidden) || c.is(propScale, wordHidden) || c.is(propTranslate, wordHidden) || c.is(propRotate, wordHidden)
}

// isPushedOut reports whether an indent moves the only line of a box beyond its right edge, as where a picture takes the place of a text.
func (c *cascade) isPushedOut(s *textStyle) bool {
	v, ok := c.get(propTextIndent)
	return ok && c.is(propWhiteSpace, wordNoWrap) && (v.unit == unitPercent && v.number >= 1 || v.inPixels(s.fontSize, 0) >= farRight)
}

// isOffScreen reports whether the element is moved to where nobody looks.
func (c *cascade) isOffScreen(s *textStyle) bool {
	moved := func(prop cssProp) float32 {
		if v, ok := c.get(prop); ok && v.word == 0 {
			return v.inPixels(s.fontSize, windowWidth)
		}
		return 0
	}
	if c.is(propPosition, wordAbsolute) || c.is(propPosition, wordRelative) {
		if moved(propLeft) <= -farAway || moved(propTop) <= -farAway || moved(propLeft) >= farRight || moved(propRight) <= -farRight {
			return true
		}
		if moved(propRight) >= farRight || moved(propBottom) >= farRight {
			return true
		}
	}
	if moved(propMarginLeft) <= -farAway {
		return true
	}
	return moved(propMarginTop) <= -farAway && s.display != wordInline
}

// isFlat reports whether the element's box has no height or no width to speak of.
func (c *cascade) isFlat(s *textStyle) bool {
	size := func(prop cssProp) (size float32, said bool) {
		v, ok := c.get(prop)
		if !ok || v.word != 0 || v.unit == unitPercent {
			return 0, false
		}
		return v.inPixels(s.fontSize, 0), true
	}
	flat := func(of, highest, least cssProp) bool {
		if v, ok := size(least); ok && v > minFontSize {
			return false
		}
		v, said := size(of)
		bound, bounded := size(highest)
		return said && v <= minFontSize || bounded && bound <= minFontSize
	}
	if flat(propWidth, propMaxWidth, propMinWidth) {
		return true
	}
	if padding, ok := size(propPaddingBottom); ok && padding > minFontSize {
		return false // what does not fit into the box is seen there
	}
	_, hasHeight := size(propHeight)
	return flat(propHeight, propMaxHeight, propMinHeight) || !hasHeight && s.lineHeight >= 0 && s.lineHeight <= minFontSize
}
