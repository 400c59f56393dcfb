package mime

import (
	"slices"
	"strconv"
	"strings"
)

// A cssProp is a property of CSS that decides whether text is seen, and how it is laid out.
type cssProp uint8

const (
	propBackground cssProp = iota // its color
	propBackgroundImage
	propBottom
	propClip
	propColor
	propContentVisibility
	propDisplay
	propFillColor
	propFilter
	propFloat
	propFontSize
	propHeight
	propLeft
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
	propPosition
	propRight
	propTextIndent
	propTop
	propTransform
	propVisibility
	propWhiteSpace
	propWidth
	propCount

	// Those that set others.
	propBackgroundAll
	propClipPath
	propFont
	propInset
	propMargin
	propPadding
)

var propsByName = map[string]cssProp{
	"background": propBackgroundAll, "background-color": propBackground, "background-image": propBackgroundImage,
	"bottom": propBottom, "clip": propClip, "clip-path": propClipPath, "color": propColor,
	"content-visibility": propContentVisibility, "display": propDisplay, "-webkit-text-fill-color": propFillColor,
	"filter": propFilter, "float": propFloat, "font": propFont, "font-size": propFontSize, "height": propHeight,
	"inset": propInset, "left": propLeft, "line-height": propLineHeight, "margin": propMargin, "margin-left": propMarginLeft,
	"margin-top": propMarginTop, "max-height": propMaxHeight, "max-width": propMaxWidth, "min-height": propMinHeight,
	"min-width": propMinWidth, "opacity": propOpacity, "overflow": propOverflow, "overflow-x": propOverflow,
	"overflow-y": propOverflow, "padding": propPadding, "padding-bottom": propPaddingBottom, "position": propPosition, "right": propRight, "text-indent": propTextIndent, "top": propTop,
	"transform": propTransform, "visibility": propVisibility, "white-space": propWhiteSpace, "width": propWidth,
}

var propNames = func() (names nameTable) {
	for name, prop := range propsByName {
		names.add(name, uint8(prop))
	}
	return names
}()

// A cssWord is a value that is no quantity.
type cssWord uint8

const (
	wordNone cssWord = iota + 1 // and whatever is as if nothing had been said
	wordInherit
	wordInitial
	wordUnknown // a value that is valid and not known
	wordHidden
	wordVisible
	wordInline
	wordBlock // all that begins a line of its own
	wordInlineBlock
	wordTable // the parts of a table, whose boxes grow with their content
	wordContents
	wordAbsolute
	wordRelative
	wordKeep      // blanks and lines as they are
	wordKeepLines // lines as they are
)

// A cssUnit is what a number counts.
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
	color  htmlColor
	word   cssWord
	unit   cssUnit
}

type cssDecl struct {
	prop      cssProp
	important bool
	value     cssValue
}

// parseDeclarations appends the declarations of a block or a style attribute that matter and are valid. In quirks mode,
// lengths need no unit.
func parseDeclarations(text string, quirks bool, out []cssDecl) []cssDecl {
	if strings.Contains(text, "/*") {
		text = removeCSSComments(text)
	}
	p := declParser{quirks: quirks, first: len(out), out: out}
	for len(text) > 0 {
		end := declarationEnd(text)
		p.declaration(text[:end])
		text = text[min(end+1, len(text)):]
	}
	return p.out
}

// declarationEnd returns the offset of the semicolon that ends the first declaration.
func declarationEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		if !isCSSMark[text[i]] {
			continue
		}
		switch text[i] {
		case ';':
			if depth <= 0 {
				return i
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '\\':
			i++
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		}
	}
	return len(text)
}

// isCSSMark holds the characters that end or nest parts of a sheet.
var isCSSMark = [256]bool{
	';': true, '(': true, ')': true, '[': true, ']': true, '{': true, '}': true, '\\': true, '"': true, '\'': true,
}

// quotedLength is the length of a string with its quotes. One that is not closed ends with its line.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i + 1
		case '\\':
			i++
		case '\n':
			return i
		}
	}
	return len(text)
}

type declParser struct {
	quirks    bool
	important bool
	first     int // of this block
	out       []cssDecl
}

func (p *declParser) declaration(text string) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	prop, ok := propOf(trimCSS(name))
	if !ok {
		return
	}
	value = lowerCSS(trimCSS(value))
	p.important = false
	if bang := strings.LastIndexByte(value, '!'); bang >= 0 {
		if trimCSS(value[bang+1:]) != "important" {
			return
		}
		p.important = true
		value = trimCSS(value[:bang])
	}
	if value != "" {
		p.property(prop, value)
	}
}

