package mime

import (
	"bytes"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"strings"
)

// isIdentity reports whether a transfer encoding (RFC 2045, section 6) leaves content unchanged.
func isIdentity(encoding string) bool {
	switch encoding {
	case "", "7bit", "8bit", "binary":
		return true
	default:
		return false
	}
}

// decodeTransfer removes a transfer encoding. It decodes as much as possible; the problem is empty if it decoded
// everything. tail is plain text after base64. Content without an encoding is returned without a copy.
func decodeTransfer(b []byte, encoding string) (content, tail []byte, problem DefectKind) {
	var ok bool
	switch encoding {
	case "base64":
		content, tail, ok = decodeBase64(b)
	case "quoted-printable":
		content, ok = decodeQuotedPrintable(b)
	case "x-uuencode", "x-uue", "uuencode":
		content, ok = decodeUU(b)
	default:
		if isIdentity(encoding) {
			return b, nil, ""
		}
		return b, nil, EncodingUnknown
	}
	if !ok {
		problem = EncodingBroken
	}
	return content, tail, problem
}

// encodingName returns the transfer encoding that a field's value names, in lower case.
//
// QUIRK: "7bit and more", "base64;", the same in quotes, "7-bit" and comments before or after it occur. Sample:
// encoding-odd.
func encodingName(value string) string {
	for strings.HasPrefix(value, "(") {
		_, rest, closed := fieldvalue.CutComment(value)
		if !closed {
			break
		}
		value = strings.TrimLeft(rest, " \t")
	}
	name := strings.ToLower(strings.TrimLeft(value, " \t\"'"))
	if i := strings.IndexAny(name, " \t;(,\"'"); i >= 0 {
		name = name[:i]
	}
	switch name {
	case "7-bit", "7bits":
		return "7bit"
	case "8-bit", "8bits":
		return "8bit"
	default:
		return name
	}
}

// decodeQuotedPrintable reads RFC 2045, section 6.7.
//
// QUIRK: an "=" that begins neither an octet nor a soft line break stands for itself, and lines may be of any length.
// Sample: quoted-printable-broken.
func decodeQuotedPrintable(b []byte) (content []byte, ok bool) {
	ok = true
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		line, rest, found := bytes.Cut(b, []byte{'\n'})
		b = rest
		text := bytes.TrimRight(line, " \t\r") // blanks at the end of a line come from transport
		ending := ""
		if found {
			ending = "\n"
			if bytes.HasSuffix(line, []byte{'\r'}) {
				ending = "\r\n"
			}
		}
		if bytes.HasSuffix(text, []byte{'='}) {
			text, ending = text[:len(text)-1], ""
		}
		var lineOK bool
		out, lineOK = appendOctets(out, text)
		ok = ok && lineOK
		out = append(out, ending...)
	}
	return out, ok
}

// appendOctets appends text with "=" and two hexadecimal digits decoded.
func appendOctets(out, text []byte) (appended []byte, ok bool) {
	ok = true
	for i := 0; i < len(text); i++ {
		if text[i] != '=' {
			out = append(out, text[i])
			continue
		}
		if c, isHex := hexByte(text[i+1:]); isHex {
			out = append(out, c)
			i += 2
			continue
		}
		out = append(out, '=')
		ok = false
	}
	return out, ok
}

// hexByte reads two hexadecimal digits, of either case.
func hexByte[T string | []byte](s T) (c byte, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	hi, lo := hexDigit(s[0]), hexDigit(s[1])
	return hi<<4 | lo, hi < 16 && lo < 16
}

func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	default:
		return 255
	}
}

// decodeUU reads what uuencode(1) writes (POSIX): a begin line, lines that begin with their length, an end line.
func decodeUU(b []byte) (content []byte, ok bool) {
	begun, whole := false, true
	for line := range bytes.Lines(b) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case !begun:
			begun = bytes.HasPrefix(line, []byte("begin "))
		case bytes.Equal(line, []byte("end")):
			return content, whole
		case len(line) > 0:
			var lineOK bool
			content, lineOK = appendUULine(content, line)
			whole = whole && lineOK
		}
	}
	return content, false
}

func appendUULine(out, line []byte) (appended []byte, ok bool) {
	bits := func(i int) byte {
		if i >= len(line) {
			return 0
		}
		return (line[i] - ' ') & 63
	}
	left := int(bits(0))
	for i := 1; i < len(line) && left > 0; i, left = i+4, left-3 {
		quantum := []byte{bits(i)<<2 | bits(i+1)>>4, bits(i+1)<<4 | bits(i+2)>>2, bits(i+2)<<6 | bits(i+3)}
		out = append(out, quantum[:min(left, 3)]...)
	}
	return out, left <= 0
}
