package mime

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
)

// decodeUTF7 reads RFC 2152, which old Outlook and Exchange still send: base64 of UTF-16 between "+" and whatever
// is no base64, where a "-" at the end belongs to it.
func decodeUTF7(b []byte) (text string, problem DefectKind) {
	var out strings.Builder
	for s := string(b); s != ""; {
		plus := strings.IndexByte(s, '+')
		if plus < 0 {
			out.WriteString(s)
			break
		}
		out.WriteString(s[:plus])
		s = s[plus+1:]
		n := 0
		for n < len(s) && isBase64(s[n]) {
			n++
		}
		if n == 0 {
			out.WriteByte('+')
		} else if !writeUTF16(&out, s[:n]) {
			problem = CharsetBroken
		}
		s = strings.TrimPrefix(s[n:], "-")
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD"), problem
}

func writeUTF16(out *strings.Builder, encoded string) (ok bool) {
	whole := encoded
	if len(whole)%4 == 1 { // six bits are no byte
		whole = whole[:len(whole)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(whole)
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
	}
	out.WriteString(string(utf16.Decode(units)))
	return err == nil && whole == encoded
}
