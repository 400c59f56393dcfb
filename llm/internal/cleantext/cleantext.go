// Package cleantext prepares texts that a model reads: without characters that a person does not see, cut to length,
// and enclosed if a stranger wrote them.
package cleantext

import (
	"regexp"
	"strings"
	"unicode"
)

// Cut shortens s to at most limit characters, back to the last space if there is one, and appends "...".
func Cut(s string, limit int) string {
	count := 0
	for i := range s {
		if count == limit {
			kept := s[:i]
			if blank := strings.LastIndexFunc(kept, unicode.IsSpace); blank > 0 {
				kept = kept[:blank]
			}
			return strings.TrimRightFunc(kept, unicode.IsSpace) + "..."
		}
		count++
	}
	return s
}

// Visible removes characters that a person does not see and a model reads: zero-width characters, those that change the
// direction of text, tag characters (which spell ASCII invisibly), variation selectors and controls. Line ends become
// line feeds.
func Visible(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(
		strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), blankLetter(r):
			return -1
		}
		return r
	}, s)
}

// blankLetter reports whether r counts as a letter or a mark and is drawn as nothing.
func blankLetter(r rune) bool {
	switch r {
	case '\u034F', '\u115F', '\u1160', '\u17B4', '\u17B5', '\u3164', '\uFFA0', '\u2800':
		return true
	}
	return false
}

// OneLine makes a text safe for a line of its own.
func OneLine(s string) string { return strings.Join(strings.Fields(Visible(s)), " ") }

// markLike matches the beginning of every mark.
var markLike = regexp.MustCompile(`<{3,}`)

// Enclose puts a text that a stranger wrote between two lines that it cannot contain. The mark is "<<<" and random
// characters. Enclose comes last, when the text has been cut to length: whatever shortened the text afterwards could
// take the end mark away.
func Enclose(mark, text string) string {
	return mark + " BEGIN>>>\n" + markLike.ReplaceAllLiteralString(text, "‹‹‹") + "\n" + mark + " END>>>"
}
