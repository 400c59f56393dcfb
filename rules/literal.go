package rules

import (
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The index looks for literals in a text's normal form: without case, and with one blank for each run of blanks and line ends.
// Whatever is found in a text by one of the matches is found in its normal form by the normal form of the value; what is found
// so is then matched exactly.

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

// maxAlternatives bounds the literals of one regular expression.
const maxAlternatives = 64

// requiredLiterals returns literals in their normal form, one of which at least is in every text that the pattern matches; nil
// when there are none. The pattern is one that compiles.
func requiredLiterals(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return literalsOf(re)
}

func literalsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return oneLiteral(string(re.Rune))
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		return literalsOfConcat(re.Sub)
	case syntax.OpAlternate:
		return literalsOfAlternate(re.Sub)
	}
	return nil
}

func oneLiteral(text string) []string {
	if text = normal(text); text == "" {
		return nil
	}
	return []string{text}
}

// literalsOfConcat returns the best of what each part requires, where literals next to each other are one.
func literalsOfConcat(parts []*syntax.Regexp) []string {
	var best []string
	var run strings.Builder
	consider := func(found []string) {
		if found != nil && shortest(found) > shortest(best) {
			best = found
		}
	}
	for _, part := range parts {
		switch part.Op {
		case syntax.OpLiteral:
			run.WriteString(string(part.Rune))
			continue
		case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
			syntax.OpNoWordBoundary, syntax.OpEmptyMatch:
			continue // they take no character
		}
		consider(oneLiteral(run.String()))
		run.Reset()
		consider(literalsOf(part))
	}
	consider(oneLiteral(run.String()))
	return best
}

func literalsOfAlternate(parts []*syntax.Regexp) []string {
	var all []string
	for _, part := range parts {
		found := literalsOf(part)
		if found == nil || len(all)+len(found) > maxAlternatives {
			return nil
		}
		all = append(all, found...)
	}
	return all
}

// shortest is the length of the shortest of the literals; 0 when there are none.
func shortest(literals []string) int {
	least := 0
	for i, l := range literals {
		if i == 0 || len(l) < least {
			least = len(l)
		}
	}
	return least
}

// wildcardLiteral returns the longest part of a wildcard pattern without * and ?, in its normal form; it may be empty.
func wildcardLiteral(pattern string) string {
	longest := ""
	var part strings.Builder
	end := func() {
		if text := normal(part.String()); len(text) > len(longest) {
			longest = text
		}
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
	return longest
}
