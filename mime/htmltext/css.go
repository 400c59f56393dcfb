package htmltext

// A cssProp is a property of CSS that decides whether text is visible, and how it is laid out.
type cssProp uint8

const (
	propBackground cssProp = iota // its color
	propBackgroundImage
	propBottom
	propBoxSizing
	propColor
	propDisplay
	propFillColor
	propFloat
	propFontSize
	propHeight
	propLeft
	propLetterSpacing
	propLineHeight
	propMarginLeft
	propMarginTop
	propMaxHeight
	propMaxWidth
	propMinHeight
	propMinWidth
	propOpacity
	propOverflow
	propPaddingBottom
	propPaddingLeft
	propPaddingTop
	propPosition
	propRight
	propTextIndent
	propTop
	propVisibility
	propWhiteSpace
	propWidth

	// These are not emulated; see [unread].
	propBackdrop
	propBackgroundClip
	propBlend
	propBoxShadow
	propClip
	propClipPath
	propColorScheme
	propContain
	propContent
	propContentVisibility
	propFilter
	propMask
	propRotate
	propScale
	propShadow // of text
	propStroke
	propTransform
	propTranslate
	propUnicodeBidi
	propZoom
	propCount

	// Shorthands that set others.
	propAll
	propBackgroundAll
	propFont
	propInset
	propInsetBlock
	propInsetInline
	propMargin
	propMarginBlock
	propMarginInline
	propPadding
)

// The sides are those of the page for text that runs from left to right.
var propsByName = map[string]cssProp{
	"all": propAll, "backdrop-filter": propBackdrop, "background": propBackgroundAll, "background-clip": propBackgroundClip,
	"background-color": propBackground, "background-image": propBackgroundImage, "block-size": propHeight, "bottom": propBottom,
	"box-shadow": propBoxShadow, "box-sizing": propBoxSizing, "clip": propClip, "clip-path": propClipPath, "color": propColor,
	"color-scheme": propColorScheme, "contain": propContain, "content": propContent, "content-visibility": propContentVisibility,
	"display": propDisplay, "filter": propFilter, "float": propFloat, "font": propFont, "font-size": propFontSize,
	"height": propHeight, "inline-size": propWidth, "inset": propInset, "inset-block": propInsetBlock,
	"inset-block-end": propBottom, "inset-block-start": propTop, "inset-inline": propInsetInline, "inset-inline-end": propRight,
	"inset-inline-start": propLeft, "left": propLeft, "letter-spacing": propLetterSpacing, "line-height": propLineHeight,
	"margin": propMargin, "margin-block": propMarginBlock, "margin-block-start": propMarginTop, "margin-inline": propMarginInline,
	"margin-inline-start": propMarginLeft, "margin-left": propMarginLeft, "margin-top": propMarginTop, "mask": propMask,
	"mask-image": propMask, "max-block-size": propMaxHeight, "max-height": propMaxHeight, "max-inline-size": propMaxWidth,
	"max-width": propMaxWidth, "min-block-size": propMinHeight, "min-height": propMinHeight, "min-inline-size": propMinWidth,
	"min-width": propMinWidth, "mix-blend-mode": propBlend, "opacity": propOpacity, "overflow": propOverflow,
	"overflow-block": propOverflow, "overflow-inline": propOverflow, "overflow-x": propOverflow, "overflow-y": propOverflow,
	"padding": propPadding, "padding-block-end": propPaddingBottom, "padding-bottom": propPaddingBottom,
	"padding-left": propPaddingLeft, "padding-top": propPaddingTop, "position": propPosition, "right": propRight,
	"rotate": propRotate, "scale": propScale, "text-indent": propTextIndent, "text-shadow": propShadow, "top": propTop,
	"transform": propTransform, "translate": propTranslate, "unicode-bidi": propUnicodeBidi, "visibility": propVisibility,
	"white-space": propWhiteSpace, "width": propWidth, "zoom": propZoom,
	"-webkit-backdrop-filter": propBackdrop, "-webkit-background-clip": propBackgroundClip, "-webkit-box-shadow": propBoxShadow,
	"-webkit-box-sizing": propBoxSizing, "-webkit-clip-path": propClipPath, "-webkit-filter": propFilter, "-webkit-mask": propMask,
	"-webkit-mask-image": propMask, "-webkit-opacity": propOpacity, "-webkit-text-fill-color": propFillColor,
	"-webkit-text-stroke": propStroke, "-webkit-text-stroke-width": propStroke, "-webkit-transform": propTransform,
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
	wordDoubt     // a value that is not emulated; see unread.go
	wordCurrent   // the color of the text
	wordKeep      // blanks and lines as they are
	wordKeepLines // lines as they are
	wordNoWrap    // lines are not broken
	wordUnset     // inherited, or else initial
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
}
