package mime

import (
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"time"
)

// The errors of [Outgoing.Build] and [Outgoing.WriteTo]; test for them with errors.Is. All but the first are wrapped
// in a [*FieldError].
var (
	// ErrNoRecipient reports that To, Cc and Bcc are all empty and the message is not a draft.
	ErrNoRecipient = errors.New("no recipient: To, Cc or Bcc must name one, unless it is a Draft")
	// ErrLineBreak reports that a value contains CR, LF or NUL, which could inject a header.
	ErrLineBreak = errors.New("has CR, LF or NUL in it")
	// ErrInvalid reports that a value is not valid in its field.
	ErrInvalid = errors.New("is not valid")
)

// A FieldError names a field of an [Outgoing] that cannot be built, and the reason. Values are never cleaned: a bad
// one may be an attack, and the caller must know.
type FieldError struct {
	Field string // as in Go: "To[1].Email", "Header[0].Name", "Attachments[2].Filename"
	Err   error  // wraps ErrLineBreak or ErrInvalid
}

// Error names the field and its fault.
func (e *FieldError) Error() string { return "mime: build message: " + e.Field + " " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// An Outgoing is a message to build. From and a recipient are required, except for a draft. Other empty fields are
// left out of the message.
type Outgoing struct {
	// From are the authors. Several authors require a Sender (RFC 5322, section 3.6.2).
	From []Address
	// Sender sends the message for the authors. The zero Sender is left out.
	Sender  Address
	ReplyTo []Address
	To      []Address
	Cc      []Address
	// Bcc is written into the message, unless OmitBcc is set: Gmail delivers to it and removes it. To send by SMTP, set
	// OmitBcc and send to all of [Outgoing.Recipients].
	Bcc     []Address
	OmitBcc bool
	Subject string

	// Date is when the message was written. If it is zero, the server that submits the message sets it (RFC 6409,
	// section 8.2).
	Date time.Time
	// MessageID, InReplyTo and References are ids with or without angle brackets. Blanks around and in them are removed.
	// One that is not ASCII is left out, unless SMTPUTF8 is set.
	// If MessageID is empty, the server sets it (RFC 6409, section 8.3). See [Outgoing.Answer].
	MessageID  string
	InReplyTo  string
	References []string

	// ListUnsubscribe are the ways to leave a list (RFC 2369, section 3.2): https, http or mailto. OneClick promises
	// that a POST to the https one leaves the list at once (RFC 8058).
	ListUnsubscribe []string
	OneClick        bool
	// ReceiptTo asks for a receipt to these addresses (Disposition-Notification-To; RFC 8098, section 2.1).
	ReceiptTo []Address

	// Header holds further fields, in order, such as Auto-Submitted. Fields that Build writes itself are refused. Fields
	// with addresses, such as Resent-To, are parsed, and only the names in them are encoded.
	Header []Field

	// Text and HTML are the body, in UTF-8 with lines ending in LF or CRLF. Together they make a multipart/alternative.
	// A message without any content has an empty text.
	Text string
	HTML string
	// Calendar is an invitation, or an answer to one, as an alternative form of the body, where calendar programs expect
	// it.
	Calendar *Calendar
	// Bounce makes the message a delivery report (RFC 3464), and Receipt a disposition notification (RFC 8098). Set at
	// most one of them, without Calendar and Attachments. Text is the same report for people. A report must carry
	// Auto-Submitted and have an empty envelope sender. The derived fields of a Bounce (Format, Reason, Code) are not
	// written.
	Bounce  *Bounce
	Receipt *Receipt
	// Returned is the message that the report is about, or only its header. It replaces Bounce.Original.
	Returned []byte

	Attachments []Attachment

	// Draft allows a message without recipients and authors, as mail programs store it before it is sent.
	Draft bool
	// SMTPUTF8 writes international addresses unencoded (RFC 6532); every server on the way must support them (RFC
	// 6531). By default domains are written in ASCII (RFC 5891), and a local part beyond ASCII is refused.
	SMTPUTF8 bool
	// Boundary is the base of the boundaries: at most 60 letters, digits and "'()+_,-./:=?", which must not occur in
	// attached messages. If it is empty, a hash of the content is used.
	Boundary string
}

// A Calendar is an iCalendar object (RFC 5545) of an [Outgoing].
type Calendar struct {
	// Method is that of the object (RFC 5546), such as REQUEST. If it is empty, the object's is used; a different one is
	// refused (RFC 6047, section 2.4).
	Method string
	// Text is the object.
	Text string
}

// An Attachment is a file of an [Outgoing].
type Attachment struct {
	Filename    string // shown to the recipient; empty is allowed
	ContentType string // with parameters, if any; empty means application/octet-stream
	Content     []byte
	// Open, in place of Content, returns a file that is read while the message is written, so that it need not be in
	// memory. It is called once. For message types it is called twice, and must give the same bytes both times.
	Open func() (io.ReadCloser, error)
	// Inline asks for the file to be shown within the message instead of after it. With a ContentID, which the HTML
	// refers to as cid:ContentID (RFC 2392), it becomes part of a multipart/related.
	Inline    bool
	ContentID string // with or without angle brackets
}

// RawURL encodes a message in base64url without padding, as the Gmail API expects a raw message.
func RawURL(message []byte) string { return base64.RawURLEncoding.EncodeToString(message) }

// Recipients returns the distinct addresses of To, Cc and Bcc, in the form of an SMTP envelope (RFC 5321). The error
// is that of Build.
func (o *Outgoing) Recipients() ([]string, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	var recipients []string
	seen := map[string]bool{"": true} // every recipient has an address
	for _, a := range slices.Concat(o.To, o.Cc, o.Bcc) {
		if email, _ := o.encodeEmail(a.Email); !seen[email] {
			seen[email] = true
			recipients = append(recipients, email)
		}
	}
	return recipients, nil
}

// maxReferences is the number of a thread's ids that Answer keeps, including the oldest, which begins the thread.
const maxReferences = 50

// Answer sets InReplyTo and References so that the message follows m in its thread (RFC 5322, section 3.6.4). Ids
// beyond ASCII are left out: not every server takes them.
func (o *Outgoing) Answer(m *Message) {
	references := m.References
	if len(references) == 0 && m.InReplyTo != "" {
		references = []string{m.InReplyTo}
	}
	if m.MessageID != "" {
		references = append(slices.Clone(references), m.MessageID)
	}
	if n := len(references); n > maxReferences {
		references = append(references[:1:1], references[n-maxReferences+1:]...)
	}
	o.InReplyTo, o.References = m.MessageID, slices.DeleteFunc(slices.Clone(references), isForeign)
	if isForeign(o.InReplyTo) {
		o.InReplyTo = ""
	}
}
