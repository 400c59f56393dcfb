package mime

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeUTF7 decodes RFC 2152, which old Outlook and Exchange still send: base64 of UTF-16 between "+" and the first other
// character; a "-" there belongs to it.
func decodeUTF7(b []byte) (text string, problem DefectKind) {
	out := make([]byte, 0, len(b)+len(b)/4)
	for len(b) > 0 {
		plus := bytes.IndexByte(b, '+')
		if plus < 0 {
			out = append(out, b...)
			break
		}
		out = append(out, b[:plus]...)
		b = b[plus+1:]
		n := 0
		for n < len(b) && isBase64(b[n]) {
			n++
		}
		var ok bool
		if out, ok = appendUTF16(out, b[:n]); !ok {
			problem = CharsetBroken
		}
		b = bytes.TrimPrefix(b[n:], []byte{'-'})
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), problem
}

// appendUTF16 appends the text of UTF-16 in base64, or a plus sign if it is empty. Bits that do not fill a unit must be padding.
func appendUTF16(out, encoded []byte) (appended []byte, ok bool) {
	if len(encoded) == 0 {
		return append(out, '+'), true
	}
	var bits uint64
	var high rune // the first of a pair
	n := 0
	for _, c := range encoded {
		bits, n = bits<<6|uint64(sextets[c]), n+6
		if n < 16 {
			continue
		}
		n -= 16
		unit := rune(bits >> n & 0xffff)
		switch {
		case utf16.DecodeRune(high, unit) != utf8.RuneError:
			out = utf8.AppendRune(out, utf16.DecodeRune(high, unit))
			high = 0
			continue
		case high != 0:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		high = 0
		if unit >= 0xd800 && unit < 0xdc00 {
			high = unit
			continue
		}
		out = utf8.AppendRune(out, unit) // U+FFFD for a second without a first
	}
	if high != 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out, n < 6
}
