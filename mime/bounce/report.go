package bounce

import (
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
)

// readReport reads the machine-readable part of a delivery status notification (RFC 3464).
//
// QUIRK: a report may come as multipart/mixed. Then it must come from a mail server: a person can forward one. Sample:
// bounce-mixed.
func readReport(m *mime.Message) *mime.Bounce {
	status := m.Leaf("message/delivery-status", "message/global-delivery-status")
	if status == nil || m.Root.ContentType != "multipart/report" && !m.Header.FromDaemon() && !hasNullSender(m) {
		return nil
	}
	b := &mime.Bounce{Format: mime.BounceReport}
	for i, group := range mime.ParseHeaders(status.Content) {
		if i == 0 {
			addMessage(b, group)
		}
		addRecipient(b, group)
	}
	if len(b.Recipients) == 0 {
		return nil
	}
	return b
}

// maxReportRecipients bounds the recipients of a report.
const maxReportRecipients = 2000

// addMessage reads the fields about the message (RFC 3464, section 2.2).
func addMessage(b *mime.Bounce, h mime.Header) {
	_, b.ReportingMTA = fieldvalue.Typed(h.Raw("Reporting-MTA"))
	_, b.ReceivedFromMTA = fieldvalue.Typed(h.Raw("Received-From-MTA"))
	b.EnvelopeID = h.Get("Original-Envelope-Id")
	b.Arrival = dateField(h, "Arrival-Date")
}

// addRecipient reads the fields about one recipient (RFC 3464, section 2.3).
//
// QUIRK: the blank line between the fields about the message and the first recipient may be missing, so every group
// may have a recipient. Sample: bounce-one-group.
func addRecipient(b *mime.Bounce, h mime.Header) {
	r := mime.BounceRecipient{
		Final:       fieldvalue.TypedAddress(h.Raw("Final-Recipient")),
		Original:    fieldvalue.TypedAddress(h.Raw("Original-Recipient")),
		Action:      mime.BounceAction(fieldvalue.FirstWord(h.Raw("Action"))),
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
	_, r.RemoteMTA = fieldvalue.Typed(h.Raw("Remote-MTA"))
	_, diagnostic := fieldvalue.Typed(h.Get("Diagnostic-Code"))
	r.Diagnostic = fieldvalue.Diagnostic(diagnostic)
	b.Recipients = append(b.Recipients, r)
}
