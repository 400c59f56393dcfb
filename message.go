package postroom

import (
	"slices"
	"strings"
	"time"
)

// A Message is one mail as rules, models and people see it: parsed, decoded, in UTF-8. The raw bytes stay with the package
// that fetched it.
type Message struct {
	// ID and ThreadID are UUIDs assigned here and never change; ProviderID and ProviderThreadID are Gmail's ids.
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

	// Headers are all header fields in the order of the message, values unfolded and decoded.
	Headers []Header

	// LabelIDs are the provider's label ids, sorted.
	LabelIDs []string

	// BodyPlain and BodyHTML are the text as the sender wrote it; either may be empty.
	BodyPlain string
	BodyHTML  string

	Attachments []Attachment

	// ReceivedAt is when the provider received the message, Date what its sender claims; zero when unknown.
	ReceivedAt time.Time
	Date       time.Time

	// Size is the length of the raw message in bytes.
	Size int64
}

// Header returns the values of every header field with the name, compared without regard to case (RFC 5322, section
// 1.2.2), in the order of the message; nil when there is none.
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
	// Kind is empty for a file. Others are what a person does not call an attachment: a "picture" that the HTML shows, a
	// "signature", a "report" about the delivery or the reading of a message, a "calendar". An "unread" part holds others that were not
	// read, since the message is larger or nested more deeply than what is read: its text may be among them.
	Kind string `json:"kind,omitempty"`
}

// An Address is a mailbox (RFC 5322, section 3.4): a display name, which anyone can choose, and the address itself.
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

// String formats the address for people: "Name <email>". It is not safe to put into a header; package mime does that.
func (a Address) String() string {
	if a.Name == "" {
		return a.Email
	}
	return a.Name + " <" + a.Email + ">"
}
