package htmltext

import "strings"

// doubt records that the value of a property is not understood because of an unknown function. A style that depends on it hides
// nothing, and the reading becomes incomplete if it may hide text. Browsers ignore unknown words and units, and so does this
// parser.
func (p *declParser) doubt(prop cssProp, value string) {
	if isUnknownFunction(value) {
		p.set(propClipOf(prop), cssValue{word: wordDoubt})
	}
}

// isUnknownFunction reports whether an invalid value has a function that browsers may know.
func isUnknownFunction(value string) bool {
	name, _, ok := strings.Cut(value, "(")
	if !ok || name == "" {
		return false
	}
	for _, other := range [...]string{"-moz-", "-ms-", "-o-", "expression", "progid", "alpha", "constant"} {
		if strings.HasPrefix(name, other) {
			return false
		}
	}
	return true
}

// color parses a color. In quirks mode it may be a bare number of six or three hexadecimal digits.
func (p *declParser) color(prop cssProp, value string) {
	v, ok := colorValue(value)
	if !ok && p.quirks && (len(value) == 6 || len(value) == 3) {
		v.color, ok = parseHexColor(value)
	}
	if ok {
		p.set(prop, v)
	} else {
		p.doubt(prop, value)
	}
}

// paint parses the styles that change the painting of letters and of the place behind them.
func (p *declParser) paint(prop cssProp, value string) {
	word := wordUnknown
	switch {
	case prop == propShadow:
		p.set(prop, shadowColor(value))
		return
	case prop == propStroke || prop == propStrokeAll:
		p.stroke(prop, value)
		return
	case prop == propColorScheme:
		word = wordNone
		if strings.Contains(value, "dark") && !strings.Contains(value, "light") {
			word = wordDark
		}
	case prop == propContain:
		p.set(prop, containment(value))
		return
	case prop == propBackgroundClip:
		word = wordNone
		if strings.Contains(value, "text") {
			word = wordLetters
		}
	case prop == propBoxShadow:
		if !strings.Contains(value, "inset") {
			word = wordNone
		}
	case value == "none" || value == "normal":
		word = wordNone
	}
	p.set(prop, cssValue{word: word})
}

// shadowColor returns the color of a shadow; wordUnknown for several.
func shadowColor(value string) cssValue {
	if value == "none" {
		return cssValue{word: wordNone}
	}
	shadow, first := cssValue{word: wordCurrent}, true
	for layer := range splitSelectors(value) {
		if !first {
			return cssValue{word: wordUnknown}
		}
		first = false
		for part := range cssParts(layer) {
			if c, ok := colorValue(part); ok {
				shadow = c
			} else if _, isLength := quantity(part); !isLength && strings.IndexByte(part, '(') >= 0 {
				return cssValue{word: wordUnknown}
			}
		}
	}
	return shadow
}

// stroke reads the width of the lines around letters, and their color.
func (p *declParser) stroke(prop cssProp, value string) {
	width, color := cssValue{unit: unitPixel}, cssValue{word: wordCurrent}
	for part := range cssParts(value) {
		if c, ok := colorValue(part); ok {
			color = c
		} else if n, ok := p.length(part, false); ok {
			width = n
		} else if part == "thin" || part == "medium" || part == "thick" {
			width.number = 3
		} else if isUnknownFunction(part) {
			width.number, color = 1, cssValue{word: wordUnknown}
		}
	}
	p.set(propStroke, width)
	if prop == propStrokeAll {
		p.set(propStrokeColor, color)
	}
}

// The kinds of containment that clip the content of a box, or make its size independent of it.
const (
	containsPaint = 1 << iota
	containsSize
	containsWidth
)

// containment returns the kinds of containment, as the bits of a number.
func containment(value string) cssValue {
	kinds := 0
	for word := range strings.FieldsSeq(value) {
		switch word {
		case "strict":
			kinds |= containsPaint | containsSize
		case "content", "paint":
			kinds |= containsPaint
		case "size":
			kinds |= containsSize
		case "inline-size":
			kinds |= containsWidth
		}
	}
	return cssValue{number: float32(kinds)}
}

// filterWord returns wordHidden for a filter that makes everything invisible, wordLetters for one that draws letters again,
// wordUnknown for one that changes colors or blurs, and wordNone for one without effect.
func filterWord(value string) cssWord {
	word := wordNone
	for rest := value; ; {
		var name, arg string
		if name, arg, rest = cutFunction(rest); name == "" {
			return word
		}
		n, ok := parseChannel(arg, 1)
		switch name {
		case "opacity":
			if ok && n < minOpacity {
				return wordHidden
			} else if !ok && arg != "" {
				word = wordUnknown
			}
		case "drop-shadow":
			if word == wordNone {
				word = wordLetters
			}
		case "grayscale", "sepia", "invert", "blur", "hue-rotate":
			if v, ok := quantity(arg); !ok || v.number != 0 {
				word = wordUnknown
			}
		case "brightness", "contrast", "saturate":
			if v, ok := quantity(arg); arg != "" && (!ok || v.number != 1) {
				word = wordUnknown
			}
		default:
			if isUnknownFunction(name + "(") {
				word = wordUnknown
			}
		}
	}
}

// cutFunction cuts off the first function of a value with its arguments. The name is empty if there is none.
func cutFunction(value string) (name, args, rest string) {
	open := strings.IndexByte(value, '(')
	if open < 0 {
		return "", "", ""
	}
	end := open + bracketLength(value[open:])
	return trimCSS(value[:open]), trimCSS(strings.TrimSuffix(value[open+1:end], ")")), value[end:]
}
