package gmailtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/queue"
)

// maxBodySearched bounds the bytes of a message's text whose words are indexed.
const maxBodySearched = 1 << 20

// A wordList has the words of each field of a message, and the values of has:.
type wordList struct {
	fields map[gmailquery.Field][]string
	marks  []string
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

// readWords collects all searchable parts of a message.
func readWords(message *rawmail.Part) wordList {
	w := wordList{fields: map[gmailquery.Field][]string{}}
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
func (w *wordList) addValues(field gmailquery.Field, value string) {
	if field == gmailquery.Subject {
		w.add(field, rawmail.DecodeText(value))
		return
	}
	quoted, begin := false, 0
	for i := range len(value) {
		switch {
		case value[i] == '"' && (i == 0 || value[i-1] != '\\'):
			quoted = !quoted
		case value[i] == ',' && !quoted:
			w.add(field, rawmail.DecodeText(value[begin:i]))
			begin = i + 1
		}
	}
	w.add(field, rawmail.DecodeText(value[begin:]))
}

func (w *wordList) add(field gmailquery.Field, text string) {
	words := gmailquery.Words(text)
	if len(words) > 0 && len(w.fields[field]) > 0 {
		w.fields[field] = append(w.fields[field], gmailquery.Gap)
	}
	w.fields[field] = append(w.fields[field], words...)
}

// addPart adds the text and the file names of a part and its subparts. An attached message is a file.
func (w *wordList) addPart(p *rawmail.Part, left *int) {
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

func (w *wordList) markLinks(source string) {
	for _, link := range links {
		if strings.Contains(source, link.address) {
			w.mark(link.mark)
		}
	}
}

func (w *wordList) mark(name string) {
	if len(without([]string{name}, w.marks)) > 0 {
		w.marks = append(w.marks, name)
	}
}

// insert makes the message searchable.
func (w *wordList) insert(ctx context.Context, tx queue.Tx, seq int64) error {
	text := func(f gmailquery.Field) string { return strings.Join(w.fields[f], " ") }
	_, err := tx.ExecContext(ctx, insertWords, seq, text(gmailquery.Sender), text(gmailquery.Recipient), text(gmailquery.CC),
		text(gmailquery.BCC), text(gmailquery.Subject), text(gmailquery.Body), text(gmailquery.Filename))
	if err != nil {
		return fmt.Errorf("insert words: %w", err)
	}
	if len(w.fields[gmailquery.List])+len(w.fields[gmailquery.Delivered]) > 0 {
		if _, err := tx.ExecContext(ctx, insertKeys, seq, text(gmailquery.List), text(gmailquery.Delivered)); err != nil {
			return fmt.Errorf("insert words: %w", err)
		}
	}
	for _, mark := range w.marks {
		if _, err := tx.ExecContext(ctx, insertMark, seq, mark); err != nil {
			return fmt.Errorf("insert marks: %w", err)
		}
	}
	return nil
}

// indexAll makes messages searchable that were inserted before the server could search for words.
func (s *Server) indexAll(ctx context.Context) error {
	for {
		left, err := s.indexSome(ctx)
		if err != nil || !left {
			return err
		}
	}
}

func (s *Server) indexSome(ctx context.Context) (left bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		var rows []struct {
			Seq int64  `db:"seq"`
			Raw []byte `db:"raw"`
		}
		if err := dbquery.Select(ctx, tx, &rows, selectUnindexed, batchMessages); err != nil {
			return err
		}
		left = len(rows) > 0
		for _, row := range rows {
			message := rawmail.Parse(row.Raw)
			words := readWords(message)
			if err := words.insert(ctx, tx, row.Seq); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, updateIndexed, subjectKey(rawmail.DecodeText(message.Header.Get("Subject"))), row.Seq); err != nil {
				return err
			}
		}
		return nil
	})
	return left, err
}
