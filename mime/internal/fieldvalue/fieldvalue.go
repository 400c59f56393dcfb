// Package fieldvalue reads the parts of header values that several fields have in common: comments, quoted strings,
// words.
package fieldvalue

import (
	"strings"
	"unicode"
)

// CutQuoted reads the quoted-string (RFC 5322, section 3.2.4) at the start of s, which begins with a quote.
func CutQuoted(s string) (text, rest string, closed bool) {
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

// CutComment reads the comment (RFC 5322, section 3.2.2) at the start of s, which begins with a parenthesis; comments
// nest.
func CutComment(s string) (text, rest string, closed bool) {
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

// Tags reads a list of tag=value pairs in the form of DKIM and ARC (RFC 6376, section 3.2), without blanks. Of
// several tags with the same name the first counts.
func Tags(value string) map[string]string {
	found := map[string]string{}
	for pair := range strings.SplitSeq(value, ";") {
		name, text, ok := strings.Cut(pair, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := found[name]; ok && !twice {
			found[name] = WithoutBlanks(text)
		}
	}
	return found
}

// Uncomment replaces comments by blanks (RFC 5322, section 3.2.2), and leaves quoted-strings unchanged. A comment
// that does not end reaches to the end.
func Uncomment(s string) string {
	if !strings.Contains(s, "(") {
		return s
	}
	var out strings.Builder
	for s != "" {
		i := strings.IndexAny(s, `("`)
		if i < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i:]
		var rest string
		var closed bool
		if s[0] == '(' {
			_, rest, closed = CutComment(s)
			out.WriteByte(' ')
			if !closed {
				return out.String()
			}
		} else if _, rest, closed = CutQuoted(s); closed {
			out.WriteString(s[:len(s)-len(rest)])
		} else {
			break
		}
		s = rest
	}
	out.WriteString(s)
	return out.String()
}

// FirstWord returns the first word of a value without its comments, in lower case, up to a semicolon.
func FirstWord(s string) string {
	s, _, _ = strings.Cut(Uncomment(s), ";")
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	return strings.ToLower(s)
}

// WithoutBlanks removes blanks. Invalid bytes are replaced first, so that two of them around a blank do not form a
// character.
func WithoutBlanks(s string) string {
	if !strings.ContainsFunc(s, unicode.IsSpace) {
		return s
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), "")
}

// OneLine puts decoded text on one line: an encoded-word can contain CR, LF and NUL, and a program may copy such a
// value into a header of its own.
func OneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if whole := strings.TrimRight(s, "\x00 \t\r\n"); strings.Contains(s[len(whole):], "\x00") {
		s = whole
	}
	if strings.ContainsAny(s, "\r\n\x00") {
		s = lineBreaks.Replace(s)
	}
	return s
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ", "\x00", "\uFFFD")

// Excerpt bounds the length of a defect's quotation.
func Excerpt(s string) string {
	const limit = 80
	if len(s) > limit {
		s = s[:limit] + "…" // a copy, so that the whole of s is not kept in memory
	}
	return OneLine(strings.TrimSpace(s))
}

// Diagnostic bounds the length of a diagnostic, which a remote server wrote.
func Diagnostic(s string) string {
	const limit = 500
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return OneLine(s)
}
