package htmltext

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cssParts yields the parts of a value, set apart by blanks outside of brackets and quotes.
func cssParts(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, depth := -1, 0
		for i := 0; i <= len(value); i++ {
			if i == len(value) || depth == 0 && isSpaceByte(value[i]) {
				if begin >= 0 && !yield(value[begin:i]) {
					return
				}
				begin = -1
				continue
			}
			if begin < 0 {
				begin = i
			}
			switch value[i] {
			case '(':
				depth++
			case ')':
				depth = max(0, depth-1)
			case '"', '\'':
				i += quotedLength(value[i:]) - 1
			}
		}
	}
}

// removeCSSComments replaces each comment by a blank, but for one before a test of a selector, which it does not part
// from those before. In quotes there are none.
func removeCSSComments(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	begin := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		case '\\':
			i++
		case '/':
			if !strings.HasPrefix(text[i:], "/*") {
				continue
			}
			out.WriteString(text[begin:i])
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return out.String()
			}
			begin = i + end + 4
			if begin == len(text) || strings.IndexByte(".#[:", text[begin]) < 0 || i > 0 && isDigit(text[i-1]) {
				out.WriteByte(' ')
			}
			i = begin - 1
		}
	}
	out.WriteString(text[min(begin, len(text)):])
	return out.String()
}

func trimCSS(s string) string {
	for len(s) > 0 && isSpaceByte(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpaceByte(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// lowerCSS lowers A to Z and takes escapes back, since words may be written with them.
func lowerCSS(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || c == '\\' {
			return lowerASCII(unescapeCSS(s))
		}
	}
	return s
}

func lowerASCII(s string) string {
	lower := []byte(s)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// unescapeCSS takes escapes back: a backslash before a character, or before up to six hexadecimal digits and a blank
// (CSS Syntax, section 4.3.7).
func unescapeCSS(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		end := i + escapeLength(s[i:])
		digits := strings.TrimRight(s[i+1:end], " \t\r\n\f")
		if digits == "" || !isHexDigit(digits[0]) {
			i++ // the next character stands for itself
			out.WriteByte(s[i])
			continue
		}
		code, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || code == 0 || !utf8.ValidRune(rune(code)) {
			code = utf8.RuneError
		}
		out.WriteRune(rune(code))
		i = end - 1
	}
	return out.String()
}

// escapeLength is the length of the escape that s begins with.
func escapeLength(s string) int {
	end := 1
	for end < len(s) && end <= 6 && isHexDigit(s[end]) {
		end++
	}
	if end == 1 {
		return min(2, len(s))
	}
	if end < len(s) && isSpaceByte(s[end]) {
		end++
	}
	return end
}
