package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// A form of a text is no file, also if it is marked as inline.
func TestFormsThatAreInline(t *testing.T) {
	for _, form := range []string{"text/x-amp-html", "TEXT/X-AMP-HTML; charset=utf-8", "text/watch-html", "text/enriched",
		"text/richtext", "text/rtf"} {
		for _, disposition := range []string{"", "Content-Disposition: inline\n"} {
			m := parsed(t, "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: "+form+"\n"+
				disposition+"\n<html amp4email>\n--b\nContent-Type: text/html\n\n<p>html\n--b--\n")
			require.Empty(t, m.Attachments, form)
			require.False(t, m.HasAttachment(), form)
		}
	}
	m := parsed(t, "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/rtf\n"+
		"Content-Disposition: attachment\n\n{\\rtf}\n--b--\n")
	require.True(t, m.HasAttachment())
}

func TestWhatStandsAroundAnAddress(t *testing.T) {
	for from, want := range map[string]string{
		"Ann <a@b.example..>":               "a@b.example",
		"<a@b.example<mailto:a@b.example>>": "a@b.example",
		"a@b.example<mailto:a@b.example>":   "a@b.example",
		"<[mailto:a@b.example]>":            "a@b.example",
		"[<a@b.example>]":                   "a@b.example",
		"'a@b.example'":                     "a@b.example",
		"Ann <'a@b.example'>":               "a@b.example",
		"<\u200ba@b.example.\u200b>":        "a@b.example",
		"\u2068a@b.example\u2069":           "a@b.example",
		"<o'neil@b.example>":                "o'neil@b.example",
		"matt <3 <matt@x.example>":          "matt@x.example",
		"<'a@b.example>":                    "'a@b.example",
	} {
		var got []string
		for _, a := range parsed(t, "From: "+from+"\n\nx").From {
			got = append(got, a.Email)
		}
		require.Equal(t, []string{want}, got, from)
	}
}

// A link that was cut is none.
func TestUnsubscribeLinksThatAreCut(t *testing.T) {
	for value, want := range map[string]string{
		"<https://x.example/u?a=1,2":                                     "",
		"<https://x.example/u?a=1\n ":                                    "",
		"https://x.example/u>":                                           "",
		"<https://x.example/u?a=, <https://y.example/u>":                 "",
		"<mailto:u@x.example>, <https://x.example/u?a=1":                 "",
		"<https://x.example/u?a=1>, <https://y.example/u?a=":             "https://x.example/u?a=1",
		"<mailto:u@x.example?subject=x>,\n\t<https://x.example/u?a=1,2>": "https://x.example/u?a=1,2",
	} {
		l := parsed(t, "List-Unsubscribe: "+value+"\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\n\nx").Header.List()
		got := ""
		if l.Unsubscribe.OneClick != nil {
			got = l.Unsubscribe.OneClick.String()
		}
		require.Equal(t, want, got, value)
	}
}

// Fields of long words may have any number of lines that are not indented; the text of a letter has few.
func TestManyUnfoldedLines(t *testing.T) {
	word := strings.Repeat("Abc4", 15)
	for _, n := range []int{1, 2, 3, 5, 12, 30} {
		m := parsed(t, "From: a@b.example\nX-Info: "+word+"\n"+strings.Repeat(word+"\n", n)+
			"Subject: S\nContent-Type: text/html\n\n<p>x")
		require.Equal(t, "S", m.Subject, n)
		require.Equal(t, "<p>x", m.HTML, n)
	}
	m := parsed(t, "From: a@b.example\nSubject: S\nDear Bob, see\n"+strings.Repeat("these words of mine\n", 8)+
		"List-Id: x\n\ny")
	require.Contains(t, m.Text, "Dear Bob")
}

func TestNULsAtTheEnd(t *testing.T) {
	for _, subject := range []string{"Plan\x00", "Plan\x00\x00", "Plan \x00", "Plan\n \x00", "Plan\x00 \x00\t",
		"=?utf-8?q?Plan_=00?=",
		"=?utf-8?b?UGxhbgA=?=", "=?utf-8?q?Plan?=\x00"} {
		require.Equal(t, "Plan", parsed(t, "Subject: "+subject+"\n\nx").Subject, "%q", subject)
	}
}

func TestMoreDates(t *testing.T) {
	for value, right := range map[string]string{
		"Tue, 3 Mar 2026 10.00 +0100":                              "2026-03-03T09:00:00Z",
		"Tue, 3 Mar 2026 10:00:00GMT+0100":                         "2026-03-03T09:00:00Z",
		"Tue, 3 Mar 2026 10:00:00GMT":                              "2026-03-03T10:00:00Z",
		"Tue, 3 Mar 2026 10:00:00PM +0100":                         "2026-03-03T21:00:00Z",
		"Wed, 24 Jul 2019 03:05:23 \"Pacific Daylight Time\"":      "2019-07-24T10:05:23Z",
		"Wed, 24 Jul 2019 03:05:23 PACIFIC DAYLIGHT TIME":          "2019-07-24T10:05:23Z",
		"Wed, 24 Jul 2019 03:05:23 E. South America Standard Time": "2019-07-24T06:05:23Z",
		"Wed, 24 Jul 2019 03:05:23 AUS Eastern Standard Time":      "2019-07-23T17:05:23Z",
		"Wed, 24 Jul 2019 03:05:23 UTC-07":                         "2019-07-24T10:05:23Z",
	} {
		got, ok := mime.ParseDate(value)
		require.True(t, ok, value)
		require.Equal(t, right, got.UTC().Format("2006-01-02T15:04:05Z"), value)
	}
}

