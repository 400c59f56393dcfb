package rawmail

import (
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// maxBodySearched bounds the bytes of a message's text whose words are indexed.
const maxBodySearched = 1 << 20

// A WordList has the words of each field of a message, and the values of has:.
type WordList struct {
	Fields map[gmailquery.Field][]string
	Marks  []string
}

// wordFields are the header fields of the fields in queries.
var wordFields = []struct {
	field  gmailquery.Field
	header []string
}{
	{gmailquery.Sender, []string{"From"}},
	{gmailquery.Recipient, []string{"To", "Cc", "Bcc"}},
	{gmailquery.CC, []string{"Cc"}},
	{gmailquery.BCC, []string{"Bcc"}},
	{gmailquery.Subject, []string{"Subject"}},
	{gmailquery.List, []string{"List-ID", "List-Post"}},
	{gmailquery.Delivered, []string{"Delivered-To", "X-Delivered-To"}},
}

// ReadWords collects all searchable parts of a message.
func ReadWords(message *Part) WordList {
	w := WordList{Fields: map[gmailquery.Field][]string{}}
	for _, f := range wordFields {
		for _, name := range f.header {
			for _, value := range message.Header.All(name) {
				w.addValues(f.field, value)
			}
		}
	}
	left := maxBodySearched
	w.addPart(message, &left)
	return w
}

// addValues adds the value of a header field. Commas separate addresses, except within quotes; a subject is one value.
func (w *WordList) addValues(field gmailquery.Field, value string) {
	if field == gmailquery.Subject {
		w.add(field, DecodeText(value))
		return
	}
	quoted, begin := false, 0
	for i := range len(value) {
		switch {
		case value[i] == '"' && (i == 0 || value[i-1] != '\\'):
			quoted = !quoted
		case value[i] == ',' && !quoted:
			w.add(field, DecodeText(value[begin:i]))
			begin = i + 1
		}
	}
	w.add(field, DecodeText(value[begin:]))
}

func (w *WordList) add(field gmailquery.Field, text string) {
	words := gmailquery.Words(text)
	if len(words) > 0 && len(w.Fields[field]) > 0 {
		w.Fields[field] = append(w.Fields[field], gmailquery.Gap)
	}
	w.Fields[field] = append(w.Fields[field], words...)
}

// addPart adds the text and the file names of a part and its subparts. An attached message is a file.
func (w *WordList) addPart(p *Part, left *int) {
	name := p.Filename()
	w.add(gmailquery.Filename, name)
	if p.IsAttachment() {
		w.mark("attachment")
	}
	isText := p.Type == "text/plain" || p.Type == "text/html"
	switch {
	case p.Type == "message/rfc822":
	case isText && name == "" && len(p.Parts) == 0 && *left > 0:
		source := p.Text()
		w.markLinks(source)
		text := source
		if p.Type == "text/html" {
			text = htmltext.Text(source)
		}
		text = text[:min(len(text), *left)]
		*left -= len(text)
		w.add(gmailquery.Body, text)
	default:
		for _, child := range p.Parts {
			w.addPart(child, left)
		}
	}
}

// links match addresses of files at Google and of videos.
var links = []struct{ mark, address string }{
	{"drive", "//drive.google.com/"},
	{"document", "//docs.google.com/document/"},
	{"spreadsheet", "//docs.google.com/spreadsheets/"},
	{"presentation", "//docs.google.com/presentation/"},
	{"youtube", "youtube.com/watch"},
	{"youtube", "//youtu.be/"},
}

func (w *WordList) markLinks(source string) {
	for _, link := range links {
		if strings.Contains(source, link.address) {
			w.mark(link.mark)
		}
	}
}

func (w *WordList) mark(name string) {
	if !slices.Contains(w.Marks, name) {
		w.Marks = append(w.Marks, name)
	}
}
