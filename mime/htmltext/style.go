package htmltext

const (
	defaultFontSize = 16
	// minFontSize is the size in pixels up to which text counts as hidden. Browsers do not make relative sizes this small.
	minFontSize = 1
	noFontSize  = 1e-7 // but this is zero
	// minOpacity is the opacity below which text counts as hidden.
	minOpacity = .1
	// farAway is the number of pixels to the left or above at which text is out of sight; farRight to the right, where
	// windows can be scrolled.
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
	fill       rgba // in place of the color
	isFilled   bool
	keep       cssWord
	crammed    bool // letters overlap
	veiled     bool // in a closed element
	// drawnAgain reports that a shadow or lines around the letters may show text that has the color of its background.
	drawnAgain bool
	// anyBackground reports that the background is unknown: text that would be lost on the surrounding one counts as
	// visible, and is in doubt.
	anyBackground bool
	// other holds the colors of rules of which it is unknown whether they apply.
	other otherColors
	// onMoved reports that the background belongs to a box that may lie over others.
	onMoved bool
	// doubt reports that a style that is not read may hide the text, or change its visibility.
	doubt bool
	at    boxPlace
	// boxed is the cause that hides everything in the element, whatever its own styles. Boxes out of the flow may escape
	// from a clipping one, unless they are sealed.
	boxed    hiding
	isSealed bool

	// The element's own.
	display cssWord
	shift   float32 // the indent of the line that its text stands on
	// why is the cause that hides its text; empty if it is visible. unsure reports that it is only assumed to be visible.
	why    hiding
	unsure bool
}

// pageStyle is that of a page without styles.
var pageStyle = textStyle{
	color: black, background: white, fontSize: defaultFontSize, lineHeight: -1, opacity: 1, keep: wordNone,
	display: wordBlock,
}

// isDoubtful reports whether some mail clients show the text, and others do not.
func (s *textStyle) isDoubtful() bool {
	return s.crammed || s.veiled || s.fontSize <= minFontSize && !s.isFixed
}

// judge decides whether the text is visible, once all of the style is known.
func (s *textStyle) judge() {
	s.why = s.reason()
	s.unsure = s.doubt || s.at.isUnknown
	if s.why == notHidden && !s.isPicture && !s.unsure {
		s.unsure = s.isLost() || s.other != otherColors{} && s.mayBeLost()
	}
}

// otherColors are those that letters and their background may have instead.
type otherColors struct {
	letters, ground       rgba
	hasLetters, hasGround bool
	isFill                bool // the letters may be filled with another color than their own
}

// mayBeLost reports whether the text may have the color of its background.
func (s *textStyle) mayBeLost() bool {
	o := &s.other
	return o.hasLetters && o.letters.isLost(s.background) || o.hasGround && s.letters().isLost(o.ground) ||
		o.hasLetters && o.hasGround && o.letters.isLost(o.ground)
}

func (s *textStyle) reason() hiding {
	switch {
	case s.boxed != notHidden:
		return s.boxed
	case s.invisible:
		return hiddenByVisibility
	case s.fontSize < noFontSize, s.isFixed && s.fontSize <= minFontSize && !s.at.isUnknown:
		return hiddenBySize
	case !s.at.isUnknown && (s.shift <= -farAway || s.at.isAway()):
		return hiddenByPosition
	case !s.isPicture && s.isLost() && !s.anyBackground && !s.drawnAgain &&
		(!s.other.hasLetters || s.other.letters.isLost(s.background)):
		return hiddenByColor
	default:
		return notHidden
	}
}

// letters returns the color of the letters.
func (s *textStyle) letters() rgba {
	if s.isFilled {
		return s.fill
	}
	return s.color
}

// isLost reports whether the text has the color of its background.
func (s *textStyle) isLost() bool {
	return (s.isFilled || !s.anyColor) && s.letters().isLost(s.background)
}