// A type that cannot be read keeps the bytes of a file out of the text.
func TestTypesThatAreEncodedWords(t *testing.T) {
	for _, field := range []string{"=?utf-8?q?application/pdf?=", "application/=?utf-8?q?pdf?=",
		"image/=?utf-8?q?png?=; x=y",
		"=?utf-8?b?YXBwbGljYXRpb24vcGRm?=", "=?utf-8?q?application/pdf=3B_name=3Dx.pdf?="} {
		m := parsed(t, "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n--b\nContent-Type: "+field+
			"\nContent-Transfer-Encoding: base64\n\nJVBERi0xLjQKJcfs\n--b--\n")
		require.Equal(t, "hello", m.Text, field)
		require.Len(t, m.Attachments, 1, field)
		require.Equal(t, "%PDF-1.4\n%\xc7\xec", string(m.Attachments[0].Content), field)
	}
}

// Blanks in base64 change nothing in any charset, and what cannot be decoded is not taken for words.
func TestBase64WithBlanksInAnyCharset(t *testing.T) {
	for charset, content := range map[string]string{
		"iso-2022-jp": "\x1b$BF|K\\8l\x1b(B", "utf-16le": "Y\x00o\x00u\x00r\x00 \x00i\x00n\x00v\x00o\x00i\x00c\x00e\x00",
		"gb18030":    "\xc4\xfa\xb5\xc4\xb6\xa9\xb5\xa5\xd2\xd1\xbe\xad\xb7\xa2\xbb\xf5",
		"koi8-r":     "\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2",
		"iso-8859-1": "Gr\xfc\xdfe aus K\xf6ln",
	} {
		head := "Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=" + charset + "\n\n"
		want := parsed(t, head+spaced(content, 1000, "")).Text
		for _, size := range []int{1, 3, 4, 8, 20} {
			m := parsed(t, head+spaced(content, size, " "))
			require.Equal(t, want, m.Text, "%s %d", charset, size)
			require.Empty(t, m.Attachments)
		}
	}
	m := parsed(t, "Content-Transfer-Encoding: base64\n\nWW91cg== IGludm9pY2U=\nIGlzIGR1ZQ==\n")
	if !strings.Contains(m.Text, "invoice") {
		require.Len(t, m.Attachments, 1)
		require.Equal(t, mime.KindUnread, m.Attachments[0].Kind())
	}
}

// Of brackets that are not closed, no address is made of two.
func TestAddressesOfBrokenBrackets(t *testing.T) {
	for from, want := range map[string][]string{
		"<a@b.example, c@d.example>":            {"a@b.example", "c@d.example"},
		"Ann <a@b.example <c@d.example>":        {"a@b.example", "c@d.example"},
		"<a@b.example<c@d.example>>":            {"a@b.example", "c@d.example"},
		"Ann <3 Bob <a@b.example>, c@d.example": {"a@b.example", "c@d.example"},
		"<<a@b.example>>":                       {"a@b.example"},
	} {
		var got []string
		for _, a := range parsed(t, "From: "+from+"\n\nx").From {
			got = append(got, a.Email)
		}
		require.Equal(t, want, got, from)
	}
	require.Equal(t, "matt <3", parsed(t, "From: matt <3 <matt@x.example>\n\nx").From[0].Name)
}

func TestIDsAreWrittenInASCII(t *testing.T) {
	o := mime.Outgoing{From: []mime.Address{{Email: "a@b.example"}}, To: []mime.Address{{Email: "c@d.example"}}, Text: "x",
		MessageID: "m\u00fc@b.example", InReplyTo: "<i\u00fc@b.example>",
		References: []string{"r@b.example", "\u00fc@b.example"}}
	raw, err := o.Build()
	require.NoError(t, err)
	m := parsed(t, string(raw))
	require.Equal(t, []string{"", "", "r@b.example"}, []string{m.MessageID, m.InReplyTo, strings.Join(m.References, " ")})
	o.SMTPUTF8 = true
	raw, err = o.Build()
	require.NoError(t, err)
	require.Equal(t, "m\u00fc@b.example", parsed(t, string(raw)).MessageID)
}

// A name does not make a file of a form that clients show.
func TestFormsWithANameAreShown(t *testing.T) {
	for _, disposition := range []string{"", "Content-Disposition: inline\n",
		"Content-Disposition: inline; filename=x.html\n"} {
		m := parsed(t, "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain; name=x.txt\n"+
			disposition+"\nplain\n--b\nContent-Type: text/html; name=x.html\n"+disposition+"\n<p>Wire 5000 EUR\n--b--\n")
		require.Equal(t, "plain", m.Text)
		require.Equal(t, "<p>Wire 5000 EUR", m.HTML)
		require.Empty(t, m.Attachments)
	}
	m := parsed(t, "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\n"+
		"Content-Type: text/html; name=x.html\nContent-Disposition: attachment\n\n<p>a file\n--b--\n")
	require.Empty(t, m.HTML)
	require.Len(t, m.Attachments, 1)
	m = parsed(t, "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nplain\n--b\n"+
		"Content-Type: text/html; name=x.html\n\n<p>a file\n--b--\n")
	require.Len(t, m.Attachments, 1)
}
