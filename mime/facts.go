package mime

import "strings"

// text returns the raw value for splitting, so that no encoded-word becomes syntax. A field that a program made has only its
// Value.
func (f *Field) text() string {
	if f.raw == "" {
		return f.Value
	}
	return f.raw
}

// each calls yield with every field of the name.
func (h Header) each(name string, yield func(f *Field)) {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			yield(&h[i])
		}
	}
}

// tags reads a list of tag=value pairs in the form of DKIM and ARC (RFC 6376, section 3.2), without blanks. Of several tags with
// the same name the first counts.
func tags(value string) map[string]string {
	found := map[string]string{}
	for pair := range strings.SplitSeq(value, ";") {
		name, text, ok := strings.Cut(pair, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := found[name]; ok && !twice {
			found[name] = stripBlanks(text)
		}
	}
	return found
}

// uncomment replaces comments by blanks (RFC 5322, section 3.2.2), and leaves quoted-strings unchanged. A comment that does not
// end reaches to the end.
func uncomment(s string) string {
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
			_, rest, closed = cutComment(s)
			out.WriteByte(' ')
			if !closed {
				return out.String()
			}
		} else if _, rest, closed = cutQuoted(s); closed {
			out.WriteString(s[:len(s)-len(rest)])
		} else {
			break
		}
		s = rest
	}
	out.WriteString(s)
	return out.String()
}

// firstWord returns the first word of a value without its comments, in lower case, up to a semicolon.
func firstWord(s string) string {
	s, _, _ = strings.Cut(uncomment(s), ";")
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	return strings.ToLower(s)
}
