package charset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
			p := read(b, "utf-8")
			require.Contains(t, p, text[:60], charset)
		}
	}
	for name, b := range map[string][]byte{russian: encoded(t, russian, "koi8-r"),
		"café, naïve, déjà": []byte("caf\xe9, na\xefve, d\xe9j\xe0")} {
		p := read(b, "utf-8")
		require.Equal(t, name, p)
	}
	for broken, want := range map[string]string{
		"日本語 \xff 日本語": "日本語 \ufffd 日本語", "café \xe9": "café \ufffd", "日\xe6\x9c": "日\ufffd",
		strings.Repeat("Grüße ", 20) + "\xe9\xe9": strings.Repeat("Grüße ", 20) + "\ufffd\ufffd",
	} {
		p := read([]byte(broken), "utf-8")
		require.Equal(t, want, strings.ReplaceAll(p, "\ufffd\ufffd\ufffd", "\ufffd"), "a few broken bytes")
	}
}

// A short body that is declared as Western is read as what it is if it can be told.
func TestCharsetOfShortBodies(t *testing.T) {
	for text, charset := range map[string]string{"您的订单已经发货了": "gb18030", "ご注文ありがとう": "shift_jis", "안녕하세요 주문": "euc-kr",
		"您的訂單已經發貨請查收": "big5"} {
		p := read(encoded(t, text, charset), "iso-8859-1")
		require.Equal(t, text, p)
	}
	for _, western := range []string{"Grüße", "Ärger über Öl", "déjà vu, là-bas, où, Noël", "São João não é à",
		"ÄÖÜ äöü ß", strings.Repeat("\u00a0", 20), "10 £ und 20 £ und 30 £ und 40 £", "«¡¿Qué!?»"} {
		p := read(encoded(t, western, "windows-1252"), "iso-8859-1")
		require.Equal(t, western, p)
	}
}
