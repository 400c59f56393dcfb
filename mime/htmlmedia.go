package mime

import (
	"strconv"
	"strings"
)

// The window that styles are applied for: that of a desk, not of a telephone.
const (
	windowWidth  = 1280
	windowHeight = 800
)

// atRuleApplies reports whether the rules in the block of an at-rule count.
func atRuleApplies(prelude string) bool {
	end := 1
	for end < len(prelude) && (isLetter(prelude[end]) || prelude[end] == '-') {
		end++
	}
	name, condition := lowerASCII(prelude[1:end]), trimCSS(lowerCSS(prelude[end:]))
	switch name {
	case "media":
		return mediaApplies(condition)
	case "supports":
		return isSupported(condition)
	case "layer":
		return true
	default: // @font-face, @keyframes, @page and what else is no rule for elements
		return false
	}
}

// isSupported guesses: browsers support what a sheet asks for, but for what belongs to others.
func isSupported(condition string) bool {
	for _, other := range []string{"-ms-", "-moz-", "-o-", "overflow-scrolling", "touch-callout", "not "} {
		if strings.Contains(condition, other) {
			return false
		}
	}
	return true
}

// mediaApplies reports whether one of the queries is that of a screen; an empty list is.
func mediaApplies(list string) bool {
	if trimCSS(list) == "" {
		return true
	}
	for query := range splitSelectors(list) {
		if queryApplies(trimCSS(query)) {
			return true
		}
	}
	return false
}

func queryApplies(query string) bool {
	wanted := true
	for i, part := range strings.Split(strings.ReplaceAll(query, ")and", ") and"), " and ") {
		part = trimCSS(part)
		if i == 0 {
			if rest, ok := strings.CutPrefix(part, "not "); ok {
				wanted, part = false, trimCSS(rest)
			} else if rest, ok := strings.CutPrefix(part, "only "); ok {
				part = trimCSS(rest)
			}
		}
		applies, known := featureApplies(part)
		if !known {
			return false
		}
		if !applies {
			return !wanted
		}
	}
	return wanted
}

// featureApplies reports whether a type of media or a feature in brackets is that of the window, and whether it is known.
func featureApplies(part string) (applies, known bool) {
	if !strings.HasPrefix(part, "(") {
		switch part {
		case "all", "screen":
			return true, true
		default:
			return false, part != "" && !strings.ContainsAny(part, "({;")
		}
	}
	if strings.ContainsAny(part, "<>=") {
		return comparisonApplies(strings.TrimSuffix(part[1:], ")"))
	}
	name, value, hasValue := strings.Cut(strings.TrimSuffix(part[1:], ")"), ":")
	name, value = trimCSS(name), trimCSS(value)
	bound, feature, isRange := strings.Cut(name, "-")
	if strings.HasPrefix(name, "-webkit-m") {
		bound, feature, isRange = name[len("-webkit-"):len("-webkit-")+3], name[min(len(name), len("-webkit-min-")):], true
	}
	if isRange && hasValue && (bound == "min" || bound == "max") {
		return compareFeature(feature, map[string]string{"min": ">=", "max": "<="}[bound], value)
	}
	want, known := windowFeatures[name]
	return !hasValue && want != "none" || want == value, known
}

var windowFeatures = map[string]string{
	"orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "hover": "hover",
	"any-hover": "hover", "pointer": "fine", "any-pointer": "fine", "color": "8", "monochrome": "none", "grid": "0",
	"forced-colors": "none", "prefers-contrast": "no-preference", "scripting": "none", "display-mode": "browser",
	"inverted-colors": "none",
}

// comparisonApplies reads "width >= 600px", "600px <= width", and both in one (Media Queries, section 2.4.3).
func comparisonApplies(text string) (applies, known bool) {
	operand := func() string {
		end := strings.IndexAny(text, "<>=")
		if end < 0 {
			end = len(text)
		}
		found := trimCSS(text[:end])
		text = text[end:]
		return found
	}
	operator := func() string {
		rest := strings.TrimLeft(text, "<>=")
		found := text[:len(text)-len(rest)]
		text = rest
		return found
	}
	applies, known = true, true
	left := operand()
	for known && text != "" {
		sign, right := operator(), operand()
		var holds bool
		holds, known = compare(left, sign, right)
		applies = applies && holds
		left = right
	}
	return applies, known
}

// compare compares a feature of the window with a value, on whichever side it stands.
func compare(left, sign, right string) (holds, known bool) {
	if left == "" || isLetter(left[0]) && !isMath(left) {
		return compareFeature(left, sign, right)
	}
	return compareFeature(right, map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}[sign], left)
}

// compareFeature compares a feature of the window with a value.
func compareFeature(feature, sign, value string) (holds, known bool) {
	var ours, theirs float64
	switch feature {
	case "width", "device-width", "height", "device-height":
		ours = windowWidth
		if strings.HasSuffix(feature, "height") {
			ours = windowHeight
		}
		p := declParser{}
		v, ok := p.length(value, false)
		theirs, known = float64(v.inPixels(defaultFontSize, 0)), ok
	case "device-pixel-ratio", "resolution", "color":
		ours = 1
		if feature == "color" {
			ours = 8
		}
		n, err := strconv.ParseFloat(strings.TrimRight(value, "dpix"), 64)
		if strings.HasSuffix(value, "dpi") {
			n /= 96
		}
		theirs, known = n, err == nil
	}
	switch sign {
	case "<":
		holds = ours < theirs
	case "<=":
		holds = ours <= theirs
	case ">":
		holds = ours > theirs
	case ">=":
		holds = ours >= theirs
	case "=":
		holds = ours == theirs
	default:
		known = false
	}
	return holds, known
}
