package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	gomessage "github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // beyond UTF-8
	"github.com/emersion/go-message/mail"
	"github.com/jhillyerd/enmime/v2"
	"github.com/stretchr/testify/require"
	gomail "github.com/wneessen/go-mail"

	"github.com/postroom-go/postroom/mime"
)

// A mailReader reads a message as a program needs it: subject, text, HTML, and the bytes of all files, decoded.
type mailReader struct {
	name string
	read func(raw []byte) (mailRead, error)
}

// mailRead is what was read; the lengths keep a reader from leaving work out.
type mailRead struct {
	subject           string
	text, html, files int
}

var mailReaders = []mailReader{
	{"postroom", func(raw []byte) (mailRead, error) {
		m, err := mime.ParseBytes(raw, nil)
		if err != nil {
			return mailRead{}, err
		}
		found := mailRead{subject: m.Subject, text: len(m.Text), html: len(m.HTML)}
		for _, p := range m.Attachments {
			found.files += len(p.Content)
		}
		return found, nil
	}},
	{"enmime", func(raw []byte) (mailRead, error) {
		m, err := enmime.ReadEnvelope(bytes.NewReader(raw))
		if err != nil {
			return mailRead{}, err
		}
		found := mailRead{subject: m.GetHeader("Subject"), text: len(m.Text), html: len(m.HTML)}
		for _, p := range m.Attachments {
			found.files += len(p.Content)
		}
		return found, nil
	}},
	{"go-message", readGoMessage},
	{"go-mail", func(raw []byte) (mailRead, error) {
		m, err := gomail.EMLToMsgFromReader(bytes.NewReader(raw))
		if err != nil {
			return mailRead{}, err
		}
		found := mailRead{subject: strings.Join(m.GetGenHeader(gomail.HeaderSubject), "")}
		for _, p := range m.GetParts() {
			content, err := p.GetContent()
			if err != nil {
				return found, err
			}
			if p.GetContentType() == gomail.TypeTextHTML {
				found.html += len(content)
			} else {
				found.text += len(content)
			}
		}
		for _, f := range m.GetAttachments() {
			n, err := f.Writer(io.Discard)
			if err != nil {
				return found, err
			}
			found.files += int(n)
		}
		return found, nil
	}},
}

func readGoMessage(raw []byte) (found mailRead, err error) {
	r, err := mail.CreateReader(bytes.NewReader(raw))
	if err != nil && !gomessage.IsUnknownCharset(err) {
		return found, err
	}
	if found.subject, err = r.Header.Subject(); err != nil {
		return found, err
	}
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		content, err := io.ReadAll(p.Body)
		if err != nil {
			return found, err
		}
		inline, isInline := p.Header.(*mail.InlineHeader)
		if !isInline {
			found.files += len(content)
			continue
		}
		if contentType, _, _ := inline.ContentType(); contentType == "text/html" {
			found.html += len(content)
		} else {
			found.text += len(content)
		}
	}
}

// mails are the messages that are read: one of text, a newsletter, and one with a file.
func mails(t testing.TB) map[string][]byte {
	t.Helper()
	from, to := []mime.Address{{Name: "J\u00fcrgen", Email: "juergen@example.com"}},
		[]mime.Address{{Name: "Bob", Email: "bob@example.org"}}
	paragraph := "The rates for the next year are as we discussed, and the café is open.\n"
	built := map[string]mime.Outgoing{
		"text of 2 KB":        {Text: strings.Repeat(paragraph, 28)},
		"newsletter of 60 KB": {Text: strings.Repeat(paragraph, 120), HTML: strings.Repeat("<tr><td style=\"color:#333\">"+paragraph+"</td></tr>\n", 500)},
		"file of 5 MB": {
			Text: paragraph, Attachments: []mime.Attachment{{Filename: "r\u00e9sum\u00e9.pdf", ContentType: "application/pdf",
				Content: make([]byte, 5<<20)}},
		},
	}
	raws := map[string][]byte{}
	for name, o := range built {
		o.From, o.To, o.Subject, o.MessageID = from, to, "Gr\u00fc\u00dfe aus K\u00f6ln", "m1@example.com"
		raw, err := o.Build()
		require.NoError(t, err)
		raws[name] = raw
	}
	return raws
}

// All read the same from each message, up to line ends: who leaves work out would be quick.
func TestMailReadersReadTheSame(t *testing.T) {
	for name, raw := range mails(t) {
		want, err := mailReaders[0].read(raw)
		require.NoError(t, err)
		for _, r := range mailReaders[1:] {
			got, err := r.read(raw)
			require.NoError(t, err, "%s: %s", r.name, name)
			require.Equal(t, want.files, got.files, "%s: %s", r.name, name)
			require.InEpsilon(t, want.text, got.text, 0.05, "%s: %s", r.name, name)
			require.InDelta(t, want.html, got.html, 0.05*float64(want.html), "%s: %s", r.name, name)
		}
	}
}

// BenchmarkReadMail is run by:
//
//	go test -run '^$' -bench ReadMail -count 6 .
func BenchmarkReadMail(b *testing.B) {
	for _, name := range []string{"text of 2 KB", "newsletter of 60 KB", "file of 5 MB"} {
		raw := mails(b)[name]
		for _, r := range mailReaders {
			b.Run(name+"/"+r.name, func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.read(raw); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
