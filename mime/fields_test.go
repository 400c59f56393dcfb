package mime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/bounce"
)

func TestParseAddresses(t *testing.T) {
	cases := map[string]struct {
		value string
		want  string // name <email>, ...
		ok    bool
	}{
		"nothing":                 {"", "", true},
		"bare":                    {"ada@example.com", " <ada@example.com>", true},
		"angle":                   {"<ada@example.com>", " <ada@example.com>", true},
		"name":                    {"Ada Lovelace <ada@example.com>", "Ada Lovelace <ada@example.com>", true},
		"dots in the name":        {"Ada M. Lovelace <ada@example.com>", "Ada M. Lovelace <ada@example.com>", true},
		"quoted name":             {`"Lovelace, \"Ada\" <x@y>" <ada@example.com>`, `Lovelace, "Ada" <x@y> <ada@example.com>`, true},
		"encoded name":            {"=?utf-8?q?Ad=C3=A9?= =?utf-8?q?le?= <ada@example.com>", "Ad\u00e9le <ada@example.com>", true},
		"raw name":                {"Ad\u00e9le <ada@example.com>", "Ad\u00e9le <ada@example.com>", true},
		"comment for a name":      {"ada@example.com (Ada Lovelace)", "Ada Lovelace <ada@example.com>", true},
		"comments within":         {"Ada (a (nested) one) <ada(x)@(y)example.com>", "Ada <ada@example.com>", true},
		"several":                 {"a@example.com, B <b@example.com>,,c@example.com", " <a@example.com>, B <b@example.com>,  <c@example.com>", true},
		"semicolons":              {"a@example.com; b@example.com", " <a@example.com>,  <b@example.com>", true},
		"group":                   {"Friends: a@example.com, B <b@example.com>;, c@example.com", " <a@example.com>, B <b@example.com>,  <c@example.com>", true},
		"empty group":             {"undisclosed-recipients:;", "", true},
		"route":                   {"<@a.example,@b.example:ada@example.com>", " <ada@example.com>", true},
		"blanks around the parts": {"ada @ example . com", " <ada@example.com>", true},
		"quoted local part":       {`"a b@c"@example.com, <"x y"@example.com>`, ` <"a b@c"@example.com>,  <"x y"@example.com>`, true},
		"international":           {"\u7528\u6237 <\u7528\u6237@\u4f8b\u5b50.example>", "\u7528\u6237 <\u7528\u6237@\u4f8b\u5b50.example>", true},
		"folded":                  {"Ada\r\n Lovelace\r\n\t<ada@example.com>", "Ada Lovelace <ada@example.com>", true},
		"address as a name":       {"eve@evil.example <ada@example.com>", "eve@evil.example <ada@example.com>", true},
		"name behind an address":  {"ada@example.com Ada", "Ada <ada@example.com>", true},
		"word is no address":      {"=?utf-8?b?ZXZlQGV2aWwuZXhhbXBsZQ==?=", "", false},
		"quoted is no address":    {`"eve@evil.example"`, "", false},
		"name alone":              {"Ada", "", false},
		"encoded at in a word":    {"=?utf-8?q?eve@evil.example?=", "", false},
		"words behind an address": {"ada@example.com Ada Lovelace", "Ada Lovelace <ada@example.com>", true},
		"quotes without blanks":   {`Ada "B"C <ada@example.com>`, "Ada BC <ada@example.com>", true},
		"two addresses as one":    {"a@example.com b@example.com", "b@example.com <a@example.com>", true},
		"an address of IPv6":      {"ada@[IPv6:2001:db8::1]", " <ada@[IPv6:2001:db8::1]>", true},
		"colon in brackets":       {"<a:b@example.com>", " <a:b@example.com>", true},
		"brackets twice":          {"A <a@example.com> <b@example.com>", "A <a@example.com>,  <b@example.com>", false},
		"semicolon in brackets":   {"<a@example.com; b@example.com", " <a@example.com>,  <b@example.com>", false},
		"quote open in brackets":  {`<"a@example.com>, b@example.com`, ` <"a@example.com>,  <b@example.com>`, false},
		"two comments":            {"a@example.com (A) (B)", "B <a@example.com>", true},
		"two in brackets":         {"A <a@example.com> B <b@example.com>", "A <a@example.com>, B <b@example.com>", false},
		"bracket never closed":    {"Ada <ada@example.com", "Ada <ada@example.com>", false},
		"quote never closed":      {`"Ada <ada@example.com>`, "Ada <ada@example.com>", false},
		"comment never closed":    {"Ada (x <ada@example.com>", "Ada (x <ada@example.com>", false},
		"broken word":             {"=?utf-8?b?!?= <ada@example.com>", " <ada@example.com>", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := mime.ParseAddresses(c.value)
			require.Equal(t, c.want, joined(got))
			require.Equal(t, c.ok, ok)
		})
	}
}

