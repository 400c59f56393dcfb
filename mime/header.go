package mime

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Field is one header field (RFC 5322, section 2.2).
type Field struct {
	Name string // as the message spells it
	// Value is unfolded and its encoded-words (RFC 2047) are decoded: one line of UTF-8. It is for reading. What has a
	// structure, such as addresses, was taken apart before decoding; use the fields of [Message] for it.
	Value string

	raw string // unfolded, in UTF-8, not decoded
}

// A Header is a header section: its fields in the order of the message.
type Header []Field

// Get returns the value of the first field with the name, compared without regard to case; empty when there is none.
func (h Header) Get(name string) string {
	if f := h.field(name); f != nil {
		return f.Value
	}
	return ""
}

// Values returns the values of all fields with the name, in order; nil when there is none.
func (h Header) Values(name string) []string {
	var values []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

func (h Header) field(name string) *Field {
	for i := range h {
		if strings.EqualFold(h[i].Name, name) {
			return &h[i]
		}
	}
	return nil
}

// raw returns the first field's value before decoding.
func (h Header) raw(name string) string {
	if f := h.field(name); f != nil {
		return f.raw
	}
	return ""
}

// A rawField is a field as it was cut from the message.
type rawField struct {
	name  string
	value []byte // folded
}

// cutField takes the name off a line, if it is the first line of a field: printable ASCII, then a colon.
//
// QUIRK: white space before the colon, which RFC 5322 once allowed (section 4.5), is tolerated. Sample: colon-blank.
func cutField(line []byte) (f rawField, found bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return f, false
	}
	name := bytes.TrimRight(line[:colon], " \t")
	if len(name) == 0 {
		return f, false
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return f, false
		}
	}
	return rawField{name: string(name), value: line[colon+1:]}, true
}

// decodeHeader makes the fields readable.
func decodeHeader(fields []rawField, r reporter) Header {
	header := make(Header, len(fields))
	charset := sync.OnceValue(func() string { return declaredCharset(fields) })
	for i, f := range fields {
		value := unfold(f.value)
		text := string(value)
		if !utf8.Valid(value) {
			// QUIRK: raw 8-bit in a header is UTF-8 (RFC 6532) or else in the charset that the section declares for its
			// body. Sample: header-8bit.
			text, _ = decodeText(value, charset())
			r.report(HeaderRaw8Bit, f.name, text)
		}
		decoded, ok := decodeWords(text)
		if !ok {
			r.report(EncodedWordBroken, f.name, text)
		}
		header[i] = Field{Name: f.name, Value: singleLine(decoded), raw: singleLine(text)}
	}
	return header
}

func declaredCharset(fields []rawField) string {
	for _, f := range fields {
		if strings.EqualFold(f.name, "Content-Type") {
			_, params, _ := parseParams(strings.ToValidUTF8(string(unfold(f.value)), "\uFFFD"))
			return params["charset"]
		}
	}
	return ""
}

// unfold joins the lines of a field's value (RFC 5322, section 2.2.3) and takes off the blanks around it.
//
// QUIRK: Outlook and others put a tab where they fold, in place of the blank that was there. Sample: fold-tab.
func unfold(value []byte) []byte {
	value = bytes.Trim(value, " \t\r\n")
	if bytes.IndexByte(value, '\n') < 0 {
		return value
	}
	var out []byte
	for line := range bytes.Lines(value) {
		switch {
		case len(out) == 0:
		case line[0] == '\t':
			out, line = append(out, ' '), line[1:]
		case line[0] != ' ': // see the QUIRK of splitter.header
			out = append(out, ' ')
		}
		out = append(out, bytes.TrimRight(line, "\r\n")...)
	}
	return out
}

// singleLine makes decoded text fit to stand in one line: an encoded-word can say CR, LF and NUL, and a
// program may copy such a value into a header of its own.
func singleLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\r\n\x00") {
		s = lineBreaks.Replace(s)
	}
	return s
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ", "\x00", "\uFFFD")
