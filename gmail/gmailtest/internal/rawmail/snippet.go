package rawmail

import (
	"html"
	"strings"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"
)

const (
	snippetLength = 200      // in characters
	snippetSource = 64 << 10 // in bytes: how much of a body is looked at
)

// Snippet is the beginning of a message's text in one line, HTML-escaped as Gmail gives it.
func Snippet(p *Part) string {
	text := ""
	if plain := p.find("text/plain"); plain != nil {
		text = plain.Text()
	} else if page := p.find("text/html"); page != nil {
		text = visibleText(page.Text())
	}
	text = strings.Join(strings.Fields(text[:min(len(text), snippetSource)]), " ")
	if utf8.RuneCountInString(text) > snippetLength {
		text = string([]rune(text)[:snippetLength])
	}
	return html.EscapeString(strings.ToValidUTF8(text, ""))
}

// find returns the first part of the type that is no attachment.
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

// visibleText is the text of a page without its tags, styles and scripts.
func visibleText(page string) string {
	var text strings.Builder
	tokens := nethtml.NewTokenizer(strings.NewReader(page))
	hidden := 0
	for text.Len() < snippetSource {
		kind := tokens.Next()
		if kind == nethtml.ErrorToken {
			break
		}
		name, _ := tokens.TagName()
		switch kind {
		case nethtml.StartTagToken:
			if isHidden(string(name)) {
				hidden++
			}
			text.WriteByte(' ')
		case nethtml.EndTagToken:
			if isHidden(string(name)) && hidden > 0 {
				hidden--
			}
		case nethtml.TextToken:
			if hidden == 0 {
				text.WriteString(html.UnescapeString(string(tokens.Raw())))
			}
		}
	}
	return text.String()
}

func isHidden(tag string) bool {
	return tag == "style" || tag == "script" || tag == "title"
}
