package mime

import (
	"slices"
	"strings"
	"time"
)

// A Bounce is what a mail server reports about a message that it could not deliver, or not yet, or, when asked, could: the
// delivery status of RFC 3464, or what a notice in plain words says in its place.
type Bounce struct {
	// Format says what the notice was read from.
	Format BounceFormat
	// ReportingMTA is the host that reports, and ReceivedFromMTA the one it had the message from; empty when not said.
	ReportingMTA    string
	ReceivedFromMTA string
	// EnvelopeID is that of the original message's envelope (RFC 3461, section 4.4).
	EnvelopeID string
	// Arrival is when the original message arrived at the reporting host; zero when not said.
	Arrival time.Time

	// Recipients holds one entry for each recipient that the notice speaks of; there is at least one. Of a report are
	// read the first 1 MiB, 10,000 fields and 2,000 recipients, of a notice in plain words the first 64 KiB and 1,000 recipients.
	Recipients []BounceRecipient

	// OriginalMessageID is the id of the message that the notice is about, without angle brackets: that of the returned
	// message, else what the notice refers to. Original is the returned message's header. Both may be empty. Anyone can
	// send a notice about any id: compare it with what was sent.
	OriginalMessageID string
	Original          Header
}

// A BounceFormat names the form of a notice.
type BounceFormat string

// The forms of notices. All but the first are told in plain words.
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
	BounceOther    BounceFormat = "other" // from a mail server's address, in words not known here
)

// A BounceAction is what became of the message (RFC 3464, section 2.3.3).
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
	// Final is the address that the reporting host knows. Original is the one that the sender gave; empty when not said.
	Final    string
	Original string

	Action BounceAction
	// Status is the enhanced status code (RFC 3463), such as "5.1.1"; empty when there is none.
	Status string
	// Code is the SMTP reply code, such as 550; 0 when there is none.
	Code int
	// Diagnostic is the reason in the words of the server that refused, in one line of at most 500 bytes or so.
	Diagnostic string
	// RemoteMTA is the host that gave the diagnostic.
	RemoteMTA string
	// LastAttempt and RetryUntil are zero when not said.
	LastAttempt time.Time
	RetryUntil  time.Time

	// Reason is what Status, Code and Diagnostic come to.
	Reason BounceReason
}

// Address is the address that the sender used, as far as it is known: Original, else Final.
func (r BounceRecipient) Address() string {
	if strings.Contains(r.Original, "@") {
		return r.Original
	}
	return r.Final
}

// Hard reports whether the address itself is at fault and mail to it will fail again: it does not exist, or is closed.
// A bounce that is not hard is soft: the same address may take another message, or the same one later.
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

// Bounce reads a notice about mail that was not delivered; nil when the message is none. What looks like one and says of no
// recipient what became of the message is none: automatic replies, challenges, receipts. [Header.Automatic] tells those.
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
		b.OriginalMessageID = first(ParseMessageIDs(b.Original.text("Message-ID")))
	}
	if b.OriginalMessageID == "" {
		b.OriginalMessageID = m.InReplyTo
	}
	return b
}

// fromDaemon reports whether the sender is one that mail servers send their notices from.
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
