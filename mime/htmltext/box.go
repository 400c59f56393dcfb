package htmltext

// A boxPlace is the displacement of a box by styles.
type boxPlace struct {
	x, y float32
	// isUnknown reports that a style may move the box or change its size: one that is not read, or one that moves a box
	// that is out of sight.
	isUnknown bool
}

func (p *boxPlace) isAway() bool { return p.x <= -farAway || p.y <= -farAway || p.x >= farRight }

const (
	ofOffsets = 1<<propLeft | 1<<propTop | 1<<propRight | 1<<propBottom | 1<<propPosition
	mayMove   = ofOffsets | 1<<propMarginLeft | 1<<propMarginTop | resizes
)

// isOutOfFlow reports whether the position of the element is absolute or fixed.
func (c *cascade) isOutOfFlow() bool {
	return c.is(propPosition, wordAbsolute) || c.is(propPosition, wordFixed)
}

// isContaining reports whether absolute positions within the element count from it.
func (c *cascade) isContaining() bool {
	return c.isOutOfFlow() || c.is(propPosition, wordRelative) || c.is(propPosition, wordSticky)
}

// applyPlace moves the box. A box out of the flow counts from the page, or from a surrounding box: where that makes a
// difference, its place is unknown.
func (c *cascade) applyPlace(s *textStyle) {
	if c.has&mayMove == 0 {
		return
	}
	before, alone := s.at, s.at
	left, top := c.distance(propMarginLeft, s), float32(0)
	if s.display != wordInline {
		top = c.distance(propMarginTop, s)
	}
	c.isMoved = c.isMoved || left < 0 || top < 0
	if c.isContaining() && !c.is(propPosition, wordSticky) {
		x, hasX := c.offset(propLeft, propRight, s)
		y, hasY := c.offset(propTop, propBottom, s)
		c.isMoved = c.isMoved || c.isOutOfFlow() || x != 0 || y != 0
		left, top = left+x, top+y
		if hasX && c.isOutOfFlow() {
			alone.x = 0
		}
		if hasY && c.isOutOfFlow() {
			alone.y = 0
		}
	}
	s.at.x, s.at.y = s.at.x+left, s.at.y+top
	alone.x, alone.y = alone.x+left, alone.y+top
	isDoubtful := c.doubts&(resizes|1<<propPosition) != 0
	c.isMoved = c.isMoved || isDoubtful
	if isDoubtful || s.at != before && c.is(propDisplay, wordDoubt) || before.isAway() && !s.at.isAway() ||
		s.at.isAway() != alone.isAway() {
		s.at.isUnknown = true
	}
}

// offset returns how far a box is moved along one axis by the distance from its near edge, or else from the far one.
// How far the edges are apart is unknown for a box out of the flow.
func (c *cascade) offset(near, far cssProp, s *textStyle) (by float32, said bool) {
	if c.states(near) {
		return c.distance(near, s), true
	}
	if !c.states(far) {
		return 0, false
	}
	by = c.distance(far, s)
	isKnown := !c.isOutOfFlow() || by >= farRight || by < 0 && far == propRight
	if !isKnown {
		return 0, true
	}
	return -by, true
}

// states reports whether a distance is said.
func (c *cascade) states(prop cssProp) bool {
	v, ok := c.get(prop)
	return ok && v.word == 0 || v.word == wordDoubt
}

// distance returns an explicit distance in pixels of the page. One that is not read makes the place unknown.
func (c *cascade) distance(prop cssProp, s *textStyle) float32 {
	v, ok := c.get(prop)
	if v.word == wordDoubt {
		s.at.isUnknown, c.isMoved = true, true
	}
	if !ok || v.word != 0 {
		return 0
	}
	return v.inPixels(s.fontSize, windowWidth)
}

// applyBox finds causes that hide everything in the element: opacity and clipping.
func (c *cascade) applyBox(s *textStyle, traits elementTraits) {
	if s.display == wordContents || s.display == wordNone {
		return
	}
	if s.boxed == hiddenByClipping && !s.isSealed && (c.isOutOfFlow() || c.is(propPosition, wordDoubt)) {
		s.boxed, c.unsure = notHidden, true // it may count from a place outside of the box
	}
	switch {
	case s.opacity < minOpacity:
		s.seal(hiddenByOpacity)
	case s.boxed == notHidden && !s.at.isUnknown && c.cutsOff(s, traits):
		s.boxed = hiddenByClipping
	}
}

