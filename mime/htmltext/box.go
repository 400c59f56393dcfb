package htmltext

// A boxEscape is the content of a clipping box that is visible nevertheless.
type boxEscape uint8

const (
	escapesNone     boxEscape = iota
	escapesFixed              // content with a fixed position
	escapesAbsolute           // and content positioned in an enclosing box
)

// applyBox finds causes that hide everything in the element: opacity, rotation and clipping.
func (c *cascade) applyBox(s *textStyle, traits elementTraits) {
	if s.display == wordContents || s.display == wordNone {
		return
	}
	if s.boxed != notHidden {
		if s.escape == escapesNone {
			return
		}
		c.escapeFrom(s)
	}
	if why := c.hidesAll(s, traits); why != notHidden {
		s.escape = escapesNone
		if s.boxed == notHidden {
			s.boxed = why
		}
		return
	}
	if s.boxed != notHidden || !c.cutsOff(s, traits) {
		return
	}
	s.boxed = hiddenByClipping
	switch {
	case c.isAround():
		s.escape = escapesNone
	case c.isContaining():
		s.escape = escapesFixed
	default:
		s.escape = escapesAbsolute
	}
}

// escapeFrom takes the element out of a clipping box, if its position allows that.
func (c *cascade) escapeFrom(s *textStyle) {
	switch {
	case c.is(propPosition, wordFixed), c.is(propPosition, wordAbsolute) && s.escape == escapesAbsolute:
		s.boxed, s.escape = notHidden, escapesNone
	case c.isAround():
		s.escape = escapesNone
	case c.isContaining():
		s.escape = escapesFixed
	}
}

// isAround reports whether all positions within the element are relative to it, including fixed ones.
func (c *cascade) isAround() bool {
	if c.is(propFilter, wordUnknown) || c.is(propFilter, wordLetters) || c.is(propBackdrop, wordUnknown) || c.is(propPerspective, wordUnknown) {
		return true
	}
	if v, ok := c.get(propContain); ok && int(v.number)&containsPaint != 0 {
		return true
	}
	return c.has&(1<<propTransform|1<<propRotate|1<<propScale|1<<propTranslate) != 0
}

// isSized reports whether an element's box takes a size. Boxes of tables, of their parts and of the page grow with their content,
// and inline elements have none.
func (c *cascade) isSized(s *textStyle, traits elementTraits) bool {
	return s.display == wordInlineBlock ||
		s.display == wordBlock && (traits&container != 0 || traits&(block|tableContent) == 0 || c.has&(1<<propDisplay) != 0)
}

// hidesAll returns the cause that hides everything in the element, wherever it stands.
func (c *cascade) hidesAll(s *textStyle, traits elementTraits) hiding {
	switch {
	case s.opacity < minOpacity || c.is(propFilter, wordHidden):
		return hiddenByOpacity
	case c.is(propContentVisibility, wordHidden) && c.isSized(s, traits):
		return hiddenByVisibility
	case c.is(propClip, wordHidden), c.is(propClip, wordAbsolute) && c.isOutOfFlow():
		return hiddenByClipping
	case c.is(propContent, wordHidden), s.display != wordInline && c.has&ofMoves != 0 && c.isTurnedAway():
		return hiddenByClipping
	}
	if c.is(propClip, wordDoubt) {
		c.unsure = true
	}
	return notHidden
}

// isTurnedAway reports whether the element stands on its edge, or shows a back that is hidden. If boxes keep their depth, that
// depends on the enclosing and the enclosed ones.
func (c *cascade) isTurnedAway() bool {
	isAway := false
	for _, prop := range [...]cssProp{propTransform, propRotate} {
		isAway = isAway || c.is(prop, wordHidden) || c.is(prop, wordBehind) && c.is(propBackface, wordHidden)
	}
	if isAway && c.is(propTransformStyle, wordUnknown) {
		c.unsure, isAway = true, false
	}
	return isAway
}

// cutsOff reports whether the box of an element clips everything in it.
func (c *cascade) cutsOff(s *textStyle, traits elementTraits) bool {
	if c.has&(1<<propOverflow|1<<propContain) == 0 || !c.isSized(s, traits) {
		return false
	}
	kinds := 0
	if v, ok := c.get(propContain); ok {
		kinds = int(v.number)
	}
	cuts := c.is(propOverflow, wordHidden) || kinds&containsPaint != 0
	if !cuts {
		return false
	}
	if kinds&containsWidth != 0 || c.isPadded(s) {
		c.unsure = true
	}
	return c.isFlat(s, kinds) || c.isPushedOut(s)
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

// isPushedOut reports whether an indent moves the only line of a box beyond its right edge, as when a picture replaces a text.
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
	v, ok := c.get(prop)
	if !ok || v.word != 0 || v.unit == unitPercent {
		return 0, false
	}
	return v.inPixels(s.fontSize, 0), true
}

// isFlat reports whether the element's box has practically no height or width. If the size does not depend on the content, the
// box has no height of its own.
func (c *cascade) isFlat(s *textStyle, kinds int) bool {
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
	if kinds&containsSize != 0 && c.has&(1<<propHeight|1<<propMinHeight) == 0 {
		return true
	}
	return flat(propHeight, propMaxHeight, propMinHeight) || !hasHeight && s.lineHeight >= 0 && s.lineHeight <= minFontSize
}
