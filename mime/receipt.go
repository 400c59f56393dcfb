package mime

import "strings"

// A Receipt is a message disposition notification (RFC 8098): what the recipient's mail program says became of a message. The
// recipient's program writes what it likes; a receipt proves nothing.
type Receipt struct {
	// Final is the recipient, and Original the address that the sender used; empty when not said.
	Final    string
	Original string
	// OriginalMessageID is the id of the message that the receipt is for, without angle brackets.
	OriginalMessageID string
	// Disposition is "displayed", "deleted", "dispatched" or "processed" (RFC 8098, section 3.2.6.2), or another word in lower
	// case. Modifiers, such as "error", stand behind it in the message.
	Disposition string
	Modifiers   []string
	// Automatic reports that the program sent the receipt without asking the recipient; AutomaticAction, that no person
	// did what Disposition says.
	Automatic       bool
	AutomaticAction bool
	// ReportingUA is the mail program, and Error what it says went wrong.
	ReportingUA string
	Error       string
}

// Receipt reads a disposition notification; nil when the message is none.
func (m *Message) Receipt() *Receipt {
	p := m.leaf("message/disposition-notification", "message/global-disposition-notification")
	if p == nil || m.Root.ContentType != "multipart/report" {
		return nil
	}
	groups := headerGroups(p.Content)
	if len(groups) == 0 {
		return nil
	}
	h := groups[0]
	r := &Receipt{
		Final:             typedAddress(h.text("Final-Recipient")),
		Original:          typedAddress(h.text("Original-Recipient")),
		OriginalMessageID: first(ParseMessageIDs(h.text("Original-Message-ID"))),
		ReportingUA:       h.Get("Reporting-UA"),
		Error:             h.Get("Error"),
	}
	if r.OriginalMessageID == "" {
		r.OriginalMessageID = first(ParseMessageIDs(m.returned().text("Message-ID")))
	}
	r.readDisposition(strings.ToLower(uncomment(h.text("Disposition"))))
	return r
}

// readDisposition reads "manual-action/MDN-sent-manually; displayed/error", in lower case.
func (r *Receipt) readDisposition(s string) {
	mode, kind, _ := strings.Cut(stripBlanks(s), ";")
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

// ReceiptTo returns the addresses to which the sender wants a receipt (Disposition-Notification-To, RFC 8098, section 2.1);
// nil when none is wanted. A receipt tells the sender that the address is read: send none without asking.
func (h Header) ReceiptTo() []Address {
	addresses, _ := ParseAddresses(h.text("Disposition-Notification-To"))
	return addresses
}
