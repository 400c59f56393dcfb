package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// besideLatin reports whether a character directly follows a Latin letter: such words are Western.
func besideLatin(prev rune) bool { return prev < utf8.RuneSelf && unicode.IsLetter(prev) }

// greek marks Greek. One form of sigma stands only at the end of words, and capitals stand at their beginnings.
func greek(prev, r rune) int {
	lower, isLetter := unicode.ToLower(r), unicode.Is(unicode.Greek, r)
	switch {
	case !isLetter || besideLatin(prev) || prev == 'ς':
		return foreign
	case r == 'ς' && !unicode.Is(unicode.Greek, prev):
		return foreign
	case r != lower && unicode.Is(unicode.Greek, prev) && unicode.IsLower(prev):
		return foreign
	case r != lower && unicode.Is(unicode.Greek, prev):
		return 0 // words in capitals are rare
	case strings.ContainsRune(frequentGreek, lower):
		return frequent
	case strings.ContainsRune(rareGreek, lower):
		return 0
	default:
		return usual
	}
}

// hebrew marks Hebrew, in which five letters have another form at the end of words.
func hebrew(prev, r rune) int {
	switch {
	case r < 'א' || r > 'ת' || besideLatin(prev) || strings.ContainsRune(finalHebrew, prev):
		return foreign
	case strings.ContainsRune(finalHebrew, r) && (prev < 'א' || prev > 'ת'):
		return foreign
	case strings.ContainsRune(frequentHebrew, r):
		return frequent
	case strings.ContainsRune(rareHebrew, r):
		return 0
	default:
		return usual
	}
}

// arabic marks Arabic, in which two letters stand only at the end of words.
func arabic(prev, r rune) int {
	isLetter := r >= 'ء' && r <= 'ي' && r != 'ـ'
	switch {
	case strings.ContainsRune("،؛؟", r):
		return usual / 2
	case !isLetter || besideLatin(prev) || prev == 'ة' || prev == 'ى':
		return foreign
	case strings.ContainsRune(frequentArabic, r):
		return frequent
	case strings.ContainsRune(rareArabic, r):
		return 0
	default:
		return usual
	}
}
