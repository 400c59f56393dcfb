package rules

import (
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The index looks for literals in a text's normal form: lower case, with one space for each run of spaces and line ends. If a
// match finds a value in a text, the value's normal form is in the text's normal form. Candidates are then matched exactly.

// canonical returns the same character for all that differ in case: for those that [unicode.ToLower] makes equal and for those
// that (?i) of a regular expression takes for equal, such as s and ſ.
func canonical(r rune) rune {
	switch {
	case r < firstIdeograph:
		return canonicalForms()[r]
	case r <= lastIdeograph:
		return r // no script from here to there has case
	}
	return foldRune(r)
}

const firstIdeograph, lastIdeograph = '\u2e80', '\ua63f'

var canonicalForms = sync.OnceValue(func() []rune {
	forms := make([]rune, firstIdeograph)
	for r := range forms {
		forms[r] = foldRune(rune(r))
	}
	return forms
})

// asciiForms are the normal forms of ASCII.
var asciiForms = func() (forms [utf8.RuneSelf]byte) {
	for c := range forms {
		forms[c] = byte(foldRune(rune(c)))
		if unicode.IsSpace(rune(c)) {
			forms[c] = ' '
		}
	}
	return forms
}()

func foldRune(r rune) rune {
	r = unicode.ToLower(r)
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, unicode.ToLower(other))
	}
	return least
}

// appendNormal appends the normal form of a text. Blanks at its edges are left out.
func appendNormal(to []byte, text string) []byte {
	start := len(to)
	blank := false
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			i++
			c = asciiForms[c]
			if c == ' ' {
				blank = true
				continue
			}
			if blank && len(to) > start {
				to = append(to, ' ')
			}
			blank = false
			to = append(to, c)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if blank && len(to) > start {
			to = append(to, ' ')
		}
		blank = false
		to = utf8.AppendRune(to, canonical(r))
	}
	return to
}

func normal(text string) string { return string(appendNormal(nil, text)) }

// maxAlternatives bounds the literals that are looked for because of one regular expression.
const maxAlternatives = 64

// regexClue returns the clue of the literals that are in every text which the pattern matches. The pattern is one that compiles.
func regexClue(source int32, pattern string) clue {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return clue{}
	}
	return clueOfRegex(source, re)
}

func clueOfRegex(source int32, re *syntax.Regexp) clue {
	switch re.Op {
	case syntax.OpLiteral:
		return literalClue(source, string(re.Rune))
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
	return clue{}
}

func literalClue(source int32, text string) clue {
	if text = normal(text); text == "" {
		return clue{}
	}
	return clue{needle: needle{aLiteral, source, text}}
}

// clueOfConcat joins the requirements of the parts; adjacent literals are one.
func clueOfConcat(source int32, parts []*syntax.Regexp) clue {
	var all []clue
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
		all = append(all, literalClue(source, run.String()), clueOfRegex(source, part))
		run.Reset()
	}
	return allClues(append(all, literalClue(source, run.String())))
}

func clueOfAlternate(source int32, parts []*syntax.Regexp) clue {
	all := make([]clue, len(parts))
	for i, part := range parts {
		all[i] = clueOfRegex(source, part)
	}
	if c := anyClue(all); c.most() <= maxAlternatives {
		return c
	}
	return clue{}
}

// most is the number of needles that have to be looked for, whichever of the parts of an And is chosen.
func (c *clue) most() int {
	n := 1
	for i := range c.parts {
		switch part := c.parts[i].most(); {
		case c.op == Or && i > 0:
			n += part
		default:
			n = max(n, part)
		}
	}
	return n
}

// wildcardClue joins the parts of a wildcard pattern between its * and ?.
func wildcardClue(source int32, pattern string) clue {
	var all []clue
	var part strings.Builder
	end := func() {
		all = append(all, literalClue(source, part.String()))
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
	return allClues(all)
}
