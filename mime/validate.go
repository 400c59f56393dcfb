package mime

import (
	"fmt"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// validate checks everything that Build writes into a header.
func (o *Outgoing) validate() error {
	if len(o.To)+len(o.Cc)+len(o.Bcc) == 0 && !o.Draft {
		return fmt.Errorf("mime: build message: %w", ErrNoRecipient)
	}
	v := validator{}
	v.people(o)
	v.text("Subject", o.Subject)
	v.id("MessageID", o.MessageID)
	v.id("InReplyTo", o.InReplyTo)
	for i, id := range o.References {
		v.id(fmt.Sprintf("References[%d]", i), id)
	}
	v.unsubscribe(o)
	for i, f := range o.Header {
		v.headerName(fmt.Sprintf("Header[%d].Name", i), f.Name)
		v.text(fmt.Sprintf("Header[%d].Value", i), f.Value)
		v.addressField(fmt.Sprintf("Header[%d].Value", i), f, o)
	}
	v.boundary(o.Boundary)
	v.encoded("Text", o.Text)
	v.encoded("HTML", o.HTML)
	v.calendar(o.Calendar)
	v.report(o)
	for i := range o.Attachments {
		v.attachment(fmt.Sprintf("Attachments[%d].", i), &o.Attachments[i])
	}
	return v.err
}

// people checks the addresses.
func (v *validator) people(o *Outgoing) {
	switch {
	case len(o.From) == 0 && !o.Draft:
		v.fail("From", fmt.Errorf("%w: it names no author", ErrInvalid))
	case len(o.From) > 1 && o.Sender == Address{}:
		v.fail("Sender", fmt.Errorf("%w: several authors need one (RFC 5322, section 3.6.2)", ErrInvalid))
	}
	if (o.Sender != Address{}) {
		v.address("Sender", o.Sender, o)
		if o.Sender.Group != "" {
			v.invalid("Sender.Group", o.Sender.Group, "empty: a sender is in no group")
		}
	}
	for _, list := range o.addressLists() {
		for i, a := range list.addresses {
			v.address(fmt.Sprintf("%s[%d]", list.field, i), a, o)
		}
	}
}

// addressFields are fields of addresses that Header may hold.
var addressFields = []string{
	"Resent-From", "Resent-Sender", "Resent-To", "Resent-Cc", "Resent-Bcc", "Return-Receipt-To", "Errors-To",
	"Mail-Followup-To", "Mail-Reply-To", "X-Confirm-Reading-To",
}

func isAddressField(name string) bool {
	return slices.ContainsFunc(addressFields, func(other string) bool { return strings.EqualFold(name, other) })
}

func (v *validator) addressField(field string, f Field, o *Outgoing) {
	if !isAddressField(f.Name) {
		return
	}
	addresses, ok := ParseAddresses(f.Value)
	if !ok || len(addresses) == 0 {
		v.invalid(field, f.Value, "a list of addresses")
	}
	for _, a := range addresses {
		v.address(field, a, o)
	}
}

func (v *validator) unsubscribe(o *Outgoing) {
	hasHTTPS := false
	for i, link := range o.ListUnsubscribe {
		field := fmt.Sprintf("ListUnsubscribe[%d]", i)
		v.text(field, link)
		u, err := url.Parse(link)
		if err != nil || !slices.Contains([]string{"https", "http", "mailto"}, u.Scheme) || u.Host == "" && u.Opaque == "" ||
			len(link) > maxToken || strings.ContainsFunc(link, func(r rune) bool {
			return r <= ' ' || r >= 0x7f || r == '<' || r == '>'
		}) {
			v.invalid(field, link, "a link in ASCII: https, http or mailto")
			return
		}
		hasHTTPS = hasHTTPS || u.Scheme == "https"
	}
	if o.OneClick && !hasHTTPS {
		v.fail("OneClick", fmt.Errorf("%w: ListUnsubscribe has no https link (RFC 8058, section 3.1)", ErrInvalid))
	}
}

func (v *validator) boundary(s string) {
	if len(s) > 60 || strings.ContainsFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'()+_,-./:=?", r)
	}) {
		v.invalid("Boundary", s, "at most 60 characters that may stand in a boundary (RFC 2046, section 5.1.1)")
	}
}

