package charset

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeUTF7 decodes RFC 2152, which old Outlook and Exchange still send: base64 of UTF-16 between "+" and the first
// other character; a "-" there belongs to it.
func decodeUTF7(b []byte) string {
	out := make([]byte, 0, len(b)+len(b)/4)
	for len(b) > 0 {
		plain, encoded, rest, found := cutUTF7(b)
		if out = append(out, plain...); found {
			out = appendUTF16(out, encoded)
		}
		b = rest
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// problemOfUTF7 finds bits that do not fill a unit of UTF-16 and are not padding.
func problemOfUTF7(b []byte) Problem {
	for len(b) > 0 {
		_, encoded, rest, _ := cutUTF7(b)
		if len(encoded)*6%16 >= 6 {
			return Broken
		}
		b = rest
	}
	return ""
}

// cutUTF7 cuts off the characters up to the first "+", and the base64 behind it.
func cutUTF7(b []byte) (plain, encoded, rest []byte, found bool) {
	plain, rest, found = bytes.Cut(b, []byte{'+'})
	n := 0
	for n < len(rest) && sextet(rest[n]) >= 0 {
		n++
	}
	return plain, rest[:n], bytes.TrimPrefix(rest[n:], []byte{'-'}), found
}

// appendUTF16 appends the text of UTF-16 in base64, or a plus sign if it is empty.
func appendUTF16(out, encoded []byte) []byte {
	if len(encoded) == 0 {
		return append(out, '+')
	}
	var bits uint64
	var high rune // the first of a pair
	n := 0
	for _, c := range encoded {
		bits, n = bits<<6|uint64(sextet(c)), n+6
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
	return out
}

// sextet returns the value of a letter of base64 (RFC 2045, section 6.8); -1 for other bytes.
func sextet(c byte) int {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return strings.IndexByte(letters, c)
}
