package rules

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// A view is a message under evaluation. A value that several rules test is read once, when first needed.
type view struct {
	code  *code
	msg   *postroom.Message
	now   time.Time
	facts *Facts

	results  []uint8   // of each atom
	readings []reading // of each source

	bodyRead  *htmltext.Body
	fields    mime.Header
	listFacts *mime.List
	auth      *authres.Findings
}

// reset prepares the view for a message.
func (v *view) reset(k *code, msg *postroom.Message, now time.Time, f *Facts) {
	if v.code != k {
		v.results, v.readings = make([]uint8, len(k.atoms)), make([]reading, len(k.sources))
	}
	v.code, v.msg, v.now, v.facts = k, msg, now, f
}

// release forgets the message, and keeps the memory for the next one.
func (v *view) release() {
	clear(v.results)
	for i := range v.readings {
		r := &v.readings[i]
		clear(r.raw)
		clear(r.folded)
		*r = reading{raw: r.raw[:0], folded: r.folded[:0]}
	}
	*v = view{code: v.code, results: v.results, readings: v.readings}
}

// body returns what a person sees of the message.
func (v *view) body() *htmltext.Body {
	if v.bodyRead == nil {
		v.bodyRead = v.facts.bodies.Body(v.msg)
	}
	return v.bodyRead
}

// oneLine collapses spaces and line ends, so that a phrase is found across them.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// phrase is a value to be found in one line; a blank at its edges asks for one there.
func phrase(value string) string {
	words := oneLine(value)
	before, after := strings.TrimLeftFunc(value, unicode.IsSpace), strings.TrimRightFunc(value, unicode.IsSpace)
	if len(before) < len(value) {
		words = " " + words
	}
	if len(after) < len(value) && after != "" {
		words += " "
	}
	return words
}

// hasAttachment leaves out the pictures of an HTML body, signatures, reports, and calendars without a name: Gmail shows
// those with one as attachments.
//
// QUIRK: Apple Mail marks attached documents as inline; they have a file name and no Content-ID.
func (v *view) hasAttachment() bool {
	return slices.ContainsFunc(v.msg.Attachments, func(a postroom.Attachment) bool {
		if a.Kind == string(mime.KindCalendar) {
			return a.Filename != ""
		}
		return (a.Kind == "" || a.Kind == string(mime.KindUnread)) && (!a.Inline || (a.ContentID == "" && a.Filename != ""))
	})
}

// age is measured from when the provider received the message: the sender chooses the Date field.
func (v *view) age() (age time.Duration, known bool) {
	return v.now.Sub(v.msg.ReceivedAt), !v.msg.ReceivedAt.IsZero()
}

// lowerASCII lowers only A to Z. With Unicode's case folding, a domain with a Kelvin sign (U+212A) would equal one
// with a k.
func lowerASCII(s string) string {
	first := strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if first < 0 {
		return s
	}
	lower := []byte(s)
	for i := first; i < len(lower); i++ {
		if c := lower[i]; c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}

// MessageOf returns a message that package mime has read, for mail that is in no store. Fields that only a provider
// knows are zero: ids, the account, labels, and the time of receipt.
func MessageOf(m *mime.Message) *postroom.Message { return readmail.Message(m) }

// DomainOf returns the text after the last @, in the form in which domains are compared; empty when there is no @.
func DomainOf(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return ""
	}
	return mailname.Domain(email[at+1:])
}
