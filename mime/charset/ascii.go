package charset

import (
	"regexp"
	"strings"

	"golang.org/x/text/encoding/japanese"
)

// ascii has the printable characters of ASCII, and the sequences that shift in HZ, ISO-2022-JP and ISO-2022-KR.
var ascii = func() string {
	var s strings.Builder
	for c := byte(' '); c < 0x7f; c++ {
		s.WriteByte(c)
	}
	return s.String() + "~{!!~}\x1b$B!!\x1b(B\x1b$)C\x0e!!\x0f"
}()

// KeepsASCII reports whether the charset is a superset of ASCII without shifts, so that decoding neither makes nor
// removes a delimiter. EBCDIC, UTF-16, UTF-7, HZ, ISO-2022-JP and ISO-2022-KR are not.
func (c Charset) KeepsASCII() bool { return !c.isUTF7 && c.Decode([]byte(ascii)) == ascii }

var (
	escaped   = regexp.MustCompile(`\x1b\$[@B][\x1b!-~]*?\x1b\([BJ]`)
	inAddress = regexp.MustCompile(`[0-9A-Za-z]@[0-9A-Za-z-]+\.[0-9A-Za-z]`)
)

// DecodeEscapes decodes the texts of ISO-2022-JP (RFC 1468) in a header field, each alone. A text without its end, or
// with a blank or an address of ASCII in it, stays as it is: it would hide what another program reads there.
func DecodeEscapes(value string) string {
	if !strings.Contains(value, "\x1b$") {
		return value
	}
	return escaped.ReplaceAllStringFunc(value, func(text string) string {
		if inAddress.MatchString(text) {
			return text
		}
		return Charset{enc: japanese.ISO2022JP}.Decode([]byte(text))
	})
}
