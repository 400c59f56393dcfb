package postroom

import (
	"slices"
	"strings"
	"time"
)

// A Message is one mail as rules, models and people see it: parsed, decoded, in UTF-8. The package that fetched it
// keeps the raw bytes.
type Message struct {
	// ID and ThreadID are UUIDs that Postroom assigns and never changes. ProviderID and ProviderThreadID are Gmail's ids.
	ID               string
	AccountID        string
	ThreadID         string
	ProviderID       string
	ProviderThreadID string

	// MessageID, InReplyTo and References are message ids without angle brackets (RFC 5322, section 3.6.4).
	MessageID  string
	InReplyTo  string
	References []string

	From    Address
	ReplyTo []Address
	To      []Address
	Cc      []Address
	Bcc     []Address
	Subject string
	Snippet string

	// Headers are all header fields in the order of the message. Their values are unfolded and decoded.
	Headers []Header

	// LabelIDs are the provider's label ids, sorted.
	LabelIDs []string

	// BodyPlain and BodyHTML are the text as the sender wrote it; either may be empty.
	BodyPlain string
	BodyHTML  string

	Attachments []Attachment

	// ReceivedAt is when the provider received the message. Date is the time that its sender claims; zero when unknown.
	ReceivedAt time.Time
	Date       time.Time

	// Size is the length of the raw message in bytes.
	Size int64
}

// Header returns the values of every header field with the name, in the order of the message; nil if there is none.
// Names are compared without regard to case (RFC 5322, section 1.2.2).
func (m *Message) Header(name string) []string {
	var values []string
	for _, h := range m.Headers {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return values
}

// HasLabel reports whether the message carries the label id.
func (m *Message) HasLabel(id string) bool { return slices.Contains(m.LabelIDs, id) }

// A Header is one field of a message's header section.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Attachment describes a file that came with a message; its content stays with the provider.
type Attachment struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	Inline      bool   `json:"inline,omitempty"`
	ContentID   string `json:"content_id,omitempty"`
	// Kind is empty for a file. Other kinds are parts that people do not call attachments: a "picture" that the HTML
	// shows, a "signature", a "report" about the delivery or the reading of a message, a "calendar". An "unread" part
	// holds parts that were not read because the message is too large or nested too deeply; they may include its text.
	Kind string `json:"kind,omitempty"`
}

// An Address is a mailbox (RFC 5322, section 3.4): a display name, which anyone can choose, and the email address.
type Address struct {
	Name  string `json:"name,omitempty"`
	Email string `json:"email"`
}

// IsZero reports whether both fields are empty.
func (a Address) IsZero() bool { return a.Name == "" && a.Email == "" }

// Domain returns the text after the last @, in lower case; empty if there is no @.
func (a Address) Domain() string {
	at := strings.LastIndexByte(a.Email, '@')
	if at < 0 {
		return ""
	}
	return strings.ToLower(a.Email[at+1:])
}

// String formats the address for people: "Name <email>". The result must not be put into a header; package mime
// formats addresses for headers.
func (a Address) String() string {
	if a.Name == "" {
		return a.Email
	}
	return a.Name + " <" + a.Email + ">"
}
