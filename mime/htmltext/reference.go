package htmltext

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// appendReference appends the text of a character reference: a reference with its semicolon, if there is one. It
// decodes the usual ones directly.
func appendReference(b []byte, reference string) []byte {
	switch reference {
	case "&":
		return append(b, '&')
	case "&nbsp;":
		return append(b, "\u00a0"...)
	case "&amp;":
		return append(b, '&')
	case "&zwnj;":
		return append(b, "\u200c"...)
	}
	if r := decimalReference(reference); r > 0 {
		return utf8.AppendRune(b, r)
	}
	return append(b, html.UnescapeString(reference)...)
}

// A referenceCache caches rare references, since each decoding of one allocates.
type referenceCache struct {
	count int // of references before the cache pays off
	slots []decodedReference
}

type decodedReference struct{ written, text string }

// append appends the text of a reference.
func (c *referenceCache) append(b []byte, reference string) []byte {
	const slots, longest, few = 256, 12, 32
	if len(reference) < 3 || len(reference) > longest || reference[1] == '#' || reference == "&nbsp;" ||
		reference == "&amp;" || reference == "&zwnj;" {
		return appendReference(b, reference)
	}
	if c.count++; c.count <= few {
		return appendReference(b, reference)
	}
	if c.slots == nil {
		c.slots = make([]decodedReference, slots)
	}
	hash := uint32(2166136261)
	for i := range len(reference) {
		hash = (hash ^ uint32(reference[i])) * 16777619
	}
	slot := &c.slots[(hash^hash>>15)%slots]
	if slot.written != reference {
		*slot = decodedReference{reference, html.UnescapeString(reference)}
	}
	return append(b, slot.text...)
}

// decimalReference decodes a decimal reference. It returns 0 for other references, and for those that do not stand
// for their number.
func decimalReference(reference string) rune {
	if len(reference) > len("&#1114111;") || !strings.HasPrefix(reference, "&#") || !strings.HasSuffix(reference, ";") {
		return 0
	}
	var r rune
	for _, c := range []byte(reference[2 : len(reference)-1]) {
		if !isDigit(c) {
			return 0
		}
		r = 10*r + rune(c-'0')
	}
	if r < 0xa0 || !utf8.ValidRune(r) {
		return 0
	}
	return r
}

// unescapeAttribute decodes character references. In attributes, a reference without a semicolon before a letter, a
// digit or an equals sign is not one: it is a parameter of an address.
func unescapeAttribute(s string) string {
	next := strings.IndexByte(s, '&')
	if next < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for ; next >= 0; next = strings.IndexByte(s, '&') {
		out = append(out, s[:next]...)
		end := next + 1
		if end < len(s) && s[end] == '#' {
			end++
		}
		for end < len(s) && (isLetter(s[end]) || isDigit(s[end])) {
			end++
		}
		isEnded := end < len(s) && s[end] == ';'
		if isEnded {
			end++
		}
		reference := s[next:end]
		isFollowed := !isEnded && end < len(s) && s[end] == '='
		if strings.HasPrefix(reference, "&#") || isReference(reference) && !isFollowed {
			out = appendReference(out, reference)
		} else {
			out = append(out, reference...)
		}
		s = s[end:]
	}
	return string(append(out, s...))
}

// isReference reports whether all of s is one reference, not only its beginning, as in "&amp0;".
func isReference(s string) bool {
	if s == "&amp;" {
		return true // of nearly all
	}
	decoded := html.UnescapeString(s)
	return decoded == ";" || decoded != s && !strings.HasSuffix(decoded, s[len(s)-1:])
}
