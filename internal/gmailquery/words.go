package gmailquery

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Gap is a word that no query contains. Between two values, such as the addresses of a list, it keeps a phrase from
// spanning both.
const Gap = "\u2063"

// alone are the scripts without blanks between words. Each of their letters is a word, so that a query matches
// anywhere in a sentence.
var alone = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
	unicode.Myanmar,
}

// Words returns the words of a text: runs of letters and digits, in lower case and without accents. Everything else
// separates words, so that an address and its domain are found by their parts.
func Words(text string) []string {
	var words []string
	EachWord(text, func(word string) { words = append(words, word) })
	return words
}

// EachWord calls fn with each of the [Words] of a text.
func EachWord(text string, fn func(word string)) {
	begin := -1
	folded := fold(text)
	for i, r := range folded {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		single := letter && r > unicode.MaxLatin1 && unicode.In(r, alone...)
		if begin >= 0 && (!letter || single) {
			fn(folded[begin:i])
			begin = -1
		}
		switch {
		case single:
			fn(string(r))
		case letter && begin < 0:
			begin = i
		}
	}
	if begin >= 0 {
		fn(folded[begin:])
	}
}

// fold removes differences that a search ignores: case, accents, and the width and form of letters.
func fold(text string) string {
	if isPlain(text) {
		return strings.ToLower(text)
	}
	decomposed := norm.NFKD.String(cases.Fold().String(strings.ToValidUTF8(text, " ")))
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, decomposed)
	// Composed again, a Korean syllable is one letter; and the fold of what came out of the first step is not always
	// itself.
	return norm.NFC.String(cases.Fold().String(bare))
}

func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
