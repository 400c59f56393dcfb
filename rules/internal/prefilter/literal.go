package prefilter

import (
	"regexp/syntax"
	"strings"
)

// maxAlternatives bounds the literals that are looked for because of one regular expression.
const maxAlternatives = 64

// Regex returns the key of the literals that are in every text which the pattern matches. The pattern is one that
// compiles.
func Regex(source int32, pattern string) Key {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return Key{}
	}
	return keyOfRegex(source, re)
}

func keyOfRegex(source int32, re *syntax.Regexp) Key {
	switch re.Op {
	case syntax.OpLiteral:
		return Literal(source, string(re.Rune))
	case syntax.OpCapture, syntax.OpPlus:
		return keyOfRegex(source, re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return keyOfRegex(source, re.Sub[0])
		}
	case syntax.OpConcat:
		return keyOfConcat(source, re.Sub)
	case syntax.OpAlternate:
		return keyOfAlternate(source, re.Sub)
	}
	return Key{}
}

// Literal is the key of a condition that matches only if a text of the source contains the given one.
func Literal(source int32, text string) Key {
	if text = normal(text); text == "" {
		return Key{}
	}
	return Key{needle: needle{aLiteral, source, text}}
}

// keyOfConcat joins the requirements of the parts; adjacent literals are one.
func keyOfConcat(source int32, parts []*syntax.Regexp) Key {
	var all []Key
	var run strings.Builder
	for _, part := range parts {
		switch part.Op {
		case syntax.OpLiteral:
			run.WriteString(string(part.Rune))
			continue
		case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
			syntax.OpNoWordBoundary, syntax.OpEmptyMatch:
			continue // they take no character
		}
		all = append(all, Literal(source, run.String()), keyOfRegex(source, part))
		run.Reset()
	}
	return All(append(all, Literal(source, run.String())))
}

func keyOfAlternate(source int32, parts []*syntax.Regexp) Key {
	all := make([]Key, len(parts))
	for i, part := range parts {
		all[i] = keyOfRegex(source, part)
	}
	if c := Any(all); c.most() <= maxAlternatives {
		return c
	}
	return Key{}
}

// most is the number of needles that have to be looked for, whichever of the parts of All is chosen.
func (c *Key) most() int {
	n := 1
	for i := range c.parts {
		switch part := c.parts[i].most(); {
		case c.op == anyOf && i > 0:
			n += part
		default:
			n = max(n, part)
		}
	}
	return n
}

// Wildcard joins the parts of a wildcard pattern between its * and ?.
func Wildcard(source int32, pattern string) Key {
	var all []Key
	var part strings.Builder
	end := func() {
		all = append(all, Literal(source, part.String()))
		part.Reset()
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' || c == '?':
			end()
		case c == '\\' && i+1 < len(pattern):
			i++
			part.WriteByte(pattern[i])
		default:
			part.WriteByte(c)
		}
	}
	end()
	return All(all)
}
