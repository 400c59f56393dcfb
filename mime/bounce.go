package mime

import (
	"slices"
	"strings"
	"time"
)

// A Bounce is a mail server's report about a message that it could not deliver, has not delivered yet, or, if asked to report it,
// has delivered. It comes from the delivery status of RFC 3464, or from a notice in plain words.
type Bounce struct {
	// Format is the format of the notice.
	Format BounceFormat
	// ReportingMTA is the reporting host. ReceivedFromMTA is the host that it received the message from. Both may be empty.
	ReportingMTA    string
	ReceivedFromMTA string
	// EnvelopeID is that of the original message's envelope (RFC 3461, section 4.4).
	EnvelopeID string
	// Arrival is when the original message arrived at the reporting host; zero if unknown.
	Arrival time.Time

	// Recipients has one entry for each recipient in the notice, and at least one. Of a report, the first 1 MiB, 10,000 fields
	// and 2,000 recipients are read; of a notice in plain words, the first 64 KiB and 1,000 recipients.
	Recipients []BounceRecipient

	// OriginalMessageID is the id of the original message, without angle brackets: that of the returned message, otherwise the
	// one that the notice refers to. Original is the returned message's header. Both may be empty. Anyone can send a notice about
	// any id: compare it with the ids of sent messages.
	OriginalMessageID string
	Original          Header
}

// A BounceFormat is the format of a notice.
type BounceFormat string

// The formats of notices. All but the first are in plain words.
const (
	BounceReport   BounceFormat = "report" // RFC 3464
	BounceQmail    BounceFormat = "qmail"  // qmail's QSBMF
	BounceExim     BounceFormat = "exim"
	BouncePostfix  BounceFormat = "postfix"
	BounceSendmail BounceFormat = "sendmail"
	BounceExchange BounceFormat = "exchange" // Exchange and Outlook
	BounceYahoo    BounceFormat = "yahoo"
	BounceGmail    BounceFormat = "gmail"
	BounceSES      BounceFormat = "ses"
	BounceOther    BounceFormat = "other" // from a mail server's address, in unknown words
)

// A BounceAction is the fate of the message (RFC 3464, section 2.3.3).
type BounceAction string

// The actions. Only BounceFailed is final.
const (
	BounceFailed    BounceAction = "failed"
	BounceDelayed   BounceAction = "delayed"
	BounceDelivered BounceAction = "delivered"
	BounceRelayed   BounceAction = "relayed"
	BounceExpanded  BounceAction = "expanded"
)

// A BounceRecipient is the fate of the message for one recipient.
type BounceRecipient struct {
	// Final is the address that the reporting host used. Original is the address that the sender gave; empty if unknown.
	Final    string
	Original string

	Action BounceAction
	// Status is the enhanced status code (RFC 3463), such as "5.1.1"; empty if there is none.
	Status string
	// Code is the SMTP reply code, such as 550; 0 if there is none.
	Code int
	// Diagnostic is the reason in the words of the server that refused, on one line of at most about 500 bytes.
	Diagnostic string
	// RemoteMTA is the host that gave the diagnostic.
	RemoteMTA string
	// LastAttempt and RetryUntil are zero if unknown.
	LastAttempt time.Time
	RetryUntil  time.Time

	// Reason is derived from Status, Code and Diagnostic.
	Reason BounceReason
}

// Address returns the address that the sender used, if known: Original, otherwise Final.
func (r BounceRecipient) Address() string {
	if strings.Contains(r.Original, "@") {
		return r.Original
	}
	return r.Final
}

// Hard reports whether the address itself is at fault and mail to it will fail again: it does not exist, or it is closed. Other
// bounces are soft: the same address may accept another message, or the same one later.
func (r BounceRecipient) Hard() bool {
	if r.Action != BounceFailed {
		return false
	}
	switch r.Reason {
	case ReasonNoUser, ReasonNoDomain, ReasonClosed, ReasonSuppressed:
		return true
	case ReasonUnknown:
		return strings.HasPrefix(r.Status, "5") || r.Status == "" && r.Code >= 500
	default:
		return false
	}
}

// Bounce reads a notice about mail that was not delivered. It returns nil if the message is no such notice, or if the notice does
// not give the fate of the message for any recipient: automatic replies, challenges, receipts. [Header.Automatic] identifies
// those.
func (m *Message) Bounce() *Bounce {
	b := m.bounceReport()
	if b == nil {
		b = m.bounceNotice()
	}
	if b == nil {
		return nil
	}
	for i := range b.Recipients {
		b.Recipients[i].conclude()
	}
	if b.Original == nil {
		b.Original = m.returned()
	}
	if b.OriginalMessageID == "" {
		b.OriginalMessageID = first(ParseMessageIDs(b.Original.Raw("Message-ID")))
	}
	if b.OriginalMessageID == "" {
		b.OriginalMessageID = m.InReplyTo
	}
	return b
}

// fromDaemon reports whether the sender is an address from which mail servers send their notices.
func (m *Message) fromDaemon() bool {
	return slices.ContainsFunc(m.From, func(a Address) bool {
		local, _, _ := strings.Cut(strings.ToLower(a.Email), "@")
		return isDaemon(local)
	})
}

// hasNullSender reports whether the envelope sender was empty, as that of a notice is (RFC 3464, section 2).
func (m *Message) hasNullSender() bool {
	f := m.Header.field("Return-Path")
	return f != nil && nullSender(f) != ""
}
