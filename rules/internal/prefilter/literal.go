package prefilter

import (
	"regexp/syntax"
	"strings"
)

// maxAlternatives bounds the literals that are looked for because of one regular expression.
const maxAlternatives = 64

// Regex returns the clue of the literals that are in every text which the pattern matches. The pattern is one that compiles.
func Regex(source int32, pattern string) Clue {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return Clue{}
	}
	return clueOfRegex(source, re)
}

func clueOfRegex(source int32, re *syntax.Regexp) Clue {
	switch re.Op {
	case syntax.OpLiteral:
		return Literal(source, string(re.Rune))
	case syntax.OpCapture, syntax.OpPlus:
		return clueOfRegex(source, re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return clueOfRegex(source, re.Sub[0])
		}
	case syntax.OpConcat:
		return clueOfConcat(source, re.Sub)
	case syntax.OpAlternate:
		return clueOfAlternate(source, re.Sub)
	}
	return Clue{}
}

// Literal is the clue of a condition that matches only if a text of the source contains the given one.
func Literal(source int32, text string) Clue {
	if text = normal(text); text == "" {
		return Clue{}
	}
	return Clue{needle: needle{aLiteral, source, text}}
}

// clueOfConcat joins the requirements of the parts; adjacent literals are one.
func clueOfConcat(source int32, parts []*syntax.Regexp) Clue {
	var all []Clue
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
		all = append(all, Literal(source, run.String()), clueOfRegex(source, part))
		run.Reset()
	}
	return All(append(all, Literal(source, run.String())))
}

func clueOfAlternate(source int32, parts []*syntax.Regexp) Clue {
	all := make([]Clue, len(parts))
	for i, part := range parts {
		all[i] = clueOfRegex(source, part)
	}
	if c := Any(all); c.most() <= maxAlternatives {
		return c
	}
	return Clue{}
}

// most is the number of needles that have to be looked for, whichever of the parts of All is chosen.
func (c *Clue) most() int {
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
func Wildcard(source int32, pattern string) Clue {
	var all []Clue
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
