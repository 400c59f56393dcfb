package htmltext

import "strings"

// maxConditionDepth bounds nested brackets.
const maxConditionDepth = 16

// conditionHolds reports whether a condition of features in brackets holds, with not, and, or, and nested brackets (CSS
// Conditional Rules, section 2). feature decides the innermost brackets. It gets functions with their names.
func conditionHolds(condition string, feature func(string) truth, depth int) truth {
	condition = trimCSS(condition)
	if depth == maxConditionDepth {
		return unsure
	}
	if rest, ok := cutKeyword(condition, "not"); ok {
		operand, after := cutOperand(rest)
		if trimCSS(after) != "" {
			return unsure
		}
		return notOf(operandHolds(operand, feature, depth))
	}
	operand, rest := cutOperand(condition)
	found := operandHolds(operand, feature, depth)
	for rest = trimCSS(rest); rest != ""; rest = trimCSS(rest) {
		after, isAnd := cutKeyword(rest, "and")
		if !isAnd {
			var isOr bool
			if after, isOr = cutKeyword(rest, "or"); !isOr {
				return unsure
			}
		}
		operand, rest = cutOperand(after)
		next := operandHolds(operand, feature, depth)
		switch {
		case isAnd && (found == no || next == no):
			found = no
		case !isAnd && (found == yes || next == yes):
			found = yes
		case found == unsure || next == unsure:
			found = unsure
		default:
			found = next
		}
	}
	return found
}

func operandHolds(operand string, feature func(string) truth, depth int) truth {
	inner, isBracket := strings.CutPrefix(operand, "(")
	if !isBracket {
		return feature(operand)
	}
	inner = trimCSS(strings.TrimSuffix(inner, ")"))
	_, isNot := cutKeyword(inner, "not")
	if isNot || strings.HasPrefix(inner, "(") {
		return conditionHolds(inner, feature, depth+1)
	}
	return feature(inner)
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

// cutKeyword cuts off a word that a blank or a bracket follows.
func cutKeyword(text, word string) (rest string, ok bool) {
	if len(text) <= len(word) || !strings.EqualFold(text[:len(word)], word) || !isSpaceByte(text[len(word)]) && text[len(word)] != '(' {
		return text, false
	}
	return trimCSS(text[len(word):]), true
}

// cutOperand cuts off a bracketed text, with the name of a function before it.
func cutOperand(text string) (operand, rest string) {
	open := strings.IndexByte(text, '(')
	if open < 0 || strings.ContainsAny(text[:open], " \t\r\n\f") {
		return text, ""
	}
	end := open + bracketLength(text[open:])
	return text[:end], text[end:]
}

// isSupported reports whether browsers support the subject of an @supports. Properties that matter here are judged by parsing
// them; of others only the usual ones are known.
func isSupported(condition string) truth {
	return conditionHolds(condition, supportsFeature, 0)
}

func supportsFeature(feature string) truth {
	if name, args, isFunction := strings.Cut(feature, "("); isFunction && lowerCSS(name) == "selector" {
		return supportsSelector(strings.TrimSuffix(args, ")"))
	}
	name, value, ok := strings.Cut(feature, ":")
	name, value = lowerCSS(trimCSS(name)), trimCSS(value)
	if !ok || value == "" {
		return unsure
	}
	prop, known := propOf(name)
	switch {
	case prop == propVariable && known:
		return yes
	case known:
		p := declParser{}
		p.declaration(feature)
		if len(p.out) > 0 && p.out[0].value.word == wordDoubt {
			return unsure
		}
		return truthOf(len(p.out) > 0 || prop == propAll)
	}
	for _, other := range []string{"-ms-", "-moz-", "-o-", "mso-", "-apple-", "-khtml-"} {
		if strings.HasPrefix(name, other) {
			return no
		}
	}
	switch name {
	case "-webkit-overflow-scrolling", "-webkit-touch-callout", "-webkit-marquee", "-webkit-text-size-adjust":
		return no // of telephones
	}
	if supportedProps[name] {
		return yes
	}
	return unsure
}

func supportsSelector(text string) truth {
	sheet := cssSheet{room: maxTests}
	p := selectorParser{sheet: &sheet, text: text, parent: -1}
	switch p.parse() {
	case selectorGood, selectorNever:
		return yes
	case selectorInvalid:
		return no
	default:
		return unsure
	}
}

// supportedProps are properties that occur in @supports of mail and have no other meaning here.
var supportedProps = map[string]bool{
	"accent-color": true, "align-items": true, "animation": true, "animation-name": true, "appearance": true, "-webkit-appearance": true,
	"aspect-ratio": true, "backdrop-filter": true, "background-clip": true, "-webkit-background-clip": true, "background-size": true,
	"border-radius": true, "box-shadow": true, "box-sizing": true, "column-count": true, "columns": true, "cursor": true, "flex": true,
	"flex-direction": true, "flex-wrap": true, "font-family": true, "font-variation-settings": true, "gap": true, "grid": true,
	"grid-area": true, "grid-gap": true, "grid-template-areas": true, "grid-template-columns": true, "justify-content": true,
	"letter-spacing": true, "mask": true, "mask-image": true, "-webkit-mask": true, "-webkit-mask-image": true, "mix-blend-mode": true,
	"object-fit": true, "object-position": true, "outline": true, "perspective": true, "pointer-events": true, "shape-outside": true,
	"text-align": true, "text-decoration": true, "text-overflow": true, "text-shadow": true, "-webkit-text-stroke": true,
	"transform-style": true, "transition": true, "user-select": true, "-webkit-user-select": true, "will-change": true, "z-index": true,
	"-webkit-line-clamp": true, "-webkit-box-orient": true, "color-scheme": true, "scroll-snap-type": true, "writing-mode": true,
}
