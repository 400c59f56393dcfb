package rules

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// A view is a message under evaluation. Values that several rules test are computed once, when first needed.
type view struct {
	msg *postroom.Message
	now time.Time

	domain  *string
	subject *string
	text    *string
	lower   *string
}

func lazily(cell **string, compute func() string) string {
	if *cell == nil {
		s := compute()
		*cell = &s
	}
	return **cell
}

func (v *view) senderDomain() string {
	return lazily(&v.domain, func() string { return domainOf(v.msg.From.Email) })
}

func (v *view) subjectLower() string {
	return lazily(&v.subject, func() string { return strings.ToLower(v.msg.Subject) })
}

// body returns the plain text, or the text of the HTML if there is no plain text.
func (v *view) body() string {
	return lazily(&v.text, func() string {
		if strings.TrimSpace(v.msg.BodyPlain) != "" {
			return v.msg.BodyPlain
		}
		return textOf(v.msg.BodyHTML)
	})
}

func (v *view) bodyLower() string {
	return lazily(&v.lower, func() string { return strings.ToLower(v.body()) })
}

func (v *view) anyHeader(name string, re *regexp.Regexp) bool {
	for _, h := range v.msg.Headers {
		if strings.EqualFold(h.Name, name) && re.MatchString(h.Value) {
			return true
		}
	}
	return false
}

// hasAttachment leaves out the pictures of an HTML body.
//
// QUIRK: Apple Mail marks attached documents as inline; they have a file name and no Content-ID.
func (v *view) hasAttachment() bool {
	return slices.ContainsFunc(v.msg.Attachments, func(a postroom.Attachment) bool {
		return !a.Inline || (a.ContentID == "" && a.Filename != "")
	})
}

// age is measured from when the provider received the message: the sender chooses the Date field.
func (v *view) age() (age time.Duration, known bool) {
	return v.now.Sub(v.msg.ReceivedAt), !v.msg.ReceivedAt.IsZero()
}

func anyAddress(list []postroom.Address, match func(postroom.Address) bool) bool {
	return slices.ContainsFunc(list, match)
}

// lowerASCII lowers only A to Z. Unicode's case folding would let a sender whose domain holds a Kelvin sign
// (U+212A) pass for one with a k.
func lowerASCII(s string) string {
	lower := []byte(s)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// domainOf returns the text after the last @, in lower case; empty when there is no @.
func domainOf(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return ""
	}
	return lowerASCII(email[at+1:])
}

var (
	invisible = regexp.MustCompile(`(?is)<!--.*?-->|<(?:script|style|head|title)\b.*?</(?:script|style|head|title)\s*>`)
	tag       = regexp.MustCompile(`(?s)<[a-zA-Z/!?][^>]*>`)
	blanks    = regexp.MustCompile(`\s+`)
)

// textOf reduces HTML to words for comparing: without markup, styles and comments, blanks collapsed.
func textOf(source string) string {
	words := tag.ReplaceAllString(invisible.ReplaceAllString(source, " "), " ")
	return strings.TrimSpace(blanks.ReplaceAllString(html.UnescapeString(words), " "))
}
