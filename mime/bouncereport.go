package mime

import (
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"time"
)

// bounceReport reads the machine-readable part of a delivery status notification (RFC 3464).
//
// QUIRK: a report may come as multipart/mixed. Then it must come from a mail server: a person can forward one. Sample:
// bounce-mixed.
func (m *Message) bounceReport() *Bounce {
	status := m.leaf("message/delivery-status", "message/global-delivery-status")
	if status == nil || m.Root.ContentType != "multipart/report" && !m.fromDaemon() && !m.hasNullSender() {
		return nil
	}
	b := &Bounce{Format: BounceReport}
	for i, group := range headerGroups(status.Content) {
		if i == 0 {
			b.addMessage(group)
		}
		b.addRecipient(group)
	}
	if len(b.Recipients) == 0 {
		return nil
	}
	return b
}

// addMessage reads the fields about the message (RFC 3464, section 2.2).
func (b *Bounce) addMessage(h Header) {
	_, b.ReportingMTA = typedValue(h.Raw("Reporting-MTA"))
	_, b.ReceivedFromMTA = typedValue(h.Raw("Received-From-MTA"))
	b.EnvelopeID = h.Get("Original-Envelope-Id")
	b.Arrival = dateField(h, "Arrival-Date")
}

// addRecipient reads the fields about one recipient (RFC 3464, section 2.3).
//
// QUIRK: the blank line between the fields about the message and the first recipient may be missing, so every group may have a
// recipient. Sample: bounce-one-group.
func (b *Bounce) addRecipient(h Header) {
	r := BounceRecipient{
		Final:       typedAddress(h.Raw("Final-Recipient")),
		Original:    typedAddress(h.Raw("Original-Recipient")),
		Action:      BounceAction(fieldvalue.FirstWord(h.Raw("Action"))),
		Status:      enhancedCode(h.Raw("Status")),
		LastAttempt: dateField(h, "Last-Attempt-Date"),
		RetryUntil:  dateField(h, "Will-Retry-Until"),
	}
	if r.Final == "" {
		r.Final = r.Original
	}
	if r.Final == "" || len(b.Recipients) >= maxReportRecipients {
		return
	}
	_, r.RemoteMTA = typedValue(h.Raw("Remote-MTA"))
	_, diagnostic := typedValue(h.Get("Diagnostic-Code"))
	r.Diagnostic = fieldvalue.Diagnostic(diagnostic)
	b.Recipients = append(b.Recipients, r)
}

func dateField(h Header, name string) time.Time {
	date, _ := ParseDate(h.Raw(name))
	return date
}
