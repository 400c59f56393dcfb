package htmltext

import (
	"strconv"
	"strings"
)

// The window that styles are applied for is that of a desktop.
const (
	windowWidth  = 1280
	windowHeight = 800
)

// mediaApplies reports whether one of the queries matches a screen. An empty list matches.
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
	rest, isNot := strings.CutPrefix(query, "not ")
	if !isNot {
		rest, _ = strings.CutPrefix(query, "only ")
	}
	if rest = trimCSS(rest); isNot && !strings.HasPrefix(rest, "(") {
		wanted = false
	} else if isNot {
		rest = query
	}
	if rest == "" || rest[0] == '(' || isNot && wanted {
		return conditionHolds(rest, mediaFeature, 0) == yes
	}
	kind, condition, _ := strings.Cut(rest, " and ")
	kind, bracket, isClose := strings.Cut(kind, " and(")
	if isClose {
		condition = "(" + bracket + " and " + condition
	}
	found := no
	switch kind = trimCSS(kind); {
	case kind == "all" || kind == "screen":
		found = yes
		if condition != "" {
			found = conditionHolds(condition, mediaFeature, 0)
		}
	case kind == "" || strings.ContainsAny(kind, "({; "):
		found = unsure
	}
	return found != unsure && (found == yes) == wanted
}

// mediaFeature reports whether a feature matches the window. A query with an unknown feature does not apply.
func mediaFeature(feature string) truth {
	applies, known := featureApplies("(" + feature + ")")
	if !known {
		return unsure
	}
	return truthOf(applies)
}

// featureApplies reports whether a bracketed feature matches the window, and whether it is known.
func featureApplies(part string) (applies, known bool) {
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
	"inverted-colors": "none", "update": "fast", "overflow-block": "scroll", "overflow-inline": "scroll", "dynamic-range": "standard",
	"color-gamut": "srgb", "scan": "progressive", "prefers-reduced-transparency": "no-preference", "prefers-reduced-data": "no-preference",
	"video-dynamic-range": "standard",
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
	case "aspect-ratio", "device-aspect-ratio":
		over, under, isRatio := strings.Cut(value, "/")
		a, err := strconv.ParseFloat(trimCSS(over), 64)
		b := 1.
		if isRatio && err == nil {
			b, err = strconv.ParseFloat(trimCSS(under), 64)
		}
		ours, theirs, known = windowWidth*b, windowHeight*a, err == nil
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