// seal hides everything in the element, wherever it is placed.
func (s *textStyle) seal(by hiding) {
	s.isSealed = true
	if s.boxed == notHidden {
		s.boxed = by
	}
}

// isSized reports whether an element's box takes a size. Boxes of tables, of their parts and of the page grow with
// their content, and inline elements have none.
func (c *cascade) isSized(s *textStyle, traits elementTraits) bool {
	return s.display == wordInlineBlock ||
		s.display == wordBlock && (traits&container != 0 || traits&(block|tableContent) == 0 || c.has&(1<<propDisplay) != 0)
}

const (
	mayFlatten = 1<<propHeight | 1<<propWidth | 1<<propMaxHeight | 1<<propMaxWidth | 1<<propDisplay
	mayGrow    = 1<<propMinHeight | 1<<propMinWidth | 1<<propPaddingBottom | 1<<propLineHeight | 1<<propDisplay
)

// cutsOff reports whether the box of an element clips everything in it.
func (c *cascade) cutsOff(s *textStyle, traits elementTraits) bool {
	if !c.is(propOverflow, wordHidden) || !c.isSized(s, traits) {
		return false
	}
	isCut := c.isFlat(s) || c.isPushedOut(s)
	if c.isPadded(s) || isCut && c.doubts&mayGrow != 0 || c.doubts&mayFlatten != 0 {
		c.unsure = true
	}
	return isCut && c.doubts&mayGrow == 0
}

// isPadded reports whether the padding may fill all of a box whose size includes it.
func (c *cascade) isPadded(s *textStyle) bool {
	if !c.is(propBoxSizing, wordHidden) {
		return false
	}
	height, hasHeight := c.size(propHeight, s)
	most, hasMost := c.size(propMaxHeight, s)
	top, _ := c.size(propPaddingTop, s)
	width, hasWidth := c.size(propWidth, s)
	left, _ := c.size(propPaddingLeft, s)
	return hasHeight && top > 0 && top >= height-minFontSize || hasMost && top > 0 && top >= most-minFontSize ||
		hasWidth && left > 0 && left >= width-minFontSize
}

// isPushedOut reports whether an indent moves the only line of a box beyond its right edge, as when a picture
// replaces a text.
func (c *cascade) isPushedOut(s *textStyle) bool {
	if s.indent < 100 {
		return false
	}
	width, hasWidth := c.size(propWidth, s)
	if s.keep == wordNoWrap && (s.indent >= windowWidth || hasWidth && s.indent >= width) {
		return true
	}
	c.unsure = true
	return false
}

// size returns an explicit size in pixels.
func (c *cascade) size(prop cssProp, s *textStyle) (size float32, said bool) {
	v := c.values[prop]
	if c.has&(1<<prop) == 0 || v.word != 0 || v.unit == unitPercent {
		return 0, false
	}
	return v.inPixels(s.fontSize, 0), true
}

// isFlat reports whether the element's box has practically no height or width.
func (c *cascade) isFlat(s *textStyle) bool {
	flat := func(of, highest, least cssProp) bool {
		if v, ok := c.size(least, s); ok && v > minFontSize {
			return false
		}
		v, said := c.size(of, s)
		bound, bounded := c.size(highest, s)
		return said && v <= minFontSize || bounded && bound <= minFontSize
	}
	if flat(propWidth, propMaxWidth, propMinWidth) {
		return true
	}
	if padding, ok := c.size(propPaddingBottom, s); ok && padding > minFontSize {
		return false // overflowing content is visible there
	}
	_, hasHeight := c.size(propHeight, s)
	return flat(propHeight, propMaxHeight, propMinHeight) || !hasHeight && s.hasFlatLines()
}

func (s *textStyle) hasFlatLines() bool { return s.lineHeight >= 0 && s.lineHeight <= minFontSize }
