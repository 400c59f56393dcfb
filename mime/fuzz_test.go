package mime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// Whatever the bytes are, reading them ends, refuses nothing, whatever the limits, and keeps the promises.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/parse/*.eml")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(raw)
	}
	for _, build := range hostile {
		f.Add([]byte(build(1000)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		require.Equal(t, len(raw), m.Size)
		requireSound(t, m)
		m, err = mime.ParseBytes(raw, &mime.Limits{Depth: 2, Parts: 3, HeaderFields: 5, HeaderBytes: 200})
		require.NoError(t, err)
		requireSound(t, m)
	})
}

// What Build takes reads back as it was, with the domains of addresses in ASCII; what it refuses, it refuses with a
// reason.
func FuzzBuild(f *testing.F) {
	f.Add("Ada", "ada@example.com", "Hello", "m1@example.com", "X-Note", "value", "Text", "<p>HTML", "a.pdf",
		"text/csv", []byte("x"))
	f.Add("\u00c4da \"Q\"", `"a b"@example.com`, "=?utf-8?q?x?=", "<m1@x>", "X", "\tb", "\u65e5\r\n--x\n", "",
		"\u20ac.txt", "", []byte{0})
	f.Add("a\nBcc: eve@evil.example", "a@b\r\n", "x\x00", ">", "Content-Type", "\xff", "", "", "a\rb",
		"multipart/mixed", []byte{})
	f.Add("a", "a@b\u00fccher.example", "a", "a@b", "X", "a", "a", "a", "a", "text/csv", []byte("a"))
	f.Fuzz(func(t *testing.T, name, email, subject, id, header, value, text, html, filename, contentType string,
		content []byte) {
		o := mime.Outgoing{
			From: []mime.Address{{Name: name, Email: email}}, To: []mime.Address{{Name: name, Email: email}}, Subject: subject,
			Date: time.Unix(0, 0), MessageID: id, InReplyTo: id, References: []string{id, id},
			Header: []mime.Field{{Name: header, Value: value}}, Text: text, HTML: html,
			Attachments: []mime.Attachment{{Filename: filename, ContentType: contentType, ContentID: id, Content: content}},
		}
		raw, err := o.Build()
		if err != nil {
			var field *mime.FieldError
			require.ErrorAs(t, err, &field)
			return
		}
		requireLines(t, raw)
		m, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err)
		require.Equal(t, subject, m.Subject)
		require.Equal(t, inASCII(o.From)[0].Email, m.From[0].Email)
		require.Equal(t, strings.TrimSpace(name), strings.TrimSpace(m.From[0].Name))
		require.Equal(t, m.From, m.To)
		require.Contains(t, m.Header.Values(header), value)
		require.Empty(t, m.Bcc)
		require.Len(t, m.Attachments, 1)
		require.Equal(t, filename, m.Attachments[0].Filename)
	})
}
