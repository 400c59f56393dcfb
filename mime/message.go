package mime

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom/mime/charset"
)

// A Message is a parsed mail (RFC 5322): its header, its text, and its parts.
type Message struct {
	// Header holds all fields, in order. The fields below are taken from it; of a repeated field, the first counts.
	Header  Header
	Subject string
	From    []Address
	Sender  []Address
	ReplyTo []Address
	To      []Address
	Cc      []Address
	Bcc     []Address
	// Date is the date that the sender claims; zero if it is missing or invalid.
	Date time.Time
	// MessageID, InReplyTo (its first id) and References are without angle brackets.
	MessageID  string
	InReplyTo  string
	References []string

	// Text and HTML are the text that a mail client would show, in UTF-8 with lines ending in LF: the text/plain and the
	// text/html parts, joined by line breaks, including those of messages shown inline. Either may be empty.
	Text string
	HTML string

	// Root is the structure. Attachments are, in order, all its leaves that are not part of Text or HTML, and the texts
	// that were declared in a transfer encoding and could not be decoded, which have [KindUnread]. An attached
	// message is one of them, and has its own attachments; a message shown inline adds its attachments to this one.
	Root        *Part
	Attachments []*Part

	// Defects are the tolerated faults of the message. An attached message has its own.
	Defects []Defect

	// Size is the length in bytes of the raw message that was read: see [Limits].
	Size int

	shown int // nesting of messages shown within this one
}

// Parse reads a whole message. A malformed message, or one beyond the limits, is not an error: [Message.Defects]
// lists its faults. The errors are those of r, and one that names a negative limit. Nil limits use the defaults.
func Parse(r io.Reader, limits *Limits) (*Message, error) {
	bounds, err := limits.withDefaults()
	if err != nil {
		return nil, err
	}
	raw, err := readAll(io.LimitReader(r, int64(bounds.Size)+1), sizeOf(r, bounds.Size))
	if err != nil {
		return nil, fmt.Errorf("mime: read message: %w", err)
	}
	return ParseBytes(raw, &bounds)
}

// ParseBytes is [Parse] for a message in memory. The contents of parts share memory with raw. It returns an error
// only for a negative limit.
func ParseBytes(raw []byte, limits *Limits) (*Message, error) {
	bounds, err := limits.withDefaults()
	if err != nil {
		return nil, err
	}
	var defects []Defect
	r := reporter{to: &defects}
	if len(raw) > bounds.Size {
		r.report(LimitExceeded, "", exceeded("Size", bounds.Size))
		raw = raw[:bounds.Size]
	}
	meter := &meter{limits: bounds, size: len(raw), finder: charset.NewFinder(raw)}
	m, _ := newSplitter(lineFeeds(raw, r), meter).message(1)
	m.Defects = append(defects, m.Defects...)
	m.Size = len(raw)
	return m, nil
}

// fill takes the message's own fields from its structure.
func (m *Message) fill(meter *meter) {
	r := reporter{to: &m.Defects}
	m.checkRepeated(r)
	m.Subject = m.Header.Get("Subject")
	for _, list := range []struct {
		name string
		to   *[]Address
	}{
		{"From", &m.From}, {"Sender", &m.Sender}, {"Reply-To", &m.ReplyTo}, {"To", &m.To}, {"Cc", &m.Cc}, {"Bcc", &m.Bcc},
	} {
		var ok bool
		value, words := m.Header.undecoded(list.name)
		if *list.to, ok = parseAddresses(value, meter.items(), words); !ok {
			r.report(AddressBroken, list.name, value)
		}
		meter.headerFields += len(*list.to)
	}
	if value := m.Header.raw("Date"); value != "" {
		var ok bool
		if m.Date, ok = ParseDate(value); !ok {
			r.report(DateBroken, "Date", value)
		}
	}
	m.MessageID = first(parseMessageIDs(m.Header.raw("Message-ID"), 1))
	m.InReplyTo = first(parseMessageIDs(m.Header.raw("In-Reply-To"), 1))
	m.References = parseMessageIDs(m.Header.raw("References"), meter.items())
	meter.headerFields += len(m.References)
	m.fillBodies(meter)
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// once are the fields that may occur once (RFC 5322, section 3.6; RFC 2045, section 3) and that Parse uses.
var once = []string{
	"From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Subject", "Date", "Message-ID", "In-Reply-To", "References",
	"Content-Type", "Content-Transfer-Encoding", "Content-Disposition", "Content-ID",
}

func (m *Message) checkRepeated(r reporter) {
	for _, name := range once {
		seen := false
		for i := range m.Header {
			f := &m.Header[i]
			if len(f.Name) != len(name) || !strings.EqualFold(f.Name, name) {
				continue
			}
			if seen {
				r.report(FieldRepeated, f.Name, f.Value)
			}
			seen = true
		}
	}
}
