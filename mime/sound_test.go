package mime_test

import (
	"strings"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// requireSound checks what the package promises about every message, however it was broken.
func requireSound(t require.TestingT, m *mime.Message) {
	line := func(s string) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00") {
			require.Fail(t, "not one line of UTF-8", "%q", s)
		}
	}
	line(m.Subject)
	line(m.MessageID)
	line(m.InReplyTo)
	for _, id := range m.References {
		line(id)
	}
	for _, list := range [][]mime.Address{m.From, m.Sender, m.ReplyTo, m.To, m.Cc, m.Bcc} {
		for _, a := range list {
			line(a.Name)
			line(a.Email)
		}
	}
	require.True(t, utf8.ValidString(m.Text))
	require.True(t, utf8.ValidString(m.HTML))
	require.True(t, utf8.ValidString(htmltext.Text(m.HTML)))
	for _, d := range m.Defects {
		line(d.String())
	}
	requireSoundPart(t, m.Root, line)
}

func requireSoundPart(t require.TestingT, p *mime.Part, line func(string)) {
	for _, f := range p.Header {
		line(f.Name)
		line(f.Value)
	}
	for _, s := range []string{p.Path, p.ContentType, p.Disposition, p.Filename, p.ContentID} {
		line(s)
	}
	for name, value := range p.Params {
		line(name)
		line(value)
	}
	require.NotEmpty(t, p.ContentType)
	require.True(t, utf8.ValidString(p.Text()))
	if p.Message != nil {
		requireSound(t, p.Message)
	}
	for _, child := range p.Parts {
		requireSoundPart(t, child, line)
	}
}