func propOf(name string) (cssProp, bool) {
	if strings.IndexByte(name, '\\') >= 0 {
		name = unescapeCSS(name)
	}
	prop, ok := propNames.find(name)
	return cssProp(prop), ok
}

// maxDeclarations is more than a block needs, where each property stands at most twice. Beyond it, the last ones of each
// property stay.
const maxDeclarations = 128

func (p *declParser) set(prop cssProp, v cssValue) {
	if len(p.out)-p.first >= maxDeclarations {
		same := func(d cssDecl) bool { return d.prop == prop && d.important == p.important }
		p.out = append(p.out[:p.first], slices.DeleteFunc(p.out[p.first:], same)...)
	}
	p.out = append(p.out, cssDecl{prop: prop, important: p.important, value: v})
}

// property reads the value of a property; what is not valid is as if it did not stand there.
func (p *declParser) property(prop cssProp, value string) {
	if c := value[0]; c == 'i' || c == 'u' || c == 'r' {
		if word, ok := globalWords[value]; ok {
			p.global(prop, cssValue{word: word})
			return
		}
	}
	switch prop {
	case propColor, propFillColor, propBackground:
		if v, ok := colorValue(value); ok {
			p.set(prop, v)
		}
	case propBackgroundAll:
		p.background(value)
	case propBackgroundImage:
		p.set(prop, cssValue{word: imageWord(value)})
	case propFont:
		p.font(value)
	case propFontSize:
		if v, ok := p.fontSize(value); ok {
			p.set(prop, v)
		}
	case propMargin, propPadding, propInset:
		p.sides(prop, value)
	case propOpacity:
		if v, ok := opacityValue(value); ok {
			p.set(prop, v)
		}
	case propClip, propClipPath, propTransform, propFilter:
		p.set(propClipOf(prop), cssValue{word: shapeWord(prop, value)})
	default:
		p.wordOrLength(prop, value)
	}
}

// propClipOf maps clip-path to clip: either hides alike.
func propClipOf(prop cssProp) cssProp {
	if prop == propClipPath {
		return propClip
	}
	return prop
}

var globalWords = map[string]cssWord{
	"inherit": wordInherit, "initial": wordInitial, "unset": wordInitial, "revert": wordInitial, "revert-layer": wordInitial,
}

// global sets a property, or all that it stands for, to what is around it or to what it begins with.
func (p *declParser) global(prop cssProp, v cssValue) {
	switch prop {
	case propBackgroundAll:
		p.set(propBackground, v)
		p.set(propBackgroundImage, v)
	case propFont:
		p.set(propFontSize, v)
		p.set(propLineHeight, v)
	case propMargin:
		p.set(propMarginLeft, v)
		p.set(propMarginTop, v)
	case propPadding:
		p.set(propPaddingBottom, v)
	case propInset:
		for _, side := range []cssProp{propLeft, propTop, propRight, propBottom} {
			p.set(side, v)
		}
	default:
		p.set(propClipOf(prop), v)
	}
}

// opacityValue reads a number or a percentage.
func opacityValue(value string) (cssValue, bool) {
	if isMath(value) {
		v, ok := computed(value)
		v.number = max(0, min(v.number, 1))
		return cssValue{number: v.number}, ok && (v.unit == unitNumber || v.unit == unitPercent)
	}
	v, ok := parseChannel(value, 1)
	return cssValue{number: float32(v)}, ok
}

func colorValue(value string) (cssValue, bool) {
	if light, ok := strings.CutPrefix(value, "light-dark("); ok {
		for value = range splitSelectors(light) {
			break
		}
		value = trimCSS(value)
	}
	if value == "currentcolor" || strings.Contains(value, "var(") {
		return cssValue{word: wordUnknown}, true
	}
	c, ok := parseColor(value)
	return cssValue{color: c}, ok
}

func imageWord(value string) cssWord {
	if strings.Contains(value, "url(") || strings.Contains(value, "gradient(") || strings.Contains(value, "image-set(") ||
		strings.Contains(value, "var(") {
		return wordUnknown
	}
	return wordNone
}

// background reads the shorthand: a color and an image among other things. What is left out becomes transparent.
func (p *declParser) background(value string) {
	color := cssValue{}
	for part := range cssParts(value) {
		if c, ok := colorValue(part); ok {
			color = c
		}
	}
	p.set(propBackground, color)
	p.set(propBackgroundImage, cssValue{word: imageWord(value)})
}

// font reads the shorthand: the size is the first part that is one, perhaps with the height of the line.
func (p *declParser) font(value string) {
	for part := range cssParts(value) {
		size, line, _ := strings.Cut(part, "/")
		if n, err := strconv.ParseFloat(size, 64); size == "" || err == nil && n != 0 {
			continue // the weight
		}
		v, ok := p.fontSize(size)
		if !ok {
			continue
		}
		p.set(propFontSize, v)
		if l, ok := p.length(line, true); ok {
			p.set(propLineHeight, l)
		} else {
			p.set(propLineHeight, cssValue{word: wordNone})
		}
		return
	}
}

