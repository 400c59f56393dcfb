package htmltext

import (
	"slices"
	"strconv"
	"strings"
)

type declParser struct {
	quirks    bool // lengths need no unit
	quirky    bool // one of the declarations says something else in standards mode
	important bool
	first     int // of this block
	out       []cssDecl
}

// parse appends the declarations of a block or a style attribute that matter and are valid.
func (p *declParser) parse(text string) {
	if strings.Contains(text, "/*") {
		text = removeCSSComments(text)
	}
	for len(text) > 0 {
		end := declarationEnd(text)
		p.declaration(text[:end])
		text = text[min(end+1, len(text)):]
	}
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

func (p *declParser) declaration(text string) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	name, value = trimCSS(name), trimCSS(value)
	prop, ok := propOf(name)
	if !ok {
		return
	}
	p.important = false
	if bang := strings.LastIndexByte(value, '!'); bang >= 0 {
		if lowerCSS(trimCSS(value[bang+1:])) != "important" {
			return
		}
		p.important = true
		value = trimCSS(value[:bang])
	}
	switch value = lowerCSS(value); {
	case hasVariable(value):
		p.global(prop, cssValue{word: wordDoubt})
	case value != "":
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

// maxDeclarations is more than a block needs: each property occurs at most twice. Beyond it, the last declarations of
// each property stay.
const maxDeclarations = 128

func (p *declParser) set(prop cssProp, v cssValue) {
	if len(p.out)-p.first >= maxDeclarations {
		same := func(d cssDecl) bool { return d.prop == prop && d.important == p.important }
		p.out = append(p.out[:p.first], slices.DeleteFunc(p.out[p.first:], same)...)
	}
	p.out = append(p.out, cssDecl{prop: prop, important: p.important, value: v})
}

// property parses the value of a property. An invalid one is ignored.
func (p *declParser) property(prop cssProp, value string) {
	if c := value[0]; c == 'i' || c == 'u' || c == 'r' {
		if word, ok := globalWords[value]; ok {
			p.global(prop, cssValue{word: word})
			return
		}
	}
	switch prop {
	case propAll: // takes words only
	case propColor, propFillColor, propBackground:
		p.color(prop, value)
	case propBackgroundAll:
		p.background(value)
	case propBackgroundImage:
		p.set(prop, cssValue{word: imageWord(value)})
	case propFont:
		p.font(value)
	case propFontSize:
		if v, ok := p.fontSize(value); ok {
			p.set(prop, v)
		} else {
			p.doubt(prop, value)
		}
	case propMargin, propPadding, propInset, propInsetBlock, propInsetInline, propMarginBlock, propMarginInline:
		p.sides(prop, value)
	case propOpacity:
		if v, ok := parseChannel(value, 1); ok {
			p.set(prop, cssValue{number: float32(v)})
		} else {
			p.doubt(prop, value)
		}
	default:
		if prop >= propBackdrop {
			p.unread(prop, value)
		} else {
			p.wordOrLength(prop, value)
		}
	}
}

// globalWords are the values of all properties. What revert goes back to is not kept.
var globalWords = map[string]cssWord{
	"inherit": wordInherit, "initial": wordInitial, "unset": wordUnset, "revert": wordDoubt, "revert-layer": wordDoubt,
}

// global sets a property, or all properties of a shorthand, to a word that all of them take.
func (p *declParser) global(prop cssProp, v cssValue) {
	if int(prop) >= len(longhands) || longhands[prop] == nil {
		p.set(prop, v)
		return
	}
	for _, long := range longhands[prop] {
		p.set(long.prop, v)
	}
}

// color parses a color. In quirks mode it may be a bare number of six or three hexadecimal digits.
func (p *declParser) color(prop cssProp, value string) {
	v, ok := colorValue(value)
	if !ok && p.quirks && (len(value) == 6 || len(value) == 3) {
		v.color, ok = parseHexColor(value)
		p.quirky = p.quirky || ok
	}
	if ok {
		p.set(prop, v)
	} else {
		p.doubt(prop, value)
	}
}

func colorValue(value string) (cssValue, bool) {
	if value == "currentcolor" {
		return cssValue{word: wordCurrent}, true
	}
	c, ok := parseColor(value)
	return cssValue{color: c}, ok
}

// imageWord reports whether a value is a function that gives a picture, including gradients.
func imageWord(value string) cssWord {
	if strings.IndexByte(value, '(') < 0 {
		return wordNone
	}
	for _, function := range [...]string{"url(", "gradient(", "image-set(", "image(", "cross-fade(",
		"element(", "paint("} {
		if strings.Contains(value, function) {
			return wordUnknown
		}
	}
	return wordNone
}

// background parses the shorthand: a color and an image among other things. An omitted color or image becomes
// transparent.
func (p *declParser) background(value string) {
	color, clip := cssValue{}, cssValue{word: wordNone}
	for part := range cssParts(value) {
		part = strings.Trim(part, ",")
		if c, ok := colorValue(part); ok {
			color = c
		} else if part == "text" {
			clip.word = wordDoubt
		} else if isUnknownFunction(part) && imageWord(part) == wordNone {
			color = cssValue{word: wordDoubt}
		}
	}
	p.set(propBackground, color)
	p.set(propBackgroundImage, cssValue{word: imageWord(value)})
	p.set(propBackgroundClip, clip)
}

// font parses the shorthand: the size is the first part that is one, possibly with the line height.
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
	p.doubt(propFontSize, value)
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
		if !ok && isUnknownFunction(part) {
			v, ok = cssValue{word: wordDoubt}, true
		}
		if !ok || n == len(sides) {
			return
		}
		sides[n] = v
		n++
	}
	switch n { // top, right, bottom, left; a missing one is like its opposite
	case 1:
		sides[1], sides[2], sides[3] = sides[0], sides[0], sides[0]
	case 2:
		sides[2], sides[3] = sides[0], sides[1]
	case 3:
		sides[3] = sides[1]
	}
	for _, long := range longhands[prop] {
		p.set(long.prop, sides[long.side])
	}
}

// A longhand is a property that a shorthand sets, and the value that it takes of those for each side.
type longhand struct {
	prop cssProp
	side int
}

// longhands are those that matter.
var longhands = [...][]longhand{
	propBackgroundAll: {{propBackground, 0}, {propBackgroundImage, 0}, {propBackgroundClip, 0}},
	propFont:          {{propFontSize, 0}, {propLineHeight, 0}},
	propInset:         {{propTop, 0}, {propRight, 1}, {propBottom, 2}, {propLeft, 3}},
	propInsetBlock:    {{propTop, 0}, {propBottom, 1}},
	propInsetInline:   {{propLeft, 0}, {propRight, 1}},
	propMargin:        {{propMarginTop, 0}, {propMarginLeft, 3}},
	propMarginBlock:   {{propMarginTop, 0}},
	propMarginInline:  {{propMarginLeft, 0}},
	propPadding:       {{propPaddingTop, 0}, {propPaddingBottom, 2}, {propPaddingLeft, 3}},
}
