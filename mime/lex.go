package mime

import "strings"

// cutQuoted reads the quoted-string (RFC 5322, section 3.2.4) at the start of s, which begins with a quote.
func cutQuoted(s string) (text, rest string, closed bool) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return out.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			i++
			out.WriteByte(s[i])
		default:
			out.WriteByte(c)
		}
	}
	return "", s, false
}

// cutComment reads the comment (RFC 5322, section 3.2.2) at the start of s, which begins with a parenthesis; comments
// nest.
func cutComment(s string) (text, rest string, closed bool) {
	depth := 0
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			c = s[i]
		case c == '(':
			depth++
			if depth == 1 {
				continue
			}
		case c == ')':
			depth--
			if depth == 0 {
				return out.String(), s[i+1:], true
			}
		}
		out.WriteByte(c)
	}
	return "", s, false
}
