package htmltext

// A cssProp is a property of CSS that decides whether text is visible, and how it is laid out.
type cssProp uint8

const (
	propBackdrop cssProp = iota // a filter of the backdrop
	propBackface
	propBackground // its color
	propBackgroundClip
	propBackgroundImage
	propBlend
	propBottom
	propBoxShadow
	propBoxSizing
	propClip
	propColor
	propColorScheme
	propContain
	propContent
	propContentVisibility
	propDirection
	propDisplay
	propFillColor
	propFilter
	propFloat
	propFontSize
	propHeight
	propLeft
	propLetterSpacing
	propLineHeight
	propMarginLeft
	propMarginTop
	propMask
	propMaxHeight
	propMaxWidth
	propMinHeight
	propMinWidth
	propOpacity
	propOverflow
	propPaddingBottom
	propPaddingLeft
	propPaddingTop
	propPerspective
	propPosition
	propRight
	propRotate
	propScale
	propShadow // of text
	propStroke
	propStrokeColor
	propTextIndent
	propTop
	propTransform
	propTransformStyle
	propTranslate
	propUnicodeBidi
	propVisibility
	propWhiteSpace
	propWidth
	propZoom
	propCount

	// Shorthands that set others.
	propAll
	propBackgroundAll
	propClipPath
	propFont
	propInset
	propInsetBlock
	propInsetInline
	propMargin
	propMarginBlock
	propMarginInline
	propPadding
	propStrokeAll

	propVariable // a custom property of the page
)

// The sides are those of the page for text that runs from left to right.
var propsByName = map[string]cssProp{
	"all": propAll, "block-size": propHeight, "content": propContent, "inline-size": propWidth, "inset-block": propInsetBlock,
	"inset-block-end": propBottom, "inset-block-start": propTop, "inset-inline": propInsetInline, "inset-inline-end": propRight,
	"inset-inline-start": propLeft, "margin-block": propMarginBlock, "margin-block-start": propMarginTop,
	"margin-inline": propMarginInline, "margin-inline-start": propMarginLeft, "max-block-size": propMaxHeight,
	"max-inline-size": propMaxWidth, "min-block-size": propMinHeight, "min-inline-size": propMinWidth, "overflow-block": propOverflow,
	"overflow-inline": propOverflow, "padding-block-end": propPaddingBottom, "rotate": propRotate, "scale": propScale,
	"translate": propTranslate, "-webkit-clip-path": propClipPath, "-webkit-filter": propFilter, "-webkit-opacity": propOpacity,
	"-webkit-transform": propTransform, "zoom": propZoom, "letter-spacing": propLetterSpacing, "mask": propMask, "mask-image": propMask,
	"-webkit-mask": propMask, "-webkit-mask-image": propMask,
	"background": propBackgroundAll, "background-color": propBackground, "background-image": propBackgroundImage,
	"bottom": propBottom, "clip": propClip, "clip-path": propClipPath, "color": propColor,
	"content-visibility": propContentVisibility, "display": propDisplay, "-webkit-text-fill-color": propFillColor,
	"filter": propFilter, "float": propFloat, "font": propFont, "font-size": propFontSize, "height": propHeight,
	"inset": propInset, "left": propLeft, "line-height": propLineHeight, "margin": propMargin, "margin-left": propMarginLeft,
	"margin-top": propMarginTop, "max-height": propMaxHeight, "max-width": propMaxWidth, "min-height": propMinHeight,
	"min-width": propMinWidth, "opacity": propOpacity, "overflow": propOverflow, "overflow-x": propOverflow,
	"overflow-y": propOverflow, "padding": propPadding, "padding-bottom": propPaddingBottom, "position": propPosition, "right": propRight, "text-indent": propTextIndent, "top": propTop,
	"backdrop-filter": propBackdrop, "-webkit-backdrop-filter": propBackdrop, "backface-visibility": propBackface,
	"-webkit-backface-visibility": propBackface, "background-clip": propBackgroundClip, "-webkit-background-clip": propBackgroundClip,
	"mix-blend-mode": propBlend, "box-shadow": propBoxShadow, "-webkit-box-shadow": propBoxShadow, "box-sizing": propBoxSizing,
	"-webkit-box-sizing": propBoxSizing, "color-scheme": propColorScheme, "contain": propContain, "direction": propDirection,
	"padding-left": propPaddingLeft, "padding-top": propPaddingTop, "perspective": propPerspective,
	"-webkit-perspective": propPerspective, "text-shadow": propShadow, "-webkit-text-stroke": propStrokeAll,
	"-webkit-text-stroke-color": propStrokeColor, "-webkit-text-stroke-width": propStroke, "transform-style": propTransformStyle,
	"-webkit-transform-style": propTransformStyle, "unicode-bidi": propUnicodeBidi,
	"transform": propTransform, "visibility": propVisibility, "white-space": propWhiteSpace, "width": propWidth,
}

var propNames = func() (names nameTable) {
	for name, prop := range propsByName {
		names.add(name, uint8(prop))
	}
	return names
}()

// A cssWord is a value that is not a quantity.
type cssWord uint8

const (
	wordNone cssWord = iota + 1 // and every value that has no effect
	wordInherit
	wordInitial
	wordUnknown // a valid but unknown value
	wordHidden
	wordVisible
	wordInline
	wordBlock // every display that begins a line of its own
	wordInlineBlock
	wordTable // the parts of a table, whose boxes grow with their content
	wordContents
	wordAbsolute
	wordFixed
	wordRelative
	wordSticky
	wordDoubt     // a value that is not understood; see declParser.doubt
	wordBehind    // rotated so that its back is visible
	wordCurrent   // the color of the text
	wordLetters   // within the letters alone
	wordDark      // for dark color schemes
	wordReversed  // from right to left
	wordOverride  // regardless of the letters
	wordKeep      // blanks and lines as they are
	wordKeepLines // lines as they are
	wordNoWrap    // lines are not broken

	// What a property goes back to; see cascade.restore.
	wordUnset
	wordRevert
	wordRevertLayer
)

// A cssUnit is the unit of a number.
type cssUnit uint8

const (
	unitNumber cssUnit = iota
	unitPixel
	unitEm
	unitRem
	unitPercent
)

// A cssValue is a word, a color or a quantity.
type cssValue struct {
	number float32
	color  rgba
	word   cssWord
	unit   cssUnit
}

type cssDecl struct {
	prop      cssProp
	important bool
	value     cssValue
	// text is 1 + the index, among the texts, of a value with variables. For a variable it is the index of its name, which its
	// value follows.
	text int32
}
