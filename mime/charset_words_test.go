package mime

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func encoded(t *testing.T, text, charset string) []byte {
	t.Helper()
	b, err := lookupCharset(charset).NewEncoder().Bytes([]byte(text))
	require.NoError(t, err)
	return b
}

// A text that is declared as UTF-8 and is in another charset holds some sequences of it by accident.
func TestCharsetWronglyUTF8(t *testing.T) {
	const russian = "Здравствуйте! Мы отправим товар в течение трёх дней."
	for _, s := range samples {
		text := sampleText(t, s.file)
		for _, charset := range s.charsets {
			if charset == "iso-2022-jp" {
				continue // which is valid UTF-8
			}
			b := append(encoded(t, text, charset), "\n\u00e9"...)
			p := &Part{Content: b, Params: map[string]string{"charset": "utf-8"}, ContentType: "text/plain"}
			require.Contains(t, p.Text(), text[:60], charset)
		}
	}
	for name, b := range map[string][]byte{russian: encoded(t, russian, "koi8-r"), "café, naïve, déjà": []byte("caf\xe9, na\xefve, d\xe9j\xe0")} {
		p := &Part{Content: b, Params: map[string]string{"charset": "utf-8"}, ContentType: "text/plain"}
		require.Equal(t, name, p.Text())
	}
	for broken, want := range map[string]string{
		"日本語 \xff 日本語": "日本語 \ufffd 日本語", "café \xe9": "café \ufffd", "日\xe6\x9c": "日\ufffd",
		strings.Repeat("Grüße ", 20) + "\xe9\xe9": strings.Repeat("Grüße ", 20) + "\ufffd\ufffd",
	} {
		p := &Part{Content: []byte(broken), Params: map[string]string{"charset": "utf-8"}, ContentType: "text/plain"}
		require.Equal(t, want, strings.ReplaceAll(p.Text(), "\ufffd\ufffd\ufffd", "\ufffd"), "a few broken bytes")
	}
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

// A short body that is declared as Western is read as what it is if it can be told.
func TestCharsetOfShortBodies(t *testing.T) {
	for text, charset := range map[string]string{"您的订单已经发货了": "gb18030", "ご注文ありがとう": "shift_jis", "안녕하세요 주문": "euc-kr", "您的訂單已經發貨請查收": "big5"} {
		p := &Part{Content: encoded(t, text, charset), Params: map[string]string{"charset": "iso-8859-1"}, ContentType: "text/plain"}
		require.Equal(t, text, p.Text())
	}
	for _, western := range []string{"Grüße", "Ärger über Öl", "déjà vu, là-bas, où, Noël", "São João não é à", "ÄÖÜ äöü ß", strings.Repeat("\u00a0", 20), "10 £ und 20 £ und 30 £ und 40 £", "«¡¿Qué!?»"} {
		p := &Part{Content: encoded(t, western, "windows-1252"), Params: map[string]string{"charset": "iso-8859-1"}, ContentType: "text/plain"}
		require.Equal(t, western, p.Text())
	}
}
