package htmltext

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cssWords are the values of each property that are words. A word that is not here is not valid, and the declaration is
// as if it did not stand there.
var cssWords = [propCount]map[string]cssWord{
	propDisplay: {
		"none": wordNone, "inline": wordInline, "block": wordBlock, "inline-block": wordInlineBlock, "flex": wordBlock,
		"inline-flex": wordInlineBlock, "grid": wordBlock, "inline-grid": wordInlineBlock, "list-item": wordBlock,
		"flow-root": wordBlock, "contents": wordContents, "table": wordTable, "inline-table": wordTable,
		"table-cell": wordTable, "table-row": wordTable, "table-row-group": wordTable, "table-header-group": wordTable,
		"table-footer-group": wordTable, "table-caption": wordTable, "table-column": wordNone, "table-column-group": wordNone,
		"run-in": wordInline, "-webkit-box": wordBlock, "-webkit-inline-box": wordInlineBlock, "-webkit-flex": wordBlock,
		"-webkit-inline-flex": wordInlineBlock, "ruby": wordInline, "ruby-text": wordInline, "math": wordInline,
		"grid-lanes": wordBlock, "inline-grid-lanes": wordInlineBlock,
	},
	propVisibility:        {"visible": wordVisible, "hidden": wordHidden, "collapse": wordHidden},
	propContentVisibility: {"visible": wordVisible, "hidden": wordHidden, "auto": wordVisible},
	propPosition: {
		"static": wordNone, "relative": wordRelative, "sticky": wordSticky, "absolute": wordAbsolute, "fixed": wordFixed,
		"-webkit-sticky": wordSticky,
	},
	propFloat:    {"left": wordBlock, "right": wordBlock, "none": wordNone, "inline-start": wordBlock, "inline-end": wordBlock},
	propOverflow: {"visible": wordVisible, "hidden": wordHidden, "clip": wordHidden, "scroll": wordHidden, "auto": wordHidden, "overlay": wordHidden},
	propWhiteSpace: {
		"normal": wordNone, "nowrap": wordNoWrap, "pre": wordKeep, "pre-wrap": wordKeep, "break-spaces": wordKeep,
		"pre-line": wordKeepLines,
	},
	propBackface:       {"visible": wordNone, "hidden": wordHidden},
	propBoxSizing:      {"content-box": wordNone, "border-box": wordHidden},
	propDirection:      {"ltr": wordNone, "rtl": wordReversed},
	propTransformStyle: {"flat": wordNone, "preserve-3d": wordUnknown},
	propUnicodeBidi: {
		"normal": wordNone, "embed": wordNone, "isolate": wordNone, "plaintext": wordNone, "bidi-override": wordOverride,
		"isolate-override": wordOverride,
	},
	propLineHeight: {"normal": wordNone}, propLetterSpacing: {"normal": wordNone},
	propHeight: autoWords, propWidth: autoWords, propMaxHeight: autoWords, propMaxWidth: autoWords, propMinHeight: autoWords,
	propMinWidth: autoWords, propLeft: autoWords, propTop: autoWords, propRight: autoWords, propBottom: autoWords,
	propMarginLeft: autoWords, propMarginTop: autoWords,
}

var autoWords = map[string]cssWord{
	"auto": wordNone, "none": wordNone, "min-content": wordNone, "max-content": wordNone, "fit-content": wordNone,
}

func (p *declParser) wordOrLength(prop cssProp, value string) {
	if prop == propOverflow {
		value, _, _ = strings.Cut(value, " ") // one for each direction
	}
	if word, ok := cssWords[prop][value]; ok {
		p.set(prop, cssValue{word: word})
		return
	}
	if prop == propDisplay {
		if word := displayPair(value); word != 0 {
			p.set(prop, cssValue{word: word})
		}
	}
	switch prop {
	case propDisplay, propVisibility, propContentVisibility, propPosition, propFloat, propOverflow, propWhiteSpace, propBackface,
		propBoxSizing, propDirection, propTransformStyle, propUnicodeBidi:
		return
	}
	if v, ok := p.length(value, prop == propLineHeight); ok {
		p.set(prop, v)
	} else {
		p.doubt(prop, value)
	}
}

// displayPair reads a display of two or three words: how the box stands among others, and how what it holds stands in it.
func displayPair(value string) (word cssWord) {
	for part := range strings.FieldsSeq(value) {
		switch part {
		case "block", "inline":
			word = max(word, cssWords[propDisplay][part])
		case "flow", "list-item", "ruby", "math":
			word = max(word, wordInline)
		case "flow-root", "flex", "grid", "table":
			if strings.Contains(value, "inline") {
				word = max(word, wordInlineBlock)
			} else {
				word = max(word, wordBlock)
			}
		default:
			return 0
		}
	}
	if strings.IndexByte(value, ' ') < 0 {
		return 0
	}
	return word
}

