package notify

import (
	"strings"
	"unicode"
)

// maxSubject is how long a text of a stranger may be in a digest, in characters.
const maxSubject = 80

// Plain makes a text of a stranger, such as a subject, one line that nobody can click on, at most 80 characters long.
func Plain(s string) string { return cut(Unlinked(s), maxSubject) }

// Unlinked makes a text that has words of a stranger, such as a domain, one line that nobody can click on: without
// characters that are not seen or turn the direction of writing, and with the dots and colons of addresses in brackets.
func Unlinked(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Variation_Selector):
			return -1
		}
		return r
	}, s)
	return defang(strings.Join(strings.Fields(s), " "))
}

// cut cuts a text to at most n characters.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}

// defang puts brackets around what makes programs take a word for an address: the dots within it, unless it is a
// number, and the colon after a scheme.
func defang(s string) string {
	words := strings.Split(s, " ")
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsLetter) || strings.Count(word, ".") > 2 || strings.Contains(word, ":/") {
			words[i] = defangWord([]rune(word))
		}
	}
	return strings.Join(words, " ")
}

func defangWord(word []rune) string {
	var b strings.Builder
	for i, r := range word {
		last := i == len(word)-1
		switch {
		case isDot(r) && !last && i > 0 && (unicode.IsLetter(word[i+1]) || unicode.IsDigit(word[i+1])):
			b.WriteString("[.]")
		case r == ':' && !last && (word[i+1] == '/' || i > 0 && unicode.IsLetter(word[i-1])):
			b.WriteString("[:]")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isDot reports whether a character is a dot in the name of a host (RFC 3490, section 3.1).
func isDot(r rune) bool { return strings.ContainsRune(".\u3002\uFF0E\uFF61", r) }
