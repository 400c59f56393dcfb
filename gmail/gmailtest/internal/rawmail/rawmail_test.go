package rawmail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for name, test := range map[string]struct {
		raw    string
		header Header
		body   string
	}{
		"plain":                   {"A: 1\r\nB: 2\r\n\r\nhi\r\n", Header{{"A", "1"}, {"B", "2"}}, "hi\r\n"},
		"folded":                  {"A: 1\n\t2\n 3\n\nhi", Header{{"A", "1 2 3"}}, "hi"},
		"no body":                 {"A: 1", Header{{"A", "1"}}, ""},
		"no header":               {"hello there\nA: 1\n", nil, "hello there\nA: 1\n"},
		"empty header":            {"\nA: 1\n", nil, "A: 1\n"},
		"From line":               {"From a b\nA: 1\n\nhi", Header{{"A", "1"}}, "hi"},
		"quoted From line":        {">From a b\nA: 1\n\nhi", Header{{"A", "1"}}, "hi"},
		"a line that is no field": {"A: 1\ngarbage here\nB: 2\n\nhi", Header{{"A", "1"}, {"B", "2"}}, "hi"},
		"blank before the colon":  {"A : 1\n\n", Header{{"A", "1"}}, ""},
		"indented at the top":     {" A: 1\nB: 2\n\n", nil, " A: 1\nB: 2\n\n"},
		"names of other bytes":    {"A: 1\nB C: 2\nD\x7f: 3\nE\x80: 4\n: 5\n~!: 6\n\nhi", Header{{"A", "1"}, {"~!", "6"}}, "hi"},
		"nothing":                 {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			header, body := Split([]byte(test.raw))
			require.Equal(t, test.header, header)
			require.Equal(t, test.body, string(body))
		})
	}
}

func TestDecodeText(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                               "plain",
		"=?UTF-8?Q?gr=C3=BCn?=":               "grün",
		"=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=":  "日本",
		"=?koi8-r?B?8NLJ18XU?=":               "Привет",
		"=?no-such-charset?Q?x?=":             "=?no-such-charset?Q?x?=",
		"\xe9t\xe9":                           "\uFFFDt\uFFFD",
		"=?UTF-8?Q?a?= =?UTF-8?Q?b?= and =?x": "ab and =?x",
	} {
		require.Equal(t, want, DecodeText(in), in)
	}
}

func TestHeaderFields(t *testing.T) {
	h := Header{{"To", "a"}, {"Cc", "b"}, {"TO", "c"}}
	require.Equal(t, []string{"a", "c"}, h.All("to"))
	require.Empty(t, h.All("Bcc"))
	require.Equal(t, "b", h.Get("cc"))
}

func TestAddresses(t *testing.T) {
	found, err := Addresses("=?koi8-r?Q?=F0?= <a@x.example>, =?none-such?Q?x?= <b@x.example>, \xff <c@x.example>")
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Equal(t, "\u041f", found[0].Name)
	require.Equal(t, "x", found[1].Name)
	require.Equal(t, "\ufffd", found[2].Name)
}

// A file has a name or is a message, and is no picture that the text shows.
func TestAttachments(t *testing.T) {
	for header, want := range map[string]bool{
		"Content-Type: message/rfc822\n":                                                            true,
		"Content-Type: text/plain\n":                                                                false,
		"Content-Type: text/plain; name=a.txt\n":                                                    true,
		"Content-Disposition: attachment; FileName=\"=?utf-8?q?a?=.txt\"\n":                         true,
		"Content-Disposition: attachment\n":                                                         false,
		"Content-Type: image/png; name=a.png\n":                                                     true,
		"Content-Type: image/png; name=a.png\nContent-ID: <1@x>\n":                                  false,
		"Content-Type: image/png; name=a.png\nContent-ID: <1@x>\nContent-Disposition: attachment\n": true,
		"Content-Type: text/plain; name=a.txt\nContent-ID: <1@x>\n":                                 true,
	} {
		p := Parse([]byte(header + "\nx"))
		require.Equal(t, want, p.IsAttachment(), header)
	}
	named := Parse([]byte("Content-Type: text/plain; name=b.txt\nContent-Disposition: attachment; filename=a.txt\n\nx"))
	require.Equal(t, "a.txt", named.Filename())
}

