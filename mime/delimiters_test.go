package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/mime"
)

// A broken encoded-word ends where the part of the field ends in which it stands.
func TestBrokenWordsSwallowNothing(t *testing.T) {
	for from, want := range map[string][]string{
		`"=?UTF-8?Q?Ann=FF" <evil@evil.example> (?=" <info@bank.example>)`:         {"evil@evil.example"},
		`"=?UTF-8?B?QmFu" <evil@evil.example>, "ayE=?=" <info@bank.example>`:       {"evil@evil.example", "info@bank.example"},
		`=?UTF-8?Q?Ann=FF <evil@evil.example>, ?= <info@bank.example>`:             {"evil@evil.example", "info@bank.example"},
		`=?UTF-8?B?QmFu <evil@evil.example>, ayE=?= <info@bank.example>`:           {"evil@evil.example", "info@bank.example"},
		`"=?UTF-8?Q?J=FCrgen" <j@one.example>, "Lee, K. ?= x" <lee@three.example>`: {"j@one.example", "lee@three.example"},
		`=?UTF-8?Q?Ann=3C?= <ann@one.example>`:                                     {"ann@one.example"},
		`=?UTF-8?Q?joe@x.example?= <joe@one.example>`:                              {"joe@one.example"},
		`=?UTF-8?Q?a_=FF,_evil=40evil.example,?= <ann@one.example>, b@c`:           {"ann@one.example", "b@c"},
	} {
		var got []string
		for _, a := range parsed(t, "From: "+from+"\nTo: me@x.example\n\nhi").From {
			got = append(got, a.Email)
		}
		require.Equal(t, want, got, from)
	}
}

func TestBrokenWordsKeepParameters(t *testing.T) {
	m := parsed(t, "Content-Type: multipart/mixed; x=\"=?UTF-8?Q?safe=FF\"; boundary=\"bb\"; y=\"?=\"; boundary=cc\n\n"+
		"--bb\n\nseen by everybody\n--bb\nContent-Type: application/octet-stream\n"+
		"Content-Disposition: attachment; filename=\"=?UTF-8?Q?bill=FF.exe\"; comment=\"?=.pdf\"\n\nMZ\n--bb--\n"+
		"--cc\n\nseen by one program\n--cc--\n")
	require.Equal(t, "seen by everybody", strings.TrimSpace(m.Text))
	require.Len(t, m.Attachments, 1)
	require.True(t, strings.HasSuffix(m.Attachments[0].Filename, ".exe"), m.Attachments[0].Filename)

	p := parsed(t, "Content-Type: application/pdf\nContent-Disposition: attachment;\n"+
		" filename*0=\"=?UTF-8?B?UmVjaG51bmdfTcOkcnpf\";\n filename*1=\"MjAyNl9zZWhyX2xhbmdlci5wZGY=?=\"\n\nx")
	require.Equal(t, "Rechnung_März_2026_sehr_langer.pdf", p.Root.Filename)
}

// Which octet an encoded-word holds, broken, harmless or a delimiter, changes neither the addresses of a field nor the
// parameters of another, whatever stands around the word.
func TestDecodingMakesNoDelimiter(t *testing.T) {
	pieces := []string{"=?UTF-8?Q?", "=?iso-8859-1?q?", "?=", "%", "%", "a", " ", `"`, "<a@x.example>", "b@y.example", ",", "(", ")", ";",
		"name=", "boundary=", ".pdf", "=?UTF-8?B?QmFu", "ayE=?=", "_"}
	octets := []string{"=FF", "=41", "=22", "=3C", "=3E", "=2C", "=3B", "=28", "=29", "=40", "=3D", "=0A", "=C3=A9"}
	rapid.Check(t, func(t *rapid.T) {
		form := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 16).Draw(t, "form"), "")
		if !strings.Contains(form, "=?UTF-8?Q?%") {
			form = "=?UTF-8?Q?%" + form
		}
		read := func(octet string) (emails, names []string) {
			value := strings.ReplaceAll(form, "%", octet)
			m, err := mime.ParseBytes([]byte("To: "+value+"\nContent-Type: application/x; "+value+"\n\nx"), nil)
			require.NoError(t, err)
			for _, a := range m.To {
				emails = append(emails, strings.ReplaceAll(a.Email, octet, "%"))
			}
			for name := range m.Root.Params {
				names = append(names, strings.ReplaceAll(name, strings.ToLower(octet), "%"))
			}
			return emails, names
		}
		emails, names := read("=41")
		for _, octet := range octets {
			gotEmails, gotNames := read(octet)
			require.Equal(t, emails, gotEmails, "%s with %s", form, octet)
			require.ElementsMatch(t, names, gotNames, "%s with %s", form, octet)
		}
	})
}
