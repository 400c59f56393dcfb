package htmltext

import "math/bits"

const (
	defaultFontSize = 16
	// minFontSize is the size in pixels up to which text counts as hidden. Browsers do not make relative sizes this small.
	minFontSize = 1
	noFontSize  = 1e-7 // but this is zero
	// minOpacity is the opacity below which text counts as hidden.
	minOpacity = .1
	// farAway is the number of pixels to the left or above at which text is out of sight; farRight to the right, where windows
	// can be scrolled.
	farAway  = 500
	farRight = 5000
)

// A textStyle is the effect of styles on the text in an element.
type textStyle struct {
	// Inherited.
	color      rgba
	background rgba // that is seen behind the text
	isPicture  bool // the background is a picture, so that no color is known to be lost on it
	anyColor   bool // the color is not known
	invisible  bool
	fontSize   float32
	isFixed    bool    // the size goes back to one in pixels
	lineHeight float32 // in pixels; negative when it is that of the font
	indent     float32 // of the first line of a block
	opacity    float32
	zoom       float32
	fill       rgba // in place of the color
	isFilled   bool
	keep       cssWord
	crammed    bool  // letters overlap
	veiled     bool  // behind a mask, or in a closed element
	vars       int32 // 1 + the place of the last frame of variables
	under      rgba  // within the letters alone, below their color
	hasUnder   bool
	shadow     letterPaint
	stroke     letterPaint
	isStroked  bool
	isDark     bool // the page is one for dark windows
	isReversed bool // the letters run from right to left, whatever they are
	rightLeft  bool
	// anyBackground reports that the background is unknown: text that would be lost on the surrounding one counts as visible, and
	// is in doubt.
	anyBackground bool
	// onMoved reports that the background belongs to a box that may lie over others.
	onMoved bool
	// doubt reports that a style that is not understood may hide the text, or change its visibility.
	doubt bool
	at    boxPlace
	// boxed is the cause that hides everything in the element, whatever its own styles; escape is the content that escapes the
	// box.
	boxed  hiding
	escape boxEscape

	// The element's own.
	display cssWord
	shift   float32 // the indent of the line that its text stands on
	// why is the cause that hides its text; empty if it is visible. unsure reports that it is only assumed to be visible.
	why    hiding
	unsure bool
}

// pageStyle is that of a page without styles.
var pageStyle = textStyle{
	color: black, background: white, fontSize: defaultFontSize, lineHeight: -1, opacity: 1, zoom: 1, keep: wordNone, display: wordBlock,
	shadow: letterPaint{word: wordNone}, stroke: letterPaint{word: wordCurrent},
	at: boxPlace{scale: 1},
}

// A cascade collects the declarations of one element, the weakest first.
type cascade struct {
	has    uint64
	values [propCount]cssValue
	// defaults are the browser's values for the element, and below those of the layers below, if a sheet needs them.
	defaults []cssDecl
	below    *cascade
	// doubtful reports that a rule that may hide text was left out because it is unknown whether it applies.
	doubtful bool
	// unsure reports that a relevant value of the element is not understood, isPainted that its box is painted, and isMoved that
	// the box may lie over others.
	unsure, isPainted, isMoved bool
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

// keepDefaults stores the declarations so far, for reverting to them.
func (c *cascade) keepDefaults() {
	c.defaults = c.defaults[:0]
	for rest := c.has; rest != 0; rest &= rest - 1 {
		prop := cssProp(bits.TrailingZeros64(rest))
		c.defaults = append(c.defaults, cssDecl{prop: prop, value: c.values[prop]})
	}
}

// keepBelow stores the declarations so far, for reverting to them in the next layer.
func (c *cascade) keepBelow() {
	if c.below == nil {
		c.below = new(cascade)
	}
	c.below.has, c.below.values = c.has, c.values
}

// inherited holds the properties that are inherited by default.
const inherited = 1<<propColor | 1<<propFillColor | 1<<propFontSize | 1<<propLineHeight | 1<<propTextIndent | 1<<propVisibility |
	1<<propWhiteSpace | 1<<propShadow | 1<<propStroke | 1<<propStrokeColor | 1<<propDirection | 1<<propLetterSpacing

// restore drops the declarations of a property: all of them, those of sheets, or those of the sheet's layer.
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

// addRevealing adds only declarations that reveal text.
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

// get returns a declared value. Inherited and default values are not included, nor are values that are not understood, which make
// the element unsure.
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
	c.unsure, c.isPainted, c.isMoved = false, false, false
	if c.has != 0 {
		c.applyDisplay(&s, around)
		c.applyText(&s, around)
		if s.display != wordNone && s.display != wordContents {
			c.applyPlace(&s)
		}
		c.applyColors(&s, around)
		c.applyDirection(&s)
		c.applyBox(&s, traits)
		s.doubt = s.doubt || c.unsure
	}
	if s.display != wordInline && s.display != wordContents {
		s.shift = s.indent
		s.isReversed = s.isReversed && c.is(propUnicodeBidi, wordOverride) // else blocks begin anew
	}
	if traits&unseen != 0 && s.boxed == notHidden {
		s.boxed = hiddenByElement
	}
	if s.display == wordNone {
		s.escape = escapesNone
		if s.boxed == notHidden {
			s.boxed = hiddenByDisplay
		}
	}
	s.judge()
	return s
}

// isDoubtful reports whether some mail clients show the text, and others do not.
func (s *textStyle) isDoubtful() bool {
	return s.crammed || s.veiled || s.fontSize <= minFontSize && !s.isFixed
}

// judge decides whether the text is visible, once all of the style is known.
func (s *textStyle) judge() {
	s.why = s.reason()
	s.unsure = s.doubt || s.at.wasAway
	if s.why == notHidden && !s.isPicture && !s.unsure && s.isLost() {
		s.unsure = true
	}
}

func (s *textStyle) reason() hiding {
	switch {
	case s.boxed != notHidden:
		return s.boxed
	case s.invisible:
		return hiddenByVisibility
	case s.fontSize <= minFontSize && (s.isFixed || s.fontSize < noFontSize), s.zoom < 1 && s.fontSize*s.zoom <= minFontSize:
		return hiddenBySize
	case s.shift <= -farAway, s.at.isAway() && !s.at.isTurned:
		return hiddenByPosition
	case s.at.scale < minScale:
		return hiddenByClipping
	case !s.isPicture && s.isLost() && !s.anyBackground && !s.isDrawnAgain():
		return hiddenByColor
	default:
		return notHidden
	}
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
	} else if c.is(propFontSize, wordDoubt) {
		s.fontSize = max(s.fontSize, defaultFontSize)
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
	} else if c.is(propTextIndent, wordInitial) || c.is(propTextIndent, wordDoubt) {
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
