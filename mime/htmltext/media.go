package htmltext

import "strings"

// The window that styles are applied for is that of a desktop.
const (
	windowWidth  = 1280
	windowHeight = 800
)

// mediaApplies reports whether one of the queries matches a screen. An empty list matches.
func mediaApplies(list string) truth {
	if trimCSS(list) == "" {
		return yes
	}
	found := no
	for query := range splitSelectors(list) {
		switch queryApplies(trimCSS(query)) {
		case yes:
			return yes
		case unsure:
			found = unsure
		}
	}
	return found
}

// queryApplies reads a media type and features in brackets, joined by "and". Anything else is unsure.
func queryApplies(query string) truth {
	rest, isNot := strings.CutPrefix(query, "not ")
	rest = trimCSS(strings.TrimPrefix(rest, "only "))
	found := yes
	if isNot && rest != "" && rest[0] == '(' && strings.Contains(rest, " and ") {
		return unsure
	}
	for part := range strings.SplitSeq(rest, " and ") {
		applies := no // of a printer, or of no medium at all
		switch part = trimCSS(part); {
		case part == "" || strings.ContainsAny(part, " \t\r\n") && part[0] != '(':
			return unsure
		case part[0] == '(' && part[len(part)-1] == ')':
			applies = featureApplies(part[1 : len(part)-1])
		case part[0] == '(':
			return unsure
		case part == "all" || part == "screen":
			applies = yes
		}
		if applies == no || found == yes {
			found = applies
		}
		if found == no {
			break
		}
	}
	if isNot {
		return notOf(found)
	}
	return found
}

func notOf(t truth) truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	default:
		return unsure
	}
}

// featureApplies reports whether a feature matches the window.
func featureApplies(feature string) truth {
	name, value, _ := strings.Cut(feature, ":")
	name, value = trimCSS(name), trimCSS(value)
	switch name {
	case "prefers-color-scheme":
		return truthOf(value == "light")
	case "orientation":
		return truthOf(value == "landscape")
	case "-webkit-min-device-pixel-ratio":
		ratio, ok := quantity(value)
		return knownOr(ok && ratio.unit == unitNumber, ratio.number <= 1)
	}
	if strings.HasPrefix(name, "-ms-") || strings.HasPrefix(name, "-moz-") {
		return no
	}
	bound, of, _ := strings.Cut(name, "-")
	size, isLength := quantity(value)
	size.number = size.inPixels(defaultFontSize, 0)
	window := float32(windowWidth)
	switch of = strings.TrimPrefix(of, "device-"); {
	case of != "width" && of != "height" || !isLength || size.unit == unitPercent || size.unit == unitNumber &&
		size.number != 0:
		return unsure
	case of == "height":
		window = windowHeight
	}
	isKnown := bound == "min" || bound == "max"
	return knownOr(isKnown, bound == "min" && window >= size.number || bound == "max" && window <= size.number)
}

func knownOr(isKnown, holds bool) truth {
	if !isKnown {
		return unsure
	}
	return truthOf(holds)
}
