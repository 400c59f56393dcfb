// Package rawmail parses messages that may be malformed. It never fails: malformed parts are left unchanged.
package rawmail

import (
	"bytes"
	"io"
	"mime"
	"net/mail"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// maxHeader bounds the part of a message that is searched for header fields.
const maxHeader = 1 << 20

// A Field is one header field. Its name is unchanged; its value is unfolded and trimmed, but not decoded.
type Field struct{ Name, Value string }

// A Header is the fields of a message in their order.
type Header []Field

// Split splits raw into its header fields and its body.
//
// QUIRK: a message may begin with the From line of an mbox, have header lines that are not fields, or have no header
// at all. The first two are skipped; without a header everything is body.
func Split(raw []byte) (Header, []byte) {
	var header Header
	var value []byte // of the last field
	rest := raw
	for len(rest) > 0 && len(raw)-len(rest) < maxHeader {
		line, after := cutLine(rest)
		name, start, isField := cutField(line)
		switch {
		case len(line) == 0:
			return header.finish(value), after
		case len(header) > 0 && (line[0] == ' ' || line[0] == '\t'):
			value = append(append(value, ' '), bytes.TrimSpace(line)...)
		case isField:
			header = append(header.finish(value), Field{Name: name})
			value = append(value[:0], start...)
		case len(header) == 0 && !isFromLine(line):
			return nil, raw
		}
		rest = after
	}
	return header.finish(value), rest
}

// finish sets the value of the last field.
func (h Header) finish(value []byte) Header {
	if len(h) > 0 {
		h[len(h)-1].Value = string(bytes.TrimSpace(value))
	}
	return h
}

// cutLine returns the first line of b without its line end, and the rest.
func cutLine(b []byte) (line, after []byte) {
	line, after, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), after
}

func isFromLine(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(line, []byte(">")), []byte("From "))
}

// cutField splits a line that begins with a field name (RFC 5322, section 3.6.8): printable ASCII, then a colon.
func cutField(line []byte) (name string, value []byte, ok bool) {
	before, after, found := bytes.Cut(line, []byte(":"))
	before = bytes.TrimRight(before, " \t")
	if !found || !isFieldName(before) {
		return "", nil, false
	}
	return string(before), bytes.TrimSpace(after), true
}

func isFieldName(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(b) > 0
}

// LooksLikeField reports whether b begins with a possible header field.
func LooksLikeField(b []byte) bool {
	line, _ := cutLine(b)
	_, _, ok := cutField(line)
	return ok
}

// Get returns the value of the first field with the name, or an empty string. Names are compared without regard to
// case.
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// All returns the values of all fields with the name, compared without regard to case.
func (h Header) All(name string) []string {
	var values []string
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return values
}

// DecodeText decodes the encoded words (RFC 2047) of a header value. Invalid UTF-8 is replaced.
func DecodeText(value string) string {
	if strings.Contains(value, "=?") {
		words := mime.WordDecoder{CharsetReader: charsetReader}
		if decoded, err := words.DecodeHeader(value); err == nil {
			value = decoded
		}
	}
	return strings.ToValidUTF8(value, "\uFFFD")
}

// Addresses parses an address field (RFC 5322, section 3.4). Names may be in any charset; with an unknown one they
// are unchanged. An empty group has no addresses and is not an error.
func Addresses(value string) ([]*mail.Address, error) {
	parser := mail.AddressParser{WordDecoder: &mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (
		io.Reader, error) {
		if decoded, err := charsetReader(charset, r); err == nil {
			return decoded, nil
		}
		return r, nil
	}}}
	return parser.ParseList(strings.ToValidUTF8(value, "\uFFFD"))
}

// DecodeCharset converts text in a named charset to UTF-8. Text in an unknown charset counts as UTF-8.
func DecodeCharset(text []byte, charset string) string {
	if e, err := htmlindex.Get(charset); err == nil {
		if decoded, err := e.NewDecoder().Bytes(text); err == nil {
			text = decoded
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

func charsetReader(charset string, r io.Reader) (io.Reader, error) {
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return transform.NewReader(r, e.NewDecoder()), nil
}

// MessageIDs returns the ids in a Message-ID, In-Reply-To or References field without their angle brackets (RFC 5322,
// section 3.6.4).
func MessageIDs(value string) []string {
	var ids []string
	for {
		_, after, found := strings.Cut(value, "<")
		if !found {
			break
		}
		id, rest, closed := strings.Cut(after, ">")
		if !closed {
			break
		}
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
		value = rest
	}
	return ids
}
