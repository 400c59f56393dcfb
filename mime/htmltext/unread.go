package htmltext

import "strings"

// What honest mail hardly ever uses is not emulated: functions other than those of colors, variables, and the
// properties below. The value of such a declaration is wordDoubt, unless it is known to have no effect. Text that it
// applies to, and could hide, counts as visible, and makes the reading incomplete.

const (
	// mayHide holds the properties whose values hide text, or move it, whatever else applies. The others are looked at
	// only where they matter, as a height is with overflow.
	mayHide = 1<<propBackgroundClip | 1<<propBlend | 1<<propClip | 1<<propClipPath | 1<<propColorScheme | 1<<propContain |
		1<<propContent | 1<<propContentVisibility | 1<<propDisplay | 1<<propFilter | 1<<propFloat | 1<<propMask |
		1<<propOpacity | 1<<propOverflow | 1<<propPosition | 1<<propUnicodeBidi | 1<<propVisibility | resizes
	// resizes holds those that move, shrink or enlarge a box, so that its size and place are unknown.
	resizes = 1<<propRotate | 1<<propScale | 1<<propTransform | 1<<propTranslate | 1<<propZoom
	// repaints holds those that reveal text in the color of its background; drawsAgain those that do it in all of the
	// content.
	repaints = 1<<propBackdrop | 1<<propBackgroundClip | 1<<propBlend | 1<<propBoxShadow | 1<<propColorScheme |
		1<<propFilter
	drawsAgain = 1<<propShadow | 1<<propStroke
)

// unread parses the value of a property that is not emulated.
func (p *declParser) unread(prop cssProp, value string) {
	var word cssWord
	switch prop {
	case propBackgroundClip:
		word = doubtIf(strings.Contains(value, "text"))
	case propBoxShadow:
		word = doubtIf(strings.Contains(value, "inset"))
	case propColorScheme:
		word = doubtIf(isDarkScheme(value))
	case propContent:
		word = contentWord(value)
	case propFilter, propClip, propClipPath, propMask, propTransform:
		if !isUnknownFunction(value) && value != "none" && value != "auto" {
			return // not valid, or of other browsers
		}
		word = doubtIf(strings.IndexByte(value, '(') > 0 && value != "translatez(0)" &&
			strings.ReplaceAll(value, " ", "") != "translate3d(0,0,0)")
	case propStroke:
		word = doubtIf(value[0] != '0')
	case propUnicodeBidi:
		word = doubtIf(strings.HasSuffix(value, "override"))
	default:
		word = doubtIf(!hasNoEffect[value])
	}
	p.set(prop, cssValue{word: word})
}

// hasNoEffect holds the values of the other properties that change nothing.
var hasNoEffect = map[string]bool{
	"none": true, "normal": true, "auto": true, "visible": true, "reset": true, "1": true, "100%": true, "layout": true, "style": true,
}

func doubtIf(effective bool) cssWord {
	if effective {
		return wordDoubt
	}
	return wordNone
}

// isDarkScheme reports whether a page is for dark windows alone, in which colors are others.
func isDarkScheme(schemes string) bool {
	return strings.Contains(schemes, "dark") && !strings.Contains(schemes, "light")
}

// contentWord returns wordUnknown for a text that ::before and ::after generate, and wordDoubt for what replaces the
// content of an element, too.
func contentWord(value string) cssWord {
	if strings.IndexByte(value, '(') > 0 && value[0] != '"' && value[0] != '\'' {
		return wordDoubt
	}
	for part := range cssParts(value) {
		if (part[0] == '"' || part[0] == '\'') && !isBlankText(unescapeCSS(strings.Trim(part, part[:1]))) {
			return wordUnknown
		}
	}
	return wordNone
}

// hasVariable reports whether a lower-case value depends on variables, or on those that a browser sets.
func hasVariable(value string) bool {
	return strings.IndexByte(value, '(') > 0 && (strings.Contains(value, "var(") || strings.Contains(value, "env("))
}

// doubt records that the value of a property is not read because of an unknown function. Browsers ignore unknown
// words and units, and so does this parser.
func (p *declParser) doubt(prop cssProp, value string) {
	if isUnknownFunction(value) {
		p.set(prop, cssValue{word: wordDoubt})
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