func TestParseDate(t *testing.T) {
	cases := map[string]struct{ value, want string }{ // RFC 3339, or nothing for what is no date
		"usual":               {"Sat, 21 Nov 2026 03:28:31 +0100", "2026-11-21T03:28:31+01:00"},
		"no weekday":          {"1 Dec 2026 03:28:31 -0330", "2026-12-01T03:28:31-03:30"},
		"no seconds":          {"Sat, 21 Nov 2026 03:28 GMT", "2026-11-21T03:28:00Z"},
		"no zone":             {"Sat, 21 Nov 2026 03:28:31", "2026-11-21T03:28:31Z"},
		"zone unknown":        {"Sat, 21 Nov 2026 03:28:31 -0000", "2026-11-21T03:28:31Z"},
		"zone with a colon":   {"Sat, 21 Nov 2026 03:28:31 +05:30", "2026-11-21T03:28:31+05:30"},
		"zone in hours":       {"Sat, 21 Nov 2026 03:28:31 +02", "2026-11-21T03:28:31+02:00"},
		"named zone":          {"Sat, 21 Nov 2026 03:28:31 PDT", "2026-11-21T03:28:31-07:00"},
		"military zone":       {"Sat, 21 Nov 2026 03:28:31 Q", "2026-11-21T03:28:31Z"},
		"zone and number":     {"Sat, 21 Nov 2026 03:28:31 GMT +0200", "2026-11-21T03:28:31+02:00"},
		"absurd zone":         {"Sat, 21 Nov 2026 03:28:31 +9900", "2026-11-21T03:28:31Z"},
		"comments":            {"Sat (day), 21 Nov (month) 2026 03(h):28 : 31 +0000 (UTC)", "2026-11-21T03:28:31Z"},
		"comment never ends":  {"Sat, 21 Nov 2026 03:28:31 +0100 (CET", "2026-11-21T03:28:31+01:00"},
		"two digits, new":     {"21 Nov 26 03:28:31 +0000", "2026-11-21T03:28:31Z"},
		"two digits, old":     {"21 Nov 97 03:28:31 +0000", "1997-11-21T03:28:31Z"},
		"day of three digits": {"Thu, 029 Oct 2026 03:28:31 +0000", "2026-10-29T03:28:31Z"},
		"three digits":        {"21 Nov 126 03:28:31 +0000", "2026-11-21T03:28:31Z"},
		"dashes":              {"Saturday, 21-Nov-26 03:28:31 GMT", "2026-11-21T03:28:31Z"},
		"whole month":         {"21 November 2026 03:28:31 +0000", "2026-11-21T03:28:31Z"},
		"asctime":             {"Sat Nov  7 03:28:31 2026", "2026-11-07T03:28:31Z"},
		"date command":        {"Sat Nov 21 03:28:31 CET 2026", "2026-11-21T03:28:31+01:00"},
		"asctime with offset": {"Sat Nov 21 03:28:31 +0100 2026", "2026-11-21T03:28:31+01:00"},
		"afternoon":           {"Sat, 21 Nov 2026 3:28:31 PM", "2026-11-21T15:28:31Z"},
		"past midnight":       {"Sat, 21 Nov 2026 12:28:31 AM", "2026-11-21T00:28:31Z"},
		"ISO 8601":            {"2026-11-21T03:28:31.123+01:00", "2026-11-21T03:28:31+01:00"},
		"ISO 8601 in UTC":     {"2026-11-21T03:28:31Z", "2026-11-21T03:28:31Z"},
		"ISO 8601 apart":      {"2026-11-21 03:28:31 +0100", "2026-11-21T03:28:31+01:00"},
		"leap second":         {"Sat, 31 Dec 2016 23:59:60 +0000", "2017-01-01T00:00:00Z"},
		"leap day":            {"29 Feb 2024 00:00:00 +0000", "2024-02-29T00:00:00Z"},
		"no leap day":         {"29 Feb 2023 00:00:00 +0000", ""},
		"no time":             {"21 Nov 2026", ""},
		"no year":             {"21 Nov 03:28:31", ""},
		"no such month":       {"21 Foo 2026 03:28:31 +0000", ""},
		"no such hour":        {"21 Nov 2026 24:28:31 +0000", ""},
		"too many colons":     {"21 Nov 2026 1:2:3:4 +0000", ""},
		"negative minute":     {"21 Nov 2026 1:-2:3", ""},
		"very early":          {"21 Nov 1026 03:28:31", ""},
		"words":               {"now, or later", ""},
		"commas for blanks":   {"Sat,21 Nov 2026,03:28:31,+0100", "2026-11-21T03:28:31+01:00"},
		"folded at a colon":   {"21 Nov 2026 03 :\r\n\t28: 31 +0100", "2026-11-21T03:28:31+01:00"},
		"a comment first":     {"(1 Dec) 21 Nov 2026 03:28:31", "2026-11-21T03:28:31Z"},
		"two zones":           {"21 Nov 2026 03:28:31 +0100 +0300", "2026-11-21T03:28:31+01:00"},
		"another month":       {"21 Nov 2026 03:28:31 Mar", "2026-11-21T03:28:31Z"},
		"a month cut short":   {"21 No 2026 03:28:31", ""},
		"between two months":  {"21 ebm 2026 03:28:31", ""},
		"a dash at the end":   {"21-Nov- 03:28:31", ""},
		"a dash alone":        {"- 21 Nov 2026 03:28:31", "2026-11-21T03:28:31Z"},
		"morning, with zone":  {"21 Nov 2026 03:28:31 AM +0100", "2026-11-21T03:28:31+01:00"},
		"evening, with zone":  {"21 Nov 2026 03:28:31 PM +0100", "2026-11-21T15:28:31+01:00"},
		"zone of a day":       {"21 Nov 2026 03:28:31 +2400", "2026-11-21T03:28:31Z"},
		"zone of 59 minutes":  {"21 Nov 2026 03:28:31 -0159", "2026-11-21T03:28:31-01:59"},
		"zone of 60 minutes":  {"21 Nov 2026 03:28:31 +0160", "2026-11-21T03:28:31Z"},
		"zone too long":       {"21 Nov 2026 03:28:31 +12345", "2026-11-21T03:28:31Z"},
		"zone of letters":     {"21 Nov 2026 03:28:31 +abc", "2026-11-21T03:28:31Z"},
		"two digits, last":    {"21 Nov 49 03:28:31", "2049-11-21T03:28:31Z"},
		"two digits, first":   {"21 Nov 50 03:28:31", "1950-11-21T03:28:31Z"},
		"first year":          {"1 Jan 1900 00:00:00", "1900-01-01T00:00:00Z"},
		"last year":           {"31 Dec 9999 23:59:59", "9999-12-31T23:59:59Z"},
		"too late a year":     {"21 Nov 10000 03:28:31", ""},
		"no such month, ISO":  {"2026-13-01 03:28:31", ""},
		"day 0":               {"0 Nov 2026 03:28:31", ""},
		"no such minute":      {"21 Nov 2026 03:60:31", ""},
		"no such second":      {"21 Nov 2026 03:28:61", ""},
		"as long as may be":   {"21 Nov 2026 03:28:31" + strings.Repeat(" ", 380), "2026-11-21T03:28:31Z"},
		"nothing":             {"", ""},
		"much too long":       {"21 Nov 2026 03:28:31" + strings.Repeat(" ", 400), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := mime.ParseDate(c.value)
			require.Equal(t, c.want != "", ok)
			if ok {
				require.Equal(t, c.want, got.Format(time.RFC3339))
			} else {
				require.True(t, got.IsZero())
			}
		})
	}
}

