package htmltext

// A letterPaint draws letters a second time: a shadow, or lines around them.
type letterPaint struct {
	color rgba
	word  cssWord // wordUnknown if the color is unknown, wordCurrent for that of the letters, 0 if color has it
}

// isLost reports whether the text has the color of its background.
func (s *textStyle) isLost() bool {
	color := s.color
	if s.isFilled {
		color = s.fill
	} else if s.anyColor {
		return false
	}
	if s.hasUnder {
		color = color.over(s.under)
	}
	return color.isLost(s.background)
}

// isDrawnAgain reports whether a shadow or lines reveal letters that have the color of their background.
func (s *textStyle) isDrawnAgain() bool {
	return s.shadow.shows(s) || s.isStroked && s.stroke.shows(s)
}

func (p *letterPaint) shows(s *textStyle) bool {
	switch p.word {
	case 0:
		return p.color.a > 0 && !p.color.isLost(s.background)
	case wordUnknown:
		return true
	default: // the color of the letters, or that below their fill
		return p.word == wordCurrent && s.isFilled && (s.anyColor || !s.color.isLost(s.background))
	}
}

func paintOf(v cssValue) letterPaint { return letterPaint{color: v.color, word: v.word} }

const (
	ofLetters = 1<<propColor | 1<<propFillColor | 1<<propShadow | 1<<propStroke | 1<<propStrokeColor
	ofGround  = 1<<propBackground | 1<<propBackgroundImage | 1<<propBackgroundClip | 1<<propBoxShadow | 1<<propBackdrop
	ofColors  = 1<<propColorScheme | 1<<propFilter | 1<<propBlend
)

func (c *cascade) applyColors(s, around *textStyle) {
	if c.has&ofColors != 0 {
		c.applyScheme(s, around)
	}
	if c.has&ofLetters != 0 {
		c.applyLetters(s)
	}
	if c.isMoved || c.is(propFloat, wordBlock) {
		s.anyBackground = true // the backdrop is unknown
	}
	if c.has&ofGround != 0 {
		c.applyGround(s)
	}
}

// applyScheme applies the styles that change all colors.
func (c *cascade) applyScheme(s, around *textStyle) {
	if c.is(propColorScheme, wordDark) {
		if around == &pageStyle {
			s.isDark, s.color, s.background = true, white, darkCanvas
		} else {
			c.unsure = true
		}
	}
	switch v, _ := c.get(propFilter); v.word {
	case wordUnknown:
		c.unsure, s.anyBackground = true, true
	case wordLetters:
		s.shadow.word = wordUnknown
	}
	if c.is(propBlend, wordUnknown) {
		c.unsure, s.anyBackground = true, true
	}
}

func (c *cascade) applyLetters(s *textStyle) {
	if v, ok := c.get(propColor); ok && v.word != wordCurrent { // that is the inherited color
		s.color, s.anyColor = v.color, false
	} else if c.is(propColor, wordInitial) {
		s.color, s.anyColor = black, false
		if s.isDark {
			s.color = white
		}
	} else if c.is(propColor, wordDoubt) {
		s.anyColor = true
	}
	if v, ok := c.get(propFillColor); ok {
		s.fill, s.isFilled = v.color, v.word != wordCurrent
	} else if c.is(propFillColor, wordInitial) {
		s.isFilled = false
	} else if c.is(propFillColor, wordDoubt) {
		s.isFilled, s.anyColor = false, true
	}
	if v, ok := c.get(propShadow); ok {
		s.shadow = paintOf(v)
	} else if c.is(propShadow, wordInitial) {
		s.shadow = letterPaint{word: wordNone}
	}
	if v, ok := c.get(propStroke); ok {
		s.isStroked = v.number > 0
	} else if c.is(propStroke, wordInitial) {
		s.isStroked = false
	}
	if v, ok := c.get(propStrokeColor); ok {
		s.stroke = paintOf(v)
	} else if c.is(propStrokeColor, wordInitial) {
		s.stroke = letterPaint{word: wordCurrent}
	} else if c.is(propStrokeColor, wordDoubt) {
		s.stroke.word = wordUnknown
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
	if c.is(propBackgroundClip, wordLetters) {
		if hasColor {
			s.under, s.hasUnder = v.color.over(s.background), true
		}
		s.isPicture = s.isPicture || hasImage
		return
	}
	if hasColor {
		if v.color.a == 255 {
			s.isPicture, s.anyBackground, s.hasUnder = false, false, false
		}
		s.background = v.color.over(s.background)
	}
	s.isPicture = s.isPicture || hasImage
	if c.is(propBoxShadow, wordUnknown) || c.is(propBackdrop, wordUnknown) {
		c.isPainted, s.anyBackground = true, true
	}
}

// darkCanvas is the background of pages for dark windows.
var darkCanvas = rgba{0x12, 0x12, 0x12, 255}

// applyDirection determines whether the letters are forced from right to left.
func (c *cascade) applyDirection(s *textStyle) {
	if v, ok := c.get(propDirection); ok {
		s.rightLeft = v.word == wordReversed
	} else if c.is(propDirection, wordInitial) {
		s.rightLeft = false
	}
	if v, ok := c.get(propUnicodeBidi); ok {
		s.isReversed = s.rightLeft && v.word == wordOverride
	}
}
