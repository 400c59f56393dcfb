package mime

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

func encoded(t *testing.T, text, charset string) []byte {
	t.Helper()
	enc, err := htmlindex.Get(charset)
	require.NoError(t, err)
	b, err := enc.NewEncoder().Bytes([]byte(text))
	require.NoError(t, err)
	return b
}

// The charset of an encoded-word is doubted as that of a body is, wherever the word stands.
func TestCharsetOfWords(t *testing.T) {
	word := func(declared, text, charset string) string {
		return "=?" + declared + "?B?" + base64.StdEncoding.EncodeToString(encoded(t, text, charset)) + "?="
	}
	const order, hello = "您的订单已经发货请查收", "您好"
	body := "Content-Type: text/plain; charset=%\n\n"
	for name, c := range map[string]struct {
		words, behind, want string
		sound               bool
	}{
		"UTF-8 as Latin-1":              {"=?iso-8859-1?B?R3LDvMOfZSBhdXMgS8O2bG4=?=", "\n", "Grüße aus Köln", false},
		"GBK as UTF-8":                  {word("utf-8", order, "gb18030"), "\n", order, false},
		"Big5 as UTF-8":                 {word("utf-8", "您的訂單已經發貨請查收", "big5"), "\n", "您的訂單已經發貨請查收", false},
		"GBK as Latin-1":                {word("iso-8859-1", order, "gb18030"), "\n", order, false},
		"little, and the body names it": {word("utf-8", "您", "gb18030"), strings.Replace(body, "%", "gb2312", 1), "您", false},
		"little, and the body is in it": {word("utf-8", "您", "gb18030"), "\n" + string(encoded(t, order, "gb18030")), "您", false},
		"little, and another word is":   {word("utf-8", "您", "gb18030"), "X-Note: " + word("utf-8", order, "gb18030") + "\n\n", "您", false},
		"UTF-8 with a broken byte":      {"=?utf-8?Q?caf=C3=A9_=E9?=", "\n", "café \ufffd", false},
		"GBK that could be UTF-8":       {word("gb2312", "模", "gb18030"), "\n", "模", true},
		"GBK":                           {word("gb2312", hello, "gb18030"), "\n", hello, true},
		"Latin-1":                       {"=?iso-8859-1?Q?Gr=FC=DFe?=", "\n", "Grüße", true},
		"two, of which one is wrong":    {word("iso-8859-1", "Grüße", "utf-8") + " " + word("gb2312", hello, "gb18030"), "\n", "Grüße" + hello, false},
		"UTF-8 as Latin-2":              {word("iso-8859-2", "Příliš žluťoučký", "utf-8"), "\n", "Příliš žluťoučký", false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ParseBytes([]byte("Subject: "+c.words+"\nFrom: "+c.words+" <ada@example.com>\n"+c.behind), nil)
			require.NoError(t, err)
			require.Equal(t, c.want, m.Subject)
			require.Equal(t, c.want, m.From[0].Name)
			require.Equal(t, "ada@example.com", m.From[0].Email)
			broken := 0
			for _, d := range m.Defects {
				if d.Kind == EncodedWordBroken {
					broken++
				}
			}
			require.Equal(t, c.sound, broken == 0, m.Defects)
		})
	}
}

// A charset that is named in another part, or in an encoded-word, is found in a text too short to be sure of.
func TestCharsetNamedElsewhere(t *testing.T) {
	const short = "\xc4\xfa\xba\xc3" // two characters of GBK, or four letters of anything
	for name, head := range map[string]string{
		"in an encoded-word": "X-Note: =?GB2312?B?xPo=?=\n\n",
		"in another part":    "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/csv; charset=\"gbk\"\n\n1\n--b\n\n",
		"in a meta tag":      "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<meta charset=gb18030>\n--b\n\n",
	} {
		m, err := ParseBytes([]byte("Subject: \xc4\xfa\n"+head+short[:2]), nil)
		require.NoError(t, err)
		require.Equal(t, "\u60a8", strings.TrimSpace(m.Text), name)
		require.Equal(t, "\u60a8", m.Subject, name)
	}
}

// Fields that are not UTF-8 are in the charset of the body, in that of which they and the body are examples, or in a
// Western one.
func TestCharsetOfHeaders(t *testing.T) {
	const chinese, russian = "\xc4\xfa", "\xcf\xf0\xe8\xe2\xe5\xf2"
	body, err := simplifiedchinese.GB18030.NewEncoder().String(chineseText(t))
	require.NoError(t, err)
	for name, c := range map[string]struct{ raw, subject string }{
		"declared":             {"Subject: \xe8\nContent-Type: text/plain;\n charset=iso-8859-2\n\n", "\u010d"},
		"declared as UTF-8":    {"Subject: " + russian + "\nContent-Type: text/plain; charset=utf-8\n\n" + chineseText(t), "\u041f\u0440\u0438\u0432\u0435\u0442"},
		"beside UTF-8":         {"X-Note: " + strings.Repeat("\u4f60\u597d", 40) + "\nSubject: " + russian + "\n\n", "\u041f\u0440\u0438\u0432\u0435\u0442"},
		"like the body":        {"Subject: " + chinese + "\n\n" + body, "\u60a8"},
		"like nothing":         {"Subject: " + chinese + "\n\n", "\u00c4\u00fa"},
		"an escape to nowhere": {"Subject: \x1b$A\nX-Note: =?gb2312?B?xPo=?=\n\n", "\x1b$A"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ParseBytes([]byte(c.raw), nil)
			require.NoError(t, err)
			require.Equal(t, c.subject, m.Subject)
		})
	}
}

func chineseText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("charset/testdata/zh-Hans.txt")
	require.NoError(t, err)
	return string(text)
}
