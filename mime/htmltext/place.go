package htmltext

// A boxPlace is the displacement of a box by styles.
type boxPlace struct {
	x, y  float32
	scale float32
	// The places of the boxes that absolute and fixed positions are relative to.
	originX, originY, fixedX, fixedY float32
	isTurned                         bool // so directions are unknown
	wasAway                          bool // it is moved out of sight and back, or shrunk and grown again
}

func (p *boxPlace) isAway() bool { return p.x <= -farAway || p.y <= -farAway || p.x >= farRight }

const ofPlace = 1<<propPosition | 1<<propMarginLeft | 1<<propMarginTop | ofMoves

const ofMoves = 1<<propTransform | 1<<propRotate | 1<<propScale | 1<<propTranslate | 1<<propPerspective | 1<<propTransformStyle

// isOutOfFlow reports whether the position of the element is absolute or fixed.
func (c *cascade) isOutOfFlow() bool {
	return c.is(propPosition, wordAbsolute) || c.is(propPosition, wordFixed)
}

// isContaining reports whether absolute positions within the element count from it.
func (c *cascade) isContaining() bool {
	return c.isOutOfFlow() || c.is(propPosition, wordRelative) || c.is(propPosition, wordSticky)
}

// applyPlace moves the box.
func (c *cascade) applyPlace(s *textStyle) {
	if c.has&ofPlace == 0 {
		return
	}
	before := s.at
	c.applyPosition(s)
	if v, ok := c.pixels(propMarginLeft, s); ok {
		s.at.x += v
		c.isMoved = c.isMoved || v < 0
	}
	if v, ok := c.pixels(propMarginTop, s); ok && s.display != wordInline {
		s.at.y += v
		c.isMoved = c.isMoved || v < 0
	}
	isTransformed := s.display != wordInline && c.has&ofMoves != 0 && c.applyMoves(s)
	if isTransformed || c.isContaining() {
		s.at.originX, s.at.originY = s.at.x, s.at.y
	}
	if isTransformed {
		s.at.fixedX, s.at.fixedY = s.at.x, s.at.y
	}
	if before.isAway() && !s.at.isAway() || before.scale < minScale && s.at.scale >= minScale || s.at.isTurned && s.at.isAway() {
		s.at.wasAway = true
	}
}

// pixels returns an explicit distance in pixels of the page.
func (c *cascade) pixels(prop cssProp, s *textStyle) (float32, bool) {
	v, ok := c.get(prop)
	if !ok || v.word != 0 {
		return 0, false
	}
	return v.inPixels(s.fontSize, windowWidth) * s.at.scale, true
}

func (c *cascade) applyPosition(s *textStyle) {
	if !c.isContaining() || c.is(propPosition, wordSticky) {
		return
	}
	left, hasLeft := c.pixels(propLeft, s)
	top, hasTop := c.pixels(propTop, s)
	right, hasRight := c.pixels(propRight, s)
	bottom, hasBottom := c.pixels(propBottom, s)
	isOut := c.isOutOfFlow()
	c.isMoved = isOut || left != 0 || top != 0 || right != 0 || bottom != 0
	if isOut {
		originX, originY := s.at.originX, s.at.originY
		if c.is(propPosition, wordFixed) {
			originX, originY = s.at.fixedX, s.at.fixedY
		}
		if hasLeft || hasRight {
			s.at.x = originX
		}
		if hasTop || hasBottom {
			s.at.y = originY
		}
		// The distances of the right and the bottom edge from the left and the top one are unknown.
		hasRight, hasBottom = hasRight && (right >= farRight || right < 0), hasBottom && bottom >= farRight
	}
	switch {
	case hasLeft:
		s.at.x += left
	case hasRight:
		s.at.x -= right
	}
	switch {
	case hasTop:
		s.at.y += top
	case hasBottom:
		s.at.y -= bottom
	}
}

// applyMoves applies transformations; it reports whether there are any.
func (c *cascade) applyMoves(s *textStyle) bool {
	found := false
	for _, prop := range [...]cssProp{propTranslate, propRotate, propScale, propTransform} {
		v, ok := c.get(prop)
		if !ok {
			continue
		}
		m := moveOf(v)
		s.at.x += m.x * s.at.scale
		s.at.y += m.y * s.at.scale
		s.at.scale *= m.scale
		s.at.isTurned = s.at.isTurned || m.word == wordUnknown
		moves := m.x != 0 || m.y != 0
		found = found || moves || m.scale != 1 || m.word != 0
		c.isMoved = c.isMoved || moves
	}
	if c.is(propPerspective, wordUnknown) {
		c.unsure = true // a point near enough is behind the viewer
	}
	return found
}
