package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

const plainPart, htmlPart = "Content-Type: text/plain\n\n", "Content-Type: text/html\n\n"

// multipart is a message, or a part of one, with parts.
func multipart(kind, boundary string, parts ...string) string {
	between := "\n--" + boundary + "\n"
	return "Content-Type: multipart/" + kind + "; boundary=" + boundary + "\n\n" + between + strings.Join(parts, between) +
		"\n--" + boundary + "--\n"
}

// A text that has no other form is in both bodies, in its place (RFC 8621, section 4.1.4).
func TestTextsAreInBothBodies(t *testing.T) {
	const inner = "Content-Type: message/rfc822\nContent-Disposition: inline\n\nSubject: x\n"
	for name, c := range map[string]struct{ raw, want string }{
		"a plain letter, a disclaimer in HTML": {multipart("mixed", "b", plainPart+"wire 5000 <EUR>", htmlPart+"<small>confidential</small>"), "wire 5000 <EUR> confidential"},
		"HTML, a plain footer":                 {multipart("mixed", "b", htmlPart+"<p>letter</p>", plainPart+"A list"), "letter A list"},
		"both forms, a plain footer":           {multipart("mixed", "b", multipart("alternative", "c", plainPart+"letter", htmlPart+"<p>letter</p>"), plainPart+"A list"), "letter A list"},
		"plain, then one form":                 {multipart("mixed", "b", plainPart+"one", multipart("alternative", "c", htmlPart+"<p>two</p>")), "one two"},
		"a plain message inline":               {multipart("mixed", "b", htmlPart+"<p>FYI</p>", inner+plainPart+"order cancelled"), "FYI order cancelled"},
		"an HTML message inline":               {multipart("mixed", "b", plainPart+"FYI", inner+htmlPart+"<p>order cancelled</p>"), "FYI order cancelled"},
		"texts within a form":                  {multipart("alternative", "b", plainPart+"one two", multipart("mixed", "c", htmlPart+"<p>one</p>", plainPart+"two")), "one two"},
		"related, and plain":                   {multipart("mixed", "b", multipart("related", "c", htmlPart+"<p>one</p>"), plainPart+"two"), "one two"},
	} {
		t.Run(name, func(t *testing.T) {
			m := parsed(t, c.raw)
			words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
			require.Equal(t, c.want, words(m.Text))
			require.Equal(t, c.want, words(htmltext.Text(m.HTML)))
			body := htmltext.ReadBody(m.Text, m.HTML)
			require.Equal(t, c.want, words(body.Text))
			require.Zero(t, body.Words.OnlyPlain+body.Words.OnlyHTML, "the bodies say the same")
			require.Empty(t, body.Hidden)
		})
	}
}

// TestNoPartSwallowsTheNext: clients show each part by itself, whatever does not end in the one before.
func TestNoPartSwallowsTheNext(t *testing.T) {
	for name, open := range map[string]string{
		"a comment": "<!--", "a style sheet": "<style>", "a title": "<title>", "a text box": "<textarea>",
		"a hidden element": `<div style="display:none">`, "a script": "<script>", "a tag": `<p title="`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, next := range []string{plainPart + "Please wire 5000 EUR", htmlPart + "<p>Please wire 5000 EUR"} {
				m := parsed(t, multipart("mixed", "b", htmlPart+"<p>Newsletter</p>"+open, next))
				require.Equal(t, []string{"Newsletter", "Please wire 5000 EUR"},
					strings.FieldsFunc(htmltext.Text(m.HTML), func(r rune) bool { return r == '\n' }))
			}
		})
	}
}

// Where all texts have one form, the other body stays empty.
func TestBodiesOfOneForm(t *testing.T) {
	m := parsed(t, multipart("mixed", "b", plainPart+"one", plainPart+"two"))
	require.Equal(t, "one\ntwo", m.Text)
	require.Empty(t, m.HTML)
	m = parsed(t, multipart("mixed", "b", htmlPart+"<p>one", htmlPart+"<p>two"))
	require.Empty(t, m.Text)
	require.Equal(t, "<p>one\n<p>two", m.HTML)
}

// A text is repeated in the other form up to 1 MiB in all: no message becomes many times larger.
func TestConvertedTextsAreBounded(t *testing.T) {
	m := parsed(t, multipart("mixed", "b", plainPart+strings.Repeat("x", 3<<20),
		plainPart+strings.Repeat("y", 3<<20), htmlPart+"<p>end"))
	require.Greater(t, len(m.HTML), 1<<20)
	require.Less(t, len(m.HTML), 2<<20)
	require.Contains(t, m.HTML, "end")
}

// A form that this package does not read is no file, unless it says that it is one.
func TestOtherFormsAreNoFiles(t *testing.T) {
	for _, kind := range []string{"text/x-amp-html", "text/watch-html", "text/enriched", "text/richtext"} {
		m := parsed(t, multipart("alternative", "b", plainPart+"one",
			"Content-Type: "+kind+"\n\n<i>one</i>", htmlPart+"<p>one"))
		require.Empty(t, m.Attachments, kind)
		require.Equal(t, "one", strings.TrimSpace(m.Text))
		m = parsed(t, multipart("alternative", "b", plainPart+"one", "Content-Type: "+kind+"; name=x.txt\n\n<i>one</i>"))
		require.Len(t, m.Attachments, 1, kind)
	}
	m := parsed(t, multipart("alternative", "b", plainPart+"one", "Content-Type: text/calendar\n\nBEGIN:VCALENDAR\n"))
	require.Len(t, m.Attachments, 1)
	require.Equal(t, mime.KindCalendar, m.Attachments[0].Kind())
}
