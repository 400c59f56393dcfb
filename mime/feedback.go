package mime

import (
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"net/netip"
	"strconv"
	"time"
)

// Feedback is a feedback report (RFC 5965): a mailbox provider reports that a recipient complained about a message,
// or that its authentication failed. Anyone can send a report: act on it only if its sender is authenticated.
type Feedback struct {
	// Type is "abuse", "fraud", "virus", "not-spam", "auth-failure" (RFC 6591), "other" or another word in lower case.
	Type      string
	UserAgent string
	// Sender and Recipients are those of the original envelope. Many providers redact them.
	Sender     string
	Recipients []string
	EnvelopeID string
	// Arrival is when the original message arrived; zero if unknown.
	Arrival      time.Time
	ReportingMTA string
	// Source is the IP address from which the original message came; the zero Addr if unknown.
	Source netip.Addr
	// Incidents is the number of similar incidents that the report stands for; at least 1.
	Incidents int
	// Domains and URIs are the cause according to the provider.
	Domains []string
	URIs    []string

	// OriginalMessageID is the id of the original message, without angle brackets. Original is its header. Both may be
	// empty.
	OriginalMessageID string
	Original          Header
}

// Feedback reads a feedback report. It returns nil if the message is not one.
func (m *Message) Feedback() *Feedback {
	p := m.Leaf("message/feedback-report")
	if p == nil || m.Root.ContentType != "multipart/report" {
		return nil
	}
	groups := ParseHeaders(p.Content)
	if len(groups) == 0 {
		return nil
	}
	h := groups[0]
	f := &Feedback{
		Type:       fieldvalue.FirstWord(h.Raw("Feedback-Type")),
		UserAgent:  h.Get("User-Agent"),
		Sender:     fieldvalue.TypedAddress(h.Raw("Original-Mail-From")),
		EnvelopeID: h.Get("Original-Envelope-Id"),
		Arrival:    dateField(h, "Arrival-Date"),
		Domains:    h.Values("Reported-Domain"),
		URIs:       h.Values("Reported-URI"),
		Original:   m.Returned(),
	}
	if f.Arrival.IsZero() {
		f.Arrival = dateField(h, "Received-Date") // the name of the first drafts
	}
	h.Each("Original-Rcpt-To", func(field *Field) {
		f.Recipients = append(f.Recipients, fieldvalue.TypedAddress(field.Raw()))
	})
	_, f.ReportingMTA = fieldvalue.Typed(h.Raw("Reporting-MTA"))
	f.Source, _ = netip.ParseAddr(fieldvalue.FirstWord(h.Raw("Source-IP")))
	f.Incidents, _ = strconv.Atoi(fieldvalue.FirstWord(h.Raw("Incidents")))
	f.Incidents = max(1, f.Incidents)
	f.OriginalMessageID = first(ParseMessageIDs(f.Original.Raw("Message-ID")))
	return f
}