func TestParseAddressesKeepsGroups(t *testing.T) {
	got, ok := mime.ParseAddresses(`a@x, "The =?utf-8?q?Fr=C3=BChen?=": Bob <b@x>, c@x; d@x, empty:;, Next: e@x`)
	require.True(t, ok)
	require.Equal(t, []mime.Address{
		{Email: "a@x"}, {Name: "Bob", Email: "b@x", Group: "The Fr\u00fchen"}, {Email: "c@x", Group: "The Fr\u00fchen"}, {Email: "d@x"},
		{Email: "e@x", Group: "Next"},
	}, got)
}

func TestParseMessageIDs(t *testing.T) {
	cases := map[string]struct {
		value string
		want  []string
	}{
		"nothing":      {"", nil},
		"one":          {"<a@b>", []string{"a@b"}},
		"several":      {"<a@b> <c@d>\r\n\t<e@f>", []string{"a@b", "c@d", "e@f"}},
		"glued":        {"<a@b><c@d>", []string{"a@b", "c@d"}},
		"commas":       {"<a@b>, <c@d>", []string{"a@b", "c@d"}},
		"blanks":       {"< a @ b >", []string{"a@b"}},
		"no brackets":  {"a@b c@d", []string{"a@b", "c@d"}},
		"text around":  {"Your mail <a@b> of today", []string{"a@b"}},
		"never closed": {"<a@b", []string{"a@b"}},
		"empty":        {"<> <a@b>", []string{"a@b"}},
		"doubled":      {"<<a@b>>", []string{"a@b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, mime.ParseMessageIDs(c.value))
		})
	}
}

