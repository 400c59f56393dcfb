package mime

import (
	"net/netip"
	"strconv"
	"time"
)

// Feedback is a feedback report (RFC 5965): a mailbox provider says that a recipient complained about a message, or that its
// authentication failed. Anyone can send one: act on it only when its sender is authenticated.
type Feedback struct {
	// Type is "abuse", "fraud", "virus", "not-spam", "auth-failure" (RFC 6591), "other" or another word in lower case.
	Type      string
	UserAgent string
	// Sender and Recipients are those of the original envelope; many providers blacken them.
	Sender     string
	Recipients []string
	EnvelopeID string
	// Arrival is when the original message arrived; zero when not said.
	Arrival      time.Time
	ReportingMTA string
	// Source is the address from which the original message came; the zero Addr when not said.
	Source netip.Addr
	// Incidents is the number of like incidents that the report stands for; at least 1.
	Incidents int
	// Domains and URIs are what the provider holds to be the cause.
	Domains []string
	URIs    []string

	// OriginalMessageID is the id of the message that the report is about, without angle brackets, and Original its header;
	// both may be empty.
	OriginalMessageID string
	Original          Header
}

// Feedback reads a feedback report; nil when the message is none.
func (m *Message) Feedback() *Feedback {
	p := m.leaf("message/feedback-report")
	if p == nil || m.Root.ContentType != "multipart/report" {
		return nil
	}
	groups := headerGroups(p.Content)
	if len(groups) == 0 {
		return nil
	}
	h := groups[0]
	f := &Feedback{
		Type:       firstWord(h.text("Feedback-Type")),
		UserAgent:  h.Get("User-Agent"),
		Sender:     typedAddress(h.text("Original-Mail-From")),
		EnvelopeID: h.Get("Original-Envelope-Id"),
		Arrival:    dateField(h, "Arrival-Date"),
		Domains:    h.Values("Reported-Domain"),
		URIs:       h.Values("Reported-URI"),
		Original:   m.returned(),
	}
	if f.Arrival.IsZero() {
		f.Arrival = dateField(h, "Received-Date") // the name of the first drafts
	}
	h.each("Original-Rcpt-To", func(field *Field) { f.Recipients = append(f.Recipients, typedAddress(field.text())) })
	_, f.ReportingMTA = typedValue(h.text("Reporting-MTA"))
	f.Source, _ = netip.ParseAddr(firstWord(h.text("Source-IP")))
	f.Incidents, _ = strconv.Atoi(firstWord(h.text("Incidents")))
	f.Incidents = max(1, f.Incidents)
	f.OriginalMessageID = first(ParseMessageIDs(f.Original.text("Message-ID")))
	return f
}
