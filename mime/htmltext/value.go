package htmltext

import (
	"math"
	"strconv"
	"strings"
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
	propVisibility: {"visible": wordVisible, "hidden": wordHidden, "collapse": wordHidden},
	propPosition: {
		"static": wordNone, "relative": wordRelative, "sticky": wordSticky, "absolute": wordAbsolute, "fixed": wordFixed,
		"-webkit-sticky": wordSticky,
	},
	propFloat: {"left": wordBlock, "right": wordBlock, "none": wordNone, "inline-start": wordBlock,
		"inline-end": wordBlock},
	propOverflow: {"visible": wordVisible, "hidden": wordHidden, "clip": wordHidden, "scroll": wordHidden,
		"auto": wordHidden, "overlay": wordHidden},
	propWhiteSpace: {
		"normal": wordNone, "nowrap": wordNoWrap, "pre": wordKeep, "pre-wrap": wordKeep, "break-spaces": wordKeep,
		"pre-line": wordKeepLines,
	},
	propBoxSizing:  {"content-box": wordNone, "border-box": wordHidden},
	propLineHeight: {"normal": wordNone}, propLetterSpacing: {"normal": wordNone},
	propHeight: autoWords, propWidth: autoWords, propMaxHeight: autoWords, propMaxWidth: autoWords,
	propMinHeight: autoWords,
	propMinWidth:  autoWords, propLeft: autoWords, propTop: autoWords, propRight: autoWords, propBottom: autoWords,
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
	switch prop {
	case propDisplay:
		if strings.IndexByte(value, ' ') > 0 { // of several words
			p.set(prop, cssValue{word: wordDoubt})
		}
		return
	case propVisibility, propPosition, propFloat, propOverflow, propWhiteSpace, propBoxSizing:
		return
	}
	if v, ok := p.length(value, prop == propLineHeight); ok {
		p.set(prop, v)
	} else {
		p.doubt(prop, value)
	}
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
	v, ok := quantity(s)
	if v.unit == unitNumber && !asNumber {
		v.unit = unitPixel
		p.quirky = p.quirky || ok && v.number != 0 && p.quirks
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

// quantity reads a number with or without a unit.
func quantity(s string) (cssValue, bool) {
	digits := 0
	for digits < len(s) && (isDigit(s[digits]) || s[digits] == '.' || s[digits] == '-' || s[digits] == '+') {
		digits++
	}
	if digits == 0 {
		return cssValue{}, false
	}
	n, err := strconv.ParseFloat(s[:digits], 64)
	if err != nil || math.IsInf(n, 0) {
		return cssValue{}, false
	}
	switch unit := s[digits:]; unit {
	case "":
		return cssValue{number: float32(n), unit: unitNumber}, true
	case "%":
		return cssValue{number: float32(n / 100), unit: unitPercent}, true
	case "em":
		return cssValue{number: float32(n), unit: unitEm}, true
	case "ex", "ch", "cap", "ic":
		return cssValue{number: float32(n / 2), unit: unitEm}, true
	case "lh":
		return cssValue{number: float32(n * 1.15), unit: unitEm}, true
	case "rlh":
		return cssValue{number: float32(n * 1.15), unit: unitRem}, true
	case "rex", "rch", "rcap", "ric":
		return cssValue{number: float32(n / 2), unit: unitRem}, true
	case "rem":
		return cssValue{number: float32(n), unit: unitRem}, true
	default:
		size, ok := pixels[unit]
		return cssValue{number: float32(n * size), unit: unitPixel}, ok
	}
}
