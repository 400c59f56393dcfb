package mime

import (
	"strings"
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
	_, b.ReportingMTA = typedValue(h.text("Reporting-MTA"))
	_, b.ReceivedFromMTA = typedValue(h.text("Received-From-MTA"))
	b.EnvelopeID = h.Get("Original-Envelope-Id")
	b.Arrival = dateField(h, "Arrival-Date")
}

// addRecipient reads the fields about one recipient (RFC 3464, section 2.3).
//
// QUIRK: the blank line between the fields about the message and the first recipient may be missing, so every group may have a
// recipient. Sample: bounce-one-group.
func (b *Bounce) addRecipient(h Header) {
	r := BounceRecipient{
		Final:       typedAddress(h.text("Final-Recipient")),
		Original:    typedAddress(h.text("Original-Recipient")),
		Action:      BounceAction(firstWord(h.text("Action"))),
		Status:      enhancedCode(h.text("Status")),
		LastAttempt: dateField(h, "Last-Attempt-Date"),
		RetryUntil:  dateField(h, "Will-Retry-Until"),
	}
	if r.Final == "" {
		r.Final = r.Original
	}
	if r.Final == "" || len(b.Recipients) >= maxReportRecipients {
		return
	}
	_, r.RemoteMTA = typedValue(h.text("Remote-MTA"))
	_, diagnostic := typedValue(h.Get("Diagnostic-Code"))
	r.Diagnostic = cutDiagnostic(diagnostic)
	b.Recipients = append(b.Recipients, r)
}

func dateField(h Header, name string) time.Time {
	date, _ := ParseDate(h.text(name))
	return date
}

// cutDiagnostic bounds the length of a diagnostic, which a remote server wrote.
func cutDiagnostic(s string) string {
	const limit = 500
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return singleLine(s)
}
