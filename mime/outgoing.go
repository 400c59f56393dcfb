package mime

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The errors of [Outgoing.Build]; test for them with errors.Is. All but the first two are wrapped in a [*FieldError].
var (
	// ErrNoRecipient reports that To, Cc and Bcc are all empty.
	ErrNoRecipient = errors.New("no recipient: To, Cc or Bcc must name one")
	// ErrNoContent reports that there is no text, no HTML and no attachment.
	ErrNoContent = errors.New("no content: Text, HTML or an attachment is needed")
	// ErrLineBreak reports that a value contains CR, LF or NUL, with which it could inject a header.
	ErrLineBreak = errors.New("has CR, LF or NUL in it")
	// ErrInvalid reports that a value is not valid in its field.
	ErrInvalid = errors.New("is not valid")
)

// A FieldError says which field of an [Outgoing] cannot be built, and why. Values are never cleaned: a bad one may be an
// attack, and the caller has to know.
type FieldError struct {
	Field string // as in Go: "To[1].Email", "Header[0].Name", "Attachments[2].Filename"
	Err   error  // wraps ErrLineBreak or ErrInvalid
}

// Error names the field and what is wrong with it.
func (e *FieldError) Error() string { return "mime: build message: " + e.Field + " " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// An Outgoing is a message to build. From, a recipient, and a text or an attachment are required; other empty fields are
// left out of the message.
type Outgoing struct {
	From    Address
	ReplyTo []Address
	To      []Address
	Cc      []Address
	// Bcc is written into the message: Gmail delivers to it and takes it out. Other ways of sending may not.
	Bcc     []Address
	Subject string

	// Date is when the message was written. Zero leaves it to the server that submits it (RFC 6409, section 8.2).
	Date time.Time
	// MessageID, InReplyTo and References are ids with or without angle brackets; blanks around and in them are
	// dropped. An empty MessageID leaves it to the server (RFC 6409, section 8.3).
	MessageID  string
	InReplyTo  string
	References []string

	// Header holds further fields, in order, such as Auto-Submitted. Fields that Build writes itself are refused.
	Header []Field

	// Text and HTML are the body, in UTF-8 with lines ending in LF or CRLF; both make a multipart/alternative.
	Text        string
	HTML        string
	Attachments []Attachment
}

// An Attachment is a file to be sent with an [Outgoing].
type Attachment struct {
	Filename    string // shown to the recipient; empty is allowed
	ContentType string // with parameters, if any; empty means application/octet-stream
	Content     []byte
	// Inline asks for the file to be shown within the message instead of behind it. With a ContentID, which the HTML
	// refers to as cid:ContentID (RFC 2392), it becomes part of a multipart/related.
	Inline    bool
	ContentID string // with or without angle brackets
}

// RawURL encodes a message in base64url without padding, as the Gmail API expects a raw message.
func RawURL(message []byte) string { return base64.RawURLEncoding.EncodeToString(message) }

// validate checks everything that Build writes into a header.
func (o *Outgoing) validate() error {
	if len(o.To)+len(o.Cc)+len(o.Bcc) == 0 {
		return fmt.Errorf("mime: build message: %w", ErrNoRecipient)
	}
	if o.Text == "" && o.HTML == "" && len(o.Attachments) == 0 {
		return fmt.Errorf("mime: build message: %w", ErrNoContent)
	}
	v := validator{}
	v.address("From", o.From)
	for _, list := range o.addressLists() {
		for i, a := range list.addresses {
			v.address(fmt.Sprintf("%s[%d]", list.field, i), a)
		}
	}
	v.text("Subject", o.Subject)
	v.id("MessageID", o.MessageID)
	v.id("InReplyTo", o.InReplyTo)
	for i, id := range o.References {
		v.id(fmt.Sprintf("References[%d]", i), id)
	}
	for i, f := range o.Header {
		v.headerName(fmt.Sprintf("Header[%d].Name", i), f.Name)
		v.text(fmt.Sprintf("Header[%d].Value", i), f.Value)
	}
	v.encoded("Text", o.Text)
	v.encoded("HTML", o.HTML)
	for i, a := range o.Attachments {
		field := fmt.Sprintf("Attachments[%d].", i)
		v.text(field+"Filename", a.Filename)
		v.mediaType(field+"ContentType", a.ContentType)
		v.id(field+"ContentID", a.ContentID)
	}
	return v.err
}

// An addressList is one of the address fields of an Outgoing.
type addressList struct {
	field, header string
	addresses     []Address
}

func (o *Outgoing) addressLists() []addressList {
	return []addressList{
		{"ReplyTo", "Reply-To", o.ReplyTo}, {"To", "To", o.To}, {"Cc", "Cc", o.Cc}, {"Bcc", "Bcc", o.Bcc},
	}
}

// A validator keeps the first error.
type validator struct{ err error }

func (v *validator) fail(field string, err error) {
	if v.err == nil {
		v.err = &FieldError{Field: field, Err: err}
	}
}

func (v *validator) invalid(field, value, want string) {
	v.fail(field, fmt.Errorf("%w: %q is not %s", ErrInvalid, excerpt(value), want))
}

func (v *validator) encoded(field, value string) {
	if !utf8.ValidString(value) {
		v.invalid(field, value, "UTF-8")
	}
}

func (v *validator) text(field, value string) {
	if strings.ContainsAny(value, "\r\n\x00") {
		v.fail(field, fmt.Errorf("%w: %.100q", ErrLineBreak, value))
	}
	v.encoded(field, value)
}

func (v *validator) address(field string, a Address) {
	v.text(field+".Name", a.Name)
	v.text(field+".Email", a.Email)
	if !isAddrSpec(a.Email) {
		v.invalid(field+".Email", a.Email, "an address like name@example.com")
	}
}

func (v *validator) id(field, value string) {
	v.text(field, value)
	id := cleanID(value)
	if len(id) > maxToken || strings.ContainsAny(id, "<>") || strings.ContainsFunc(id, unicode.IsControl) {
		v.invalid(field, value, fmt.Sprintf("one id of at most %d bytes", maxToken))
	}
}

func (v *validator) headerName(field, name string) {
	v.text(field, name)
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || c == ':' {
			v.invalid(field, name, "a field name: printable ASCII without blanks and colons (RFC 5322, section 2.2)")
		}
	}
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > 70:
		v.invalid(field, name, "a field name of 1 to 70 bytes")
	case ownFields[lower] || strings.HasPrefix(lower, "content-"):
		v.fail(field, fmt.Errorf("%w: %s is written by Build; set the field of Outgoing instead", ErrInvalid, name))
	}
}

