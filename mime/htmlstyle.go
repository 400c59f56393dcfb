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
	crammed    bool      // letters stand upon each other
	veiled     bool      // behind a mask, or in what is closed
	vars       int32     // 1 + the place of the last frame of variables
	under      htmlColor // within the letters alone, below their color
	hasUnder   bool
	shadow     letterPaint
	stroke     letterPaint
	isStroked  bool
	isDark     bool // the page is one for dark windows
	isReversed bool // the letters run from right to left, whatever they are
	rightLeft  bool
	// anyBackground says that the background is not known: what would be lost on the one around counts as seen, and is in doubt.
	anyBackground bool
	// onMoved says that it is that of a box which may lie over others.
	onMoved bool
	// doubt says that a style which is not understood may hide the text, or change how it is seen.
	doubt bool
	at    boxPlace
	// boxed is why all that the element holds is hidden, whatever is said within; escape is what gets out of the box.
	boxed  hiding
	escape boxEscape

	// The element's own.
	display cssWord
	shift   float32 // the indent of the line that its text stands on
	// why is the reason why its text is hidden; empty when it is seen. unsure says that it is seen for all that is known.
	why    hiding
	unsure bool
}

// pageStyle is that of a page without styles.
var pageStyle = textStyle{
	color: black, background: white, fontSize: defaultFontSize, lineHeight: -1, opacity: 1, zoom: 1, keep: wordNone, display: wordBlock,
	shadow: letterPaint{word: wordNone}, stroke: letterPaint{word: wordCurrent},
	at: boxPlace{scale: 1},
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
	// unsure reports that a value which matters for the element is not understood; isPainted that its box is, and isMoved that the box
	// may lie over others.
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
	1<<propWhiteSpace | 1<<propShadow | 1<<propStroke | 1<<propStrokeColor | 1<<propDirection | 1<<propLetterSpacing

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

// get returns a value that is said; what is said to be as around it, or as by default, is not among them, nor is what is not understood,
// which makes the element unsure.
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

// judge says whether the text is seen, once all of the style is known.
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