// All letters of base64 are read, and what is none of them is left out.
func TestBase64Letters(t *testing.T) {
	p := Parse([]byte("Content-Transfer-Encoding: Base64\n\nAZaz09+/\n@[`{:-_=AZaz09+/"))
	require.Equal(t, "\x01\x96\xb3\xd3\xdf\xbf\x01\x96\xb3\xd3\xdf\xbf", string(p.Content()))
	p = Parse([]byte("Content-Transfer-Encoding: quoted-printable\n\na=\x00b"))
	require.Equal(t, "a=\x00b", string(p.Content()), "what cannot be decoded stays")
}

func TestMessageIDs(t *testing.T) {
	require.Equal(t, []string{"a@b", "c@d"}, MessageIDs("<a@b> (was: x)\t<c@d>"))
	require.Empty(t, MessageIDs("a@b <> <unclosed"))
}

func TestParse(t *testing.T) {
	raw := strings.ReplaceAll(`Content-Type: multipart/mixed; boundary="o"

preamble
--o
Content-Type: multipart/alternative; boundary=i

--i

plain
--i
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<b>gr=FCn</b>
--i--
--o
Content-Type: message/rfc822

Subject: inner

inner text
--o
Content-Type: application/pdf; name="=?UTF-8?Q?Men=C3=BC.pdf?="
Content-Disposition: attachment; filename*=UTF-8''Men%C3%BC.pdf
Content-Transfer-Encoding: base64

aGVs!bG8=
--o--
epilogue
`, "\n", "\r\n")
	p := Parse([]byte(raw))
	require.Len(t, p.Parts, 3)
	require.Equal(t, "plain", string(p.Parts[0].Parts[0].Content()))
	require.Equal(t, "<b>grün</b>", p.Parts[0].Parts[1].Text())
	require.Equal(t, "inner", p.Parts[1].Parts[0].Header.Get("subject"))
	require.Equal(t, "Menü.pdf", p.Parts[2].Filename())
	require.Equal(t, "hello", string(p.Parts[2].Content()))
	require.Equal(t, "plain", Snippet(p))
}

func TestParseBroken(t *testing.T) {
	for name, test := range map[string]struct {
		raw   string
		parts int
		body  string
	}{
		"no closing line":     {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo\n", 2, ""},
		"no boundary":         {"Content-Type: multipart/mixed\n\n--b\n\none\n", 0, "--b\n\none\n"},
		"boundary never used": {"Content-Type: multipart/mixed; boundary=b\n\ntext\n", 0, "text\n"},
		"sloppy parameters":   {"Content-Type: multipart/mixed; charset; boundary=\"b\"; =\n\n--b\n\none\n--b--\n", 1, ""},
		"nonsense type":       {"Content-Type: ?\n\ntext\n", 0, "text\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := Parse([]byte(test.raw))
			require.Len(t, p.Parts, test.parts)
			require.Equal(t, test.body, string(p.Body))
		})
	}
}

func TestParseIsBounded(t *testing.T) {
	var deep strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	depth := 0
	for p := Parse([]byte(deep.String())); len(p.Parts) > 0; p = p.Parts[0] {
		depth++
	}
	require.Equal(t, maxDepth, depth)

	wide := "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", 10_000)
	require.Len(t, Parse([]byte(wide)).Parts, maxParts-1)
}

func TestSnippet(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"plain":     {"Subject: x\n\n Hello,\n\n  it's me <here>", "Hello, it&#39;s me &lt;here&gt;"},
		"html":      {"Content-Type: text/html\n\n<title>t</title><style>p{}</style><p>one<p>two &amp; <b>three", "one two &amp; three"},
		"cut":       {"Subject: x\n\n" + strings.Repeat("é", 300), strings.Repeat("é", 200)},
		"no text":   {"Content-Type: image/png\n\nxx", ""},
		"no header": {"just text", "just text"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Snippet(Parse([]byte(test.raw))))
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\nContent-Type: text/html\n\n<p>x\n"))
	f.Add([]byte("Subject: =?UTF-8?Q?x?=\nReferences: <a> <b\nContent-Transfer-Encoding: base64\n\nAAAA="))
	f.Add([]byte("Content-TYpe:/;\x97BoundArY="))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := Parse(raw)
		require.LessOrEqual(t, len([]rune(Snippet(p))), 6*snippetLength)
		require.LessOrEqual(t, len(p.Body), len(raw))
		for _, field := range p.Header {
			DecodeText(field.Value)
			MessageIDs(field.Value)
		}
	})
}
