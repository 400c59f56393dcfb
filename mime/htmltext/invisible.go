package htmltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRemoved bounds approximately the bytes of invisible characters that are kept for each [HiddenByCharacter] and
// each text.
const maxRemoved = 4096

// IsInvisible reports whether a character is drawn as nothing, or only changes how others are drawn: formats without
// width, soft hyphens, marks of direction, tags, fillers and variation selectors.
func IsInvisible(r rune) bool {
	switch {
	case r < 0xad:
		return r >= 0x7f && r < 0xa0 // controls
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164,
		r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3,
		r >= 0x1d173 && r <= 0x1d17a:
		return true
	default:
		return r >= 0xe0000 && r <= 0xe0fff
	}
}

// isWideBlank reports whether a character beyond ASCII is a blank.
func isWideBlank(r rune) bool {
	return r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x2028 || r == 0x2029 || r == 0x202f ||
		r == 0x205f ||
		r == 0x3000
}

// belongs reports whether an invisible character is part of the text before it: joiners within words of scripts that
// need them and between emoji, and selectors of an emoji's or an ideograph's form.
func (w *textWriter) belongs(r rune, rest string) bool {
	if w.blank || w.breaks > 0 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(w.out.String()[w.begin:])
	after, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == 0x200c: // non-joiner
		return needsJoiners(before) && needsJoiners(after)
	case r == 0x200d: // joiner
		return needsJoiners(before) || isPictograph(before) && isPictograph(after)
	case r == 0xfe0f, r == 0xfe0e:
		return isPictograph(before) || before == '#' || before == '*' || before >= '0' && before <= '9'
	case r >= 0xe0100 && r <= 0xe01ef, r >= 0xfe00 && r <= 0xfe02:
		return unicode.Is(unicode.Han, before)
	case r >= 0x180b && r <= 0x180e:
		return unicode.Is(unicode.Mongolian, before)
	default:
		return false
	}
}

// needsJoiners reports whether a letter is of a script in which joiners change words.
func needsJoiners(r rune) bool {
	return r >= 0x600 && (r <= 0xdff || r == 0x200d) && !IsInvisible(r) || r >= 0x1000 && r <= 0x109f ||
		r >= 0x1780 && r <= 0x18af
}

// isPictograph reports whether a character may be an emoji, or the form of one.
func isPictograph(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0xa9 || r == 0xae || r == 0x203c ||
		r == 0x2049 ||
		r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r == 0xfe0f
}

// appendInvisible appends an invisible character. A tag becomes the ASCII character that it spells.
func appendInvisible(b []byte, r rune) []byte {
	if r >= 0xe0020 && r <= 0xe007e {
		return append(b, byte(r-0xe0000))
	}
	return utf8.AppendRune(b, r)
}

// isBlankText reports whether nothing of a text is visible.
func isBlankText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r > ' ' && r != utf8.RuneError && !isWideBlank(r) && !IsInvisible(r)
	}) < 0
}
