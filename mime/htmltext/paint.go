package htmltext

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