var ownFields = map[string]bool{
	"from": true, "reply-to": true, "to": true, "cc": true, "bcc": true, "subject": true, "date": true, "message-id": true,
	"in-reply-to": true, "references": true, "mime-version": true,
}

func (v *validator) mediaType(field, value string) {
	v.text(field, value)
	if value == "" {
		return
	}
	name, params, ok := parseParams(value)
	if kind, subtype, _ := strings.Cut(name, "/"); !ok || !isToken(kind) || !isToken(subtype) || kind == "multipart" {
		v.invalid(field, value, "a media type such as text/csv; charset=utf-8")
	}
	for name := range params {
		if !isToken(name) {
			v.invalid(field, value, "a media type with parameters")
		}
	}
}

func isToken(s string) bool { return s != "" && len(s) <= 127 && token(s) == s }

// cleanID takes off the angle brackets and all blanks.
func cleanID(id string) string {
	return strings.TrimSuffix(strings.TrimPrefix(stripBlanks(id), "<"), ">")
}

// isAddrSpec reports whether an address is one of RFC 5322, section 3.4.1, in its plain form, or of RFC 6532 with
// characters beyond ASCII.
func isAddrSpec(email string) bool {
	const limit = 320 // RFC 5321, section 4.5.3.1: 64 bytes, an @, 255 bytes
	at := strings.LastIndexByte(email, '@')
	if at <= 0 || len(email) > limit {
		return false
	}
	local, domain := email[:at], email[at+1:]
	if strings.HasPrefix(domain, "[") && strings.HasSuffix(domain, "]") {
		domain = strings.Map(func(r rune) rune {
			if r == ':' {
				return 'x' // an address literal (RFC 5321, section 4.1.3)
			}
			return r
		}, domain[1:len(domain)-1])
	}
	return isDotAtom(domain) && (isDotAtom(local) || isQuotedLocal(local))
}

func isDotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool { return !isAtomRune(r) }) {
			return false
		}
	}
	return true
}

// isAtomRune reports whether r may stand in an atom (RFC 5322, section 3.2.3; RFC 6532, section 3.2).
func isAtomRune(r rune) bool {
	switch {
	case r >= utf8.RuneSelf:
		return r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsControl(r)
	default:
		return isBase64(byte(r)) || strings.ContainsRune("!#$%&'*-=?^_`{|}~", r) // letters, digits, + and /
	}
}

func isQuotedLocal(s string) bool {
	if !strings.HasPrefix(s, `"`) {
		return false
	}
	text, rest, closed := cutQuoted(s)
	return closed && rest == "" && text != "" && !strings.ContainsFunc(text, unicode.IsControl)
}
