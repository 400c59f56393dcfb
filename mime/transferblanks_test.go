package mime_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// spaced is a content in base64, broken into pieces of so many letters.
func spaced(content string, size int, between string) string {
	var out strings.Builder
	encoded := base64.StdEncoding.EncodeToString([]byte(content))
	for i := 0; i < len(encoded); i += size {
		out.WriteString(encoded[i:min(len(encoded), i+size)] + between)
	}
	return out.String()
}

// Blanks in the lines of base64 belong to nothing (RFC 2045, section 6.8), and words are not base64.
func TestBase64WithBlanks(t *testing.T) {
	const head = "Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8\n\n"
	for _, text := range []string{"Your invoice 4711 is due",
		"Grüße aus Köln, und danke für die Rechnung 4711.", "您的订单已经发货请查收",
		strings.Repeat("A long letter about nothing. ", 40)} {
		for _, size := range []int{1, 3, 4, 8, 13, 60} {
			for _, between := range []string{" ", "\t", "  \n ", " \r\n"} {
				m := parsed(t, head+spaced(text, size, between))
				require.Equal(t, strings.TrimSpace(text), strings.TrimSpace(m.Text), "%d %q", size, between)
				require.Empty(t, m.Attachments)
			}
		}
		m := parsed(t, head+spaced(text, 4, " ")+"\n-- \nA list, and its footer.\n")
		require.Contains(t, m.Text, text)
		require.Contains(t, m.Text, "A list, and its footer.")
	}
	binary := string([]byte{0, 1, 2, 0xff, 0xfe, 7, 9, 0x80}) + strings.Repeat("\x00\xd0\x81PK", 40)
	m := parsed(t, "Content-Type: application/zip; name=x.zip\nContent-Transfer-Encoding: base64\n\n"+spaced(binary, 4, " "))
	require.Equal(t, binary, string(m.Attachments[0].Content))
}

// A text that was declared encoded and could not be decoded is shown as it is, and counts as not read. Plain words
// were never encoded.
func TestTextsThatCannotBeDecoded(t *testing.T) {
	for _, raw := range []string{
		"Content-Transfer-Encoding: base64\n\n!W?W<9>1?c!i?B?p!b?n!Z?v!a?W!N?l<I>D?Q!3\n",
		"Content-Transfer-Encoding: x-zipped\n\nunreadable\n",
		"Content-Type: text/html\nContent-Transfer-Encoding: x-zipped\n\n<p>Hello, you!</p>\n",
	} {
		m := parsed(t, raw)
		require.NotEmpty(t, m.Text+m.HTML)
		require.Len(t, m.Attachments, 1, raw)
		require.Equal(t, mime.KindUnread, m.Attachments[0].Kind())
	}
	for _, raw := range []string{"Content-Transfer-Encoding: quoted-printable\n\na = b\n",
		"Content-Transfer-Encoding: 8bit\n\nx\n",
		"Content-Transfer-Encoding: base64\n\nSGVsbG8=\n",
		"Content-Transfer-Encoding: base64\n\nThis is, after all, plain text: see below.\n",
		"Content-Transfer-Encoding: base64\n\nPlease call me back soon\n",
		"Content-Transfer-Encoding: base64\n\n<?xml version=\"1.0\"?>\n<a id=\"12-3\">ok</a>\n",
		"Content-Transfer-Encoding: base64\n\nSGVsbG8gV29ybGQhA\n", "Content-Transfer-Encoding: base64\n\n\n",
		"Content-Transfer-Encoding: 7bit and more\n\nx\n"} {
		require.Empty(t, parsed(t, raw).Attachments, raw)
	}
}

// A letter too many says nothing about those before it.
func TestBase64WithALetterTooMany(t *testing.T) {
	for raw, text := range map[string]string{"SGVsbG8gV29ybGQhA": "Hello World!", "SGVsbG8=A": "Hello",
		"Hello": "Hello", "Dear Bob": "Dear Bob", "A": "A"} {
		m := parsed(t, "Content-Transfer-Encoding: base64\n\n"+raw+"\n")
		require.Equal(t, text, strings.TrimSpace(m.Text), raw)
		require.Empty(t, m.Attachments, raw)
	}
}