// pixels are the units of a fixed size, and those that depend on a window, of 1280 by 800 pixels.
var pixels = map[string]float64{
	"px": 1, "pt": 96. / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "vw": 12.8, "vh": 8, "vmin": 8,
	"vmax": 12.8, "svw": 12.8, "lvw": 12.8, "dvw": 12.8, "vi": 12.8, "svi": 12.8, "lvi": 12.8, "dvi": 12.8, "svh": 8, "lvh": 8, "dvh": 8,
	"vb": 8, "svb": 8, "lvb": 8, "dvb": 8, "svmin": 8, "lvmin": 8, "dvmin": 8, "svmax": 12.8, "lvmax": 12.8, "dvmax": 12.8,
	"cqw": 12.8, "cqi": 12.8, "cqmax": 12.8, "cqh": 8, "cqb": 8, "cqmin": 8, // of a container's size, for lack of one
}

// length reads a quantity. A number needs a unit, unless it is 0, or asNumber allows it, or the page is in quirks mode.
func (p *declParser) length(s string, asNumber bool) (cssValue, bool) {
	if isMath(s) {
		v, ok := computed(s)
		return v, ok && (asNumber || v.unit != unitNumber)
	}
	v, ok := quantity(s)
	if v.unit == unitNumber && !asNumber {
		v.unit = unitPixel
		ok = ok && (v.number == 0 || p.quirks)
	}
	return v, ok
}

// inPixels returns a length in pixels; em is the size of the font that percentages count, too, where whole is 0.
func (v cssValue) inPixels(em, whole float32) float32 {
	switch v.unit {
	case unitEm:
		return v.number * em
	case unitRem:
		return v.number * defaultFontSize
	case unitPercent:
		if whole == 0 {
			return v.number * em
		}
		return v.number * whole
	default:
		return v.number
	}
}

// cssParts yields the parts of a value, set apart by blanks outside of brackets and quotes.
func cssParts(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, depth := -1, 0
		for i := 0; i <= len(value); i++ {
			if i == len(value) || depth == 0 && isSpaceByte(value[i]) {
				if begin >= 0 && !yield(value[begin:i]) {
					return
				}
				begin = -1
				continue
			}
			if begin < 0 {
				begin = i
			}
			switch value[i] {
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			case '"', '\'':
				i += quotedLength(value[i:]) - 1
			}
		}
	}
}

// removeCSSComments replaces each comment by a blank, but for one before a test of a selector, which it does not part from those before.
// In quotes there are none.
func removeCSSComments(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	begin := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		case '\\':
			i++
		case '/':
			if !strings.HasPrefix(text[i:], "/*") {
				continue
			}
			out.WriteString(text[begin:i])
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return out.String()
			}
			begin = i + end + 4
			if begin == len(text) || strings.IndexByte(".#[:", text[begin]) < 0 || i > 0 && isDigit(text[i-1]) {
				out.WriteByte(' ')
			}
			i = begin - 1
		}
	}
	out.WriteString(text[min(begin, len(text)):])
	return out.String()
}

func trimCSS(s string) string {
	for len(s) > 0 && isSpaceByte(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpaceByte(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// lowerCSS lowers A to Z and takes escapes back, since words may be written with them.
func lowerCSS(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c == '\\' {
			return lowerASCII(unescapeCSS(s))
		}
	}
	return s
}

func lowerASCII(s string) string {
	lower := []byte(s)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// unescapeCSS takes escapes back: a backslash before a character, or before up to six hexadecimal digits and a blank (CSS Syntax,
// section 4.3.7).
func unescapeCSS(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		end := i + escapeLength(s[i:])
		digits := strings.TrimRight(s[i+1:end], " \t\r\n\f")
		if digits == "" || !isHexDigit(digits[0]) {
			i++ // the next character stands for itself
			out.WriteByte(s[i])
			continue
		}
		code, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || code == 0 || !utf8.ValidRune(rune(code)) {
			code = utf8.RuneError
		}
		out.WriteRune(rune(code))
		i = end - 1
	}
	return out.String()
}

// escapeLength is the length of the escape that s begins with.
func escapeLength(s string) int {
	end := 1
	for end < len(s) && end <= 6 && isHexDigit(s[end]) {
		end++
	}
	if end == 1 {
		return min(2, len(s))
	}
	if end < len(s) && isSpaceByte(s[end]) {
		end++
	}
	return end
}
