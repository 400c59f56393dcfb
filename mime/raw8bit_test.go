package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/mime"
)

// Charsets that a section may declare for its body. In some of them the bytes of ASCII mean something else.
var declaredCharsets = []string{"ibm037", "utf-16", "utf-16le", "utf-16be", "utf-32", "utf-7", "hz-gb-2312",
	"iso-2022-jp", "iso-2022-kr", "shift_jis", "big5", "gb18030", "gbk", "euc-jp", "euc-kr", "iso-8859-1",
	"windows-1252", "koi8-r", "cp1026", "us-ascii", "utf-8", "x-user-defined", "ibm1047"}

// The charset that a section declares decides which characters the bytes above 127 of its raw fields are. It makes no
// delimiter, and takes none away.
func TestRawBytesMakeNoDelimiter(t *testing.T) {
	for _, charset := range declaredCharsets {
		m := parsed(t, "Content-Type: text/plain; charset="+charset+"\nFrom: \"Ann \xfc\" <ann@one.example>\n"+
			"To: Bob \xe9 <bob@two.example>, +ADw-eve@evil.example+AD4- <lee@three.example>\nSubject: plain \xfc word\n\nhi")
		require.Len(t, m.From, 1, charset)
		require.Equal(t, "ann@one.example", m.From[0].Email, charset)
		require.Len(t, m.To, 2, charset)
		require.Equal(t, "bob@two.example", m.To[0].Email, charset)
		require.Equal(t, "lee@three.example", m.To[1].Email, charset)
		require.True(t, strings.HasPrefix(m.Subject, "plain "), "%s: %q", charset, m.Subject)
	}
}

func TestRawBytesOfAnyCharset(t *testing.T) {
	pieces := []string{"\x1b$B", "\x1b(B", "\x1b(J", "\x1b$)C", "\x0e", "\x0f", "~{", "~}", "+ADw-", "+ACI-",
		"\xfc", "\xe9", "\x81", "\x8e", "\xfe\xff", "\xff\xfe", "\x4c", "\x6e", "\x7f", "a", " ", "M", "K\x21", "#"}
	rapid.Check(t, func(t *rapid.T) {
		noise := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, name), "")
		}
		charset := rapid.SampledFrom(declaredCharsets).Draw(t, "charset")
		raw := "Content-Type: text/plain; charset=" + charset + "\nTo: \"" + noise("quoted") + "\" <a@x.example> (" +
			noise("comment") + "), \"" + noise("second") + "\" <b@y.example>\n\n" + noise("body")
		m, err := mime.ParseBytes([]byte(raw), nil)
		require.NoError(t, err)
		require.Len(t, m.To, 2, "%q", raw)
		require.Equal(t, "a@x.example", m.To[0].Email, "%q", raw)
		require.Equal(t, "b@y.example", m.To[1].Email, "%q", raw)
	})
}

// The names of honest mail in ISO-2022-JP are read; a text that hides an address is not.
func TestEscapesHideNoAddress(t *testing.T) {
	m := parsed(t, "From: \x1b$B;3ED\x1b(B <yamada@one.example>\nTo: \x1b$B<eve@evil.example>,\x1b(B <ann@two.example>\n\nhi")
	require.Equal(t, "山田", m.From[0].Name)
	require.Contains(t, m.Header.Get("To"), "eve@evil.example")
	require.Equal(t, "eve@evil.example", m.To[0].Email)
}