func TestHeader(t *testing.T) {
	m := parseHeader(t, "Received: one\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\nreceived: two\r\n folded\r\nX-Empty:")
	require.Equal(t, "one", m.Header.Get("RECEIVED"))
	require.Equal(t, []string{"one", "two folded"}, m.Header.Values("Received"))
	require.Equal(t, "caf\u00e9", m.Header.Get("subject"))
	require.Equal(t, "received", m.Header[2].Name, "names stay as they were sent")
	require.Equal(t, []string{""}, m.Header.Values("X-Empty"))
	require.Nil(t, m.Header.Values("X-None"))
	require.Empty(t, m.Header.Get("X-None"))
	require.Equal(t, "one, two", parseHeader(t, "Keywords: one,\ntwo\nTo: a@x.example").Header.Get("Keywords"),
		"a blank where a fold has lost it")
	for _, name := range []string{"", " ", "X\x7fY", "X\x80Y", "X Y"} {
		require.Len(t, parseHeader(t, "Subject: x\n"+name+": y\nTo: a@x.example").Header, 2, "%q is no name", name)
	}
}

func parseHeader(t *testing.T, header string) *mime.Message {
	t.Helper()
	m, err := mime.Parse(strings.NewReader(header+"\r\n\r\n"), nil)
	require.NoError(t, err)
	return m
}

func parsed(t *testing.T, raw string) *mime.Message {
	t.Helper()
	m, err := mime.Parse(strings.NewReader(raw), nil)
	require.NoError(t, err)
	return m
}

// Content whose end is missing is read as far as it goes.
func TestContentThatEndsEarly(t *testing.T) {
	for raw, want := range map[string]string{
		"Content-Transfer-Encoding: base64\n\nSGVsbG8gd29ybGQ":                          "Hello world", // without its padding
		"Content-Transfer-Encoding: base64\n\nSGVsbG8gd29ybG":                           "Hello worl",
		"Content-Transfer-Encoding: base64\n\nSGVsbG8gd29ybGQa":                         "Hello world\x1a",
		"Content-Type: text/plain; format=flowed\n\na \nb \n":                           "a b \n",
		"Content-Type: text/plain; format=flowed; delsp=yes\n\na \nb \n":                "ab\n",
		"Content-Type: text/plain; charset=utf-7\n\n+2D3eAA- +2D0-x +3gA- a+-b +AOQA-":  "\U0001f600 \ufffdx \ufffd a+b \u00e4",
		"Content-Type: text/plain; charset=utf-7\n\n+2D0AYQ-":                           "\ufffda",
		"Subject: x\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe=":   "Gr\u00fc\u00dfe",
		"Subject: x\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe=4":  "Gr\u00fc\u00dfe=4",
		"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nno end of the multipart\n": "no end of the multipart\n",
		"Content-Type: multipart/mixed; boundary=b\n\nonly a preamble, and no part\n":   "only a preamble, and no part\n",
	} {
		require.Equal(t, want, parsed(t, raw).Text, "%q", raw)
	}
}

