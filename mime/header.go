package mime

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/postroom-go/postroom/mime/charset"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
)

// A Field is one header field (RFC 5322, section 2.2).
type Field struct {
	Name string // as the message spells it
	// Value is unfolded and its encoded-words (RFC 2047) are decoded: one line of UTF-8 for reading. Do not split it:
	// structured values, such as addresses, were split before decoding and are fields of [Message].
	Value string

	raw string // unfolded, in UTF-8, not decoded
	// words find the charsets of the encoded-words in raw; nil if each is in its declared one.
	words *charset.Words
}

// A Header is a header section: its fields in the order of the message.
type Header []Field

// Get returns the value of the first field with the name, or an empty string. Names are compared without regard to
// case.
func (h Header) Get(name string) string {
	if f := h.field(name); f != nil {
		return f.Value
	}
	return ""
}

// Values returns the values of all fields with the name, in order; nil if there is none.
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

// undecoded returns the first field's value before decoding, with the charsets of its words.
func (h Header) undecoded(name string) (raw string, words *charset.Words) {
	if f := h.field(name); f != nil {
		return f.raw, f.words
	}
	return "", nil
}

func (h Header) raw(name string) string {
	raw, _ := h.undecoded(name)
	return raw
}

// A rawField is a field as it stands in the message.
type rawField struct {
	name, value []byte // the value is folded
	unfolded    int    // length of the unfolded value
}

// cutField cuts the name off a line, if it is the first line of a field: printable ASCII, then a colon.
//
// QUIRK: white space before the colon, which RFC 5322 allows in obsolete syntax (section 4.5), is tolerated. Sample:
// colon-blank.
func cutField(line []byte) (f rawField, found bool) {
	name, value, found := bytes.Cut(line, []byte{':'})
	name = bytes.TrimRight(name, " \t")
	if !found || len(name) == 0 {
		return f, false
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return f, false
		}
	}
	return rawField{name: name, value: value}, true
}

// decodeHeader decodes the fields. All of them share one string, and most values are substrings of it. body is the
// text after the section; it may help to find the charset of fields that are not ASCII.
func decodeHeader(fields []rawField, body []byte, finder *charset.Finder, r reporter) Header {
	size := 0
	for _, f := range fields {
		size += len(f.name) + len(f.value)
	}
	var section strings.Builder
	section.Grow(size)
	for i := range fields {
		f := &fields[i]
		section.Write(f.name)
		at := section.Len()
		unfold(&section, f.value)
		f.unfolded = section.Len() - at
	}
	header := make(Header, len(fields))
	whole := section.String()
	raw := sync.OnceValue(func() charset.Charset { return headerCharset(fields, whole, body, finder) })
	words := &charset.Words{Finder: finder, Like: sync.OnceValues(func() (charset.Charset, bool) {
		return finder.Likeliest(sampleOfWords(whole), body)
	})}
	text := whole
	for i, f := range fields {
		name, value := text[:len(f.name)], text[len(f.name):len(f.name)+f.unfolded]
		text = text[len(name)+len(value):]
		plain := charset.DecodeEscapes(value)
		if !utf8.ValidString(plain) {
			plain = raw().Decode([]byte(plain))
		}
		if plain != value {
			value = plain
			r.report(HeaderRaw8Bit, name, value)
		}
		decoded, ok := decodeWords(value, words)
		header[i] = Field{Name: name, Value: fieldvalue.OneLine(decoded), raw: fieldvalue.OneLine(value)}
		if !ok {
			r.report(EncodedWordBroken, name, value)
			header[i].words = words
		}
	}
	return header
}

// headerCharset finds the charset of the fields that are not UTF-8.
//
// QUIRK: raw 8-bit in a header is UTF-8 (RFC 6532), or in the charset that the section declares for its body, or in
// the likeliest charset for all such fields and the beginning of the body. ISO-2022-JP occurs as well. Sample:
// header-8bit.
func headerCharset(fields []rawField, text string, body []byte, finder *charset.Finder) charset.Charset {
	declared, known := charset.Lookup(declaredCharset(fields))
	if known && !declared.IsUTF8() && declared.KeepsASCII() {
		return declared
	}
	var sample []byte
	for _, f := range fields {
		value := text[len(f.name) : len(f.name)+f.unfolded]
		text = text[len(f.name)+f.unfolded:]
		if len(sample) < charset.MaxSample && !utf8.ValidString(value) {
			sample = append(append(sample, value[:min(len(value), charset.MaxSample)]...), '\n')
		}
	}
	if known {
		body = nil
	}
	if found, _ := finder.Likeliest(sample, body); found.KeepsASCII() {
		return found
	}
	return charset.Western
}

// sampleOfWords returns the encoded-words of a header section that are not UTF-8.
func sampleOfWords(text string) (sample []byte) {
	for len(sample) < charset.MaxSample {
		i := strings.Index(text, "=?")
		if i < 0 {
			break
		}
		w, rest, found := cutWord(text[i:])
		if !found {
			rest = text[i+2:]
		} else if !utf8.Valid(w.b) {
			sample = append(append(sample, w.b[:min(len(w.b), charset.MaxSample)]...), '\n')
		}
		text = rest
	}
	return sample
}

func declaredCharset(fields []rawField) string {
	for _, f := range fields {
		if strings.EqualFold(string(f.name), "Content-Type") {
			var value strings.Builder
			unfold(&value, f.value)
			_, params, _ := parseParams(strings.ToValidUTF8(value.String(), "\uFFFD"), maxItems, nil)
			return params["charset"]
		}
	}
	return ""
}

// unfold joins the lines of a field's value (RFC 5322, section 2.2.3) and trims it.
//
// QUIRK: Outlook and others fold with a tab in place of the blank that was there. Sample: fold-tab.
func unfold(out *strings.Builder, value []byte) {
	value = bytes.Trim(value, " \t\r\n")
	if bytes.IndexByte(value, '\n') < 0 {
		out.Write(value)
		return
	}
	isFirst := true
	for line := range bytes.Lines(value) {
		switch {
		case isFirst:
			isFirst = false
		case line[0] == '\t':
			out.WriteByte(' ')
			line = line[1:]
		case line[0] != ' ': // see the QUIRK of splitter.header
			out.WriteByte(' ')
		}
		out.Write(bytes.TrimRight(line, "\r\n"))
	}
}
