package rawmail

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom/mime/htmltext"
)

const (
	snippetLength = 200      // in characters
	snippetSource = 64 << 10 // in bytes of a body
)

// Snippet returns the beginning of a message's text in one line, HTML-escaped like Gmail's.
func Snippet(p *Part) string {
	text := ""
	if plain := p.find("text/plain"); plain != nil {
		text = plain.Text()
	} else if page := p.find("text/html"); page != nil {
		text = htmltext.Text(page.Text())
	}
	text = strings.Join(strings.Fields(text[:min(len(text), snippetSource)]), " ")
	if utf8.RuneCountInString(text) > snippetLength {
		text = string([]rune(text)[:snippetLength])
	}
	return html.EscapeString(strings.ToValidUTF8(text, ""))
}

// find returns the first part of the type that is not an attachment.
func (p *Part) find(mediaType string) *Part {
	if p.Type == mediaType && len(p.Parts) == 0 && p.Filename() == "" {
		return p
	}
	for _, child := range p.Parts {
		if found := child.find(mediaType); found != nil {
			return found
		}
	}
	return nil
}