// A notice with known words is a bounce if a mail server sent it: its name says so, it has no return path, or names
// whom it is about.
func TestWhoSendsBounces(t *testing.T) {
	const words = "Subject: failure notice\n\nHi. This is the qmail-send program at mx.example.org.\n" +
		"I'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n" +
		"<bob@example.org>:\nSorry, no mailbox here by that name. (#5.1.1)\n"
	for header, want := range map[string]bool{
		"From: MAILER-DAEMON@mx.example.org\n":                                         true,
		"Return-Path: <>\nFrom: robot@mx.example.org\n":                                true,
		"Return-Path: <ann@example.org>\nFrom: ann@example.org\n":                      false,
		"From: ann@example.org\n":                                                      false,
		"From: ann@example.org\nX-Failed-Recipients: bob@example.org\n":                true,
		"Return-Path: <>\nFrom: MAILER-DAEMON@mx.example.org\nX-Failed-Recipients: \n": true,
	} {
		b := bounce.Read(parsed(t, header+words))
		require.Equal(t, want, b != nil, header)
		if want {
			require.Len(t, b.Recipients, 1, header)
			require.Equal(t, "bob@example.org", b.Recipients[0].Final)
			require.Equal(t, "5.1.1", b.Recipients[0].Status)
		}
	}
	sentence := bounce.Read(parsed(t, "From: mailer-daemon@x.example\nSubject: failure\n\nYour message to bob@example.org could not be delivered: 550 5.1.1 no such user\n"))
	require.Equal(t, "bob@example.org", sentence.Recipients[0].Final)
	require.Equal(t, 550, sentence.Recipients[0].Code)
	two := bounce.Read(parsed(t, "From: a@x.example\nX-Failed-Recipients: bob@example.org, eve@example.org\nSubject: Mail delivery failed\n\nSorry.\n"))
	require.Len(t, two.Recipients, 2)
	long := bounce.Read(parsed(t, "From: mailer-daemon@x.example\nSubject: failure\n\n"+strings.Repeat("\u00e9", 1<<20)+
		"\n<bob@example.org>: 550 5.1.1 no such user\n"))
	require.Nil(t, long, "what stands behind megabytes of text is not looked for")
}

// Addresses of a mailto link may stand in it as a parameter, and what cannot be read of it is left out.
func TestMailtoLinks(t *testing.T) {
	list := parsed(t,
		"List-Unsubscribe: <mailto:?to=leave%40x.example&subject=a+b&body=%zz>, <mailto:>, <mailto:none?subject=x>,\n"+
			" <mailto:a@x.example,b@x.example?subject=%zz&body=x>\n\n").Header.List()
	require.Equal(t, []mime.Mailto{
		{To: []string{"leave@x.example"}, Subject: "a+b"},
		{To: []string{"a@x.example", "b@x.example"}, Body: "x"},
	}, list.Unsubscribe.Mail)
	list = parsed(t,
		"List-Unsubscribe: <mailto:%zz@x.example,a%0D%0Ab@x.example,a%20b@x.example,@x.example,a@,none,%20a%40x.example%20>\n\n").Header.List()
	require.Equal(t, []mime.Mailto{{To: []string{"a@x.example"}}}, list.Unsubscribe.Mail)
	list = parsed(t, "List-Unsubscribe: <mailto:"+strings.Repeat("a@x.example,", 2000)+">\n\n").Header.List()
	require.Len(t, list.Unsubscribe.Mail[0].To, 20)
}

func TestListLinks(t *testing.T) {
	for value, want := range map[string][]string{
		"(leave <https://no.example>) <https://x.example/a>": {"https://x.example/a"},
		"(leave <https://no.example>":                        nil,
		"https://x.example/a, https://x.example/b":           nil,
		"<https:///a>, <ftp://x.example/>, <%zz:>":           nil,
		"<https://x.example/a":                               nil, // it may be cut
	} {
		var got []string
		for _, link := range parseHeader(t, "List-Unsubscribe: "+value).Header.List().Unsubscribe.Web {
			got = append(got, link.String())
		}
		require.Equal(t, want, got, value)
	}
	require.Len(t, parseHeader(t, "List-Help: "+strings.Repeat("<https://x.example>,", 1000)).Header.List().Help, 20)
	require.Equal(t, "gophers.x.example", parseHeader(t, "List-Id: <Gophers.X.example>").Header.List().ID)
}

func TestWhoSignedTheUnsubscribe(t *testing.T) {
	const post = "List-Unsubscribe: <https://x.example/>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\n"
	for signature, want := range map[string][]string{
		"d=X.example; h=From : List-Unsubscribe:\n list-unsubscribe-post": {"x.example"},
		"d=x.example; h=from:list-unsubscribe":                            nil,
		"h=from:list-unsubscribe:list-unsubscribe-post":                   nil,
	} {
		require.Equal(t, want, parseHeader(t, post+"DKIM-Signature: "+signature).Header.List().Unsubscribe.SignedBy,
			signature)
	}
}