var fontSizes = map[string]cssValue{
	"xx-small": {number: 9, unit: unitPixel}, "x-small": {number: 10, unit: unitPixel}, "small": {number: 13, unit: unitPixel},
	"medium": {number: 16, unit: unitPixel}, "large": {number: 18, unit: unitPixel}, "x-large": {number: 24, unit: unitPixel},
	"xx-large": {number: 32, unit: unitPixel}, "xxx-large": {number: 48, unit: unitPixel},
	"smaller": {number: .83, unit: unitEm}, "larger": {number: 1.2, unit: unitEm},
}

func (p *declParser) fontSize(value string) (cssValue, bool) {
	if v, ok := fontSizes[value]; ok {
		return v, true
	}
	v, ok := p.length(value, false)
	return v, ok && v.number >= 0
}

// sides reads the top and the left of a margin, the bottom of a padding, or all sides of an inset.
func (p *declParser) sides(prop cssProp, value string) {
	var sides [4]cssValue
	n := 0
	for part := range cssParts(value) {
		v, ok := p.length(part, false)
		if part == "auto" {
			v, ok = cssValue{word: wordNone}, true
		}
		if !ok || n == len(sides) {
			return
		}
		sides[n] = v
		n++
	}
	switch n { // top, right, bottom, left; what is missing is as its opposite
	case 1:
		sides[1], sides[2], sides[3] = sides[0], sides[0], sides[0]
	case 2:
		sides[2], sides[3] = sides[0], sides[1]
	case 3:
		sides[3] = sides[1]
	}
	switch prop {
	case propMargin:
		p.set(propMarginTop, sides[0])
		p.set(propMarginLeft, sides[3])
		return
	case propPadding:
		p.set(propPaddingBottom, sides[2])
		return
	}
	for i, side := range []cssProp{propTop, propRight, propBottom, propLeft} {
		p.set(side, sides[i])
	}
}

// shapeWord returns wordHidden for a shape that leaves nothing to see.
func shapeWord(prop cssProp, value string) cssWord {
	value = strings.ReplaceAll(value, " ", "")
	hides := false
	switch prop {
	case propClip: // only what lies between the edges is shown
		hides = isEmptyRect(value)
	case propClipPath:
		hides = strings.HasPrefix(value, "inset(50%") || strings.HasPrefix(value, "inset(100%") ||
			strings.HasPrefix(value, "circle(0)") || strings.HasPrefix(value, "circle(0px") || strings.HasPrefix(value, "circle(0%")
	case propTransform:
		for _, s := range []string{"scale(0)", "scale(0,", "scalex(0)", "scaley(0)", "scale3d(0,", "rotatex(90deg)", "rotatey(90deg)"} {
			hides = hides || strings.Contains(value, s)
		}
		hides = hides || isFarTranslation(value)
	case propFilter:
		hides = strings.Contains(value, "opacity(0)") || strings.Contains(value, "opacity(0%)")
	}
	switch {
	case !hides:
		return wordNone
	case prop == propClip:
		return wordAbsolute // it needs a position
	default:
		return wordHidden
	}
}

// isEmptyRect reports whether rect(top, right, bottom, left) is at most a pixel wide or high.
func isEmptyRect(value string) bool {
	inner, ok := strings.CutPrefix(value, "rect(")
	if !ok {
		return false
	}
	var edges [4]float64
	fields := strings.FieldsFunc(strings.TrimSuffix(inner, ")"), func(r rune) bool { return r == ',' })
	if len(fields) == 1 { // blanks stood between them, and no edge is far where all begin with 0 or 1
		return strings.Trim(inner, "01px)") == ""
	}
	if len(fields) != len(edges) {
		return false
	}
	for i, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimRight(field, "ceimnptx"), 64)
		if err != nil {
			return false
		}
		edges[i] = v
	}
	return edges[1]-edges[3] <= 1 || edges[2]-edges[0] <= 1
}

func isFarTranslation(value string) bool {
	_, args, ok := strings.Cut(value, "translate")
	if !ok {
		return false
	}
	_, args, _ = strings.Cut(args, "(")
	args, _, _ = strings.Cut(args, ")")
	for arg := range strings.SplitSeq(args, ",") {
		n, err := strconv.ParseFloat(strings.TrimSuffix(arg, "px"), 64)
		if err == nil && n <= -farAway {
			return true
		}
	}
	return false
}
