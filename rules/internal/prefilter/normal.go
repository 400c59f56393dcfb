package prefilter

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// canonical returns the same character for all that differ in case: for those that [unicode.ToLower] makes equal and
// for those that (?i) of a regular expression takes for equal, such as s and ſ.
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