func (v *validator) calendar(c *Calendar) {
	if c == nil {
		return
	}
	v.encoded("Calendar.Text", c.Text)
	method, found := c.objectMethod()
	switch {
	case !strings.HasPrefix(strings.TrimSpace(c.Text), "BEGIN:VCALENDAR"):
		v.invalid("Calendar.Text", c.Text, "an iCalendar object, which begins with BEGIN:VCALENDAR")
	case c.Method != "" && !isToken(c.Method):
		v.invalid("Calendar.Method", c.Method, "a method such as REQUEST")
	case c.Method != "" && (!found || !strings.EqualFold(c.Method, method)):
		v.fail("Calendar.Method", fmt.Errorf("%w: the object's METHOD is %q, not %q", ErrInvalid,
			fieldvalue.Excerpt(method), c.Method))
	case found && !isToken(method):
		v.invalid("Calendar.Text", method, "a calendar with a METHOD such as REQUEST")
	}
}

// objectMethod is the METHOD property of the object (RFC 5545, section 3.7.2).
func (c *Calendar) objectMethod() (method string, found bool) {
	for line := range strings.Lines(c.Text) {
		name, value, isProperty := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		name, _, _ = strings.Cut(name, ";")
		if isProperty && strings.EqualFold(name, "METHOD") {
			return strings.ToUpper(strings.TrimSpace(value)), true
		}
		if strings.EqualFold(name, "BEGIN") && !strings.EqualFold(strings.TrimSpace(value), "VCALENDAR") {
			break // properties of the calendar stand before its components
		}
	}
	return "", false
}

func (v *validator) attachment(field string, a *Attachment) {
	v.text(field+"Filename", a.Filename)
	v.mediaType(field+"ContentType", a.ContentType)
	v.id(field+"ContentID", a.ContentID)
	if a.Open != nil && a.Content != nil {
		v.fail(field+"Open", fmt.Errorf("%w: it stands beside Content; set one of them", ErrInvalid))
	}
}

// An addressList is one of the address fields of an Outgoing.
type addressList struct {
	field, header string
	addresses     []Address
}

func (o *Outgoing) addressLists() []addressList {
	return []addressList{
		{"From", "From", o.From}, {"ReplyTo", "Reply-To", o.ReplyTo}, {"To", "To", o.To}, {"Cc", "Cc", o.Cc},
		{"Bcc", "Bcc", o.Bcc}, {"ReceiptTo", "Disposition-Notification-To", o.ReceiptTo},
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
	v.fail(field, fmt.Errorf("%w: %q is not %s", ErrInvalid, fieldvalue.Excerpt(value), want))
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

func (v *validator) address(field string, a Address, o *Outgoing) {
	v.text(field+".Name", a.Name)
	v.text(field+".Group", a.Group)
	v.text(field+".Email", a.Email)
	if a.isEmptyGroup() {
		return
	}
	if !isAddrSpec(a.Email) {
		v.invalid(field+".Email", a.Email, "an address like name@example.com")
		return
	}
	if _, err := o.encodeEmail(a.Email); err != nil {
		v.fail(field+".Email", err)
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
	"in-reply-to": true, "references": true, "mime-version": true, "sender": true, "list-unsubscribe": true,
	"list-unsubscribe-post": true, "disposition-notification-to": true,
}

func (v *validator) mediaType(field, value string) {
	v.text(field, value)
	if value == "" {
		return
	}
	name, params, ok := parseParams(value, maxItems, nil)
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

// cleanID removes the angle brackets and all blanks.
func cleanID(id string) string {
	return strings.TrimSuffix(strings.TrimPrefix(fieldvalue.WithoutBlanks(id), "<"), ">")
}

// isAddrSpec reports whether an address has the plain form of RFC 5322, section 3.4.1, or that of RFC 6532 with
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
	text, rest, closed := fieldvalue.CutQuoted(s)
	return closed && rest == "" && text != "" && !strings.ContainsFunc(text, unicode.IsControl)
}
