package mime

import (
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"strings"
)

// A Receipt is a message disposition notification (RFC 8098): a report by the recipient's mail program on the fate of
// a message. The program can write anything; a receipt proves nothing.
type Receipt struct {
	// Final is the recipient, and Original the address that the sender used; empty if not given.
	Final    string
	Original string
	// OriginalMessageID is the id of the original message, without angle brackets.
	OriginalMessageID string
	// Disposition is "displayed", "deleted", "dispatched" or "processed" (RFC 8098, section 3.2.6.2), or another word in
	// lower case. In the message, modifiers such as "error" follow it.
	Disposition string
	Modifiers   []string
	// Automatic reports that the program sent the receipt without asking the recipient. AutomaticAction reports that no
	// person did the Disposition.
	Automatic       bool
	AutomaticAction bool
	// ReportingUA is the mail program, and Error its description of an error.
	ReportingUA string
	Error       string
}

// Receipt reads a disposition notification. It returns nil if the message is not one.
func (m *Message) Receipt() *Receipt {
	p := m.Leaf("message/disposition-notification", "message/global-disposition-notification")
	if p == nil || m.Root.ContentType != "multipart/report" {
		return nil
	}
	groups := ParseHeaders(p.Content)
	if len(groups) == 0 {
		return nil
	}
	h := groups[0]
	r := &Receipt{
		Final:             fieldvalue.TypedAddress(h.Raw("Final-Recipient")),
		Original:          fieldvalue.TypedAddress(h.Raw("Original-Recipient")),
		OriginalMessageID: first(ParseMessageIDs(h.Raw("Original-Message-ID"))),
		ReportingUA:       h.Get("Reporting-UA"),
		Error:             h.Get("Error"),
	}
	if r.OriginalMessageID == "" {
		r.OriginalMessageID = first(ParseMessageIDs(m.Returned().Raw("Message-ID")))
	}
	r.readDisposition(strings.ToLower(fieldvalue.Uncomment(h.Raw("Disposition"))))
	return r
}

// readDisposition reads "manual-action/MDN-sent-manually; displayed/error", in lower case.
func (r *Receipt) readDisposition(s string) {
	mode, kind, _ := strings.Cut(fieldvalue.WithoutBlanks(s), ";")
	action, sending, _ := strings.Cut(mode, "/")
	r.AutomaticAction = action == "automatic-action"
	r.Automatic = sending == "mdn-sent-automatically"
	var modifiers string
	r.Disposition, modifiers, _ = strings.Cut(kind, "/")
	for modifier := range strings.SplitSeq(modifiers, ",") {
		if modifier != "" {
			r.Modifiers = append(r.Modifiers, modifier)
		}
	}
}

// ReceiptTo returns the addresses to which the sender wants a receipt (Disposition-Notification-To, RFC 8098, section
// 2.1), or nil if there are none. A receipt tells the sender that somebody reads the address: do not send one without
// asking.
func (h Header) ReceiptTo() []Address {
	addresses, _ := ParseAddresses(h.Raw("Disposition-Notification-To"))
	return addresses
}
