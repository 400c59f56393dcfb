package mime

import (
	"strconv"
	"strings"
	"time"
)

// A Bounce is a mail server's report about a message that it could not deliver, has not delivered yet, or, if asked
// to report it, has delivered. Package bounce reads it from the delivery status of
// RFC 3464, or from a notice in plain words.
type Bounce struct {
	// Format is the format of the notice.
	Format BounceFormat
	// ReportingMTA is the reporting host. ReceivedFromMTA is the host that it received the message from. Both may be
	// empty.
	ReportingMTA    string
	ReceivedFromMTA string
	// EnvelopeID is that of the original message's envelope (RFC 3461, section 4.4).
	EnvelopeID string
	// Arrival is when the original message arrived at the reporting host; zero if unknown.
	Arrival time.Time

	// Recipients has one entry for each recipient in the notice, and at least one. Of a report, the first 1 MiB, 10,000
	// fields and 2,000 recipients are read; of a notice in plain words, the first 64 KiB and 1,000 recipients.
	Recipients []BounceRecipient

	// OriginalMessageID is the id of the original message, without angle brackets: that of the returned message,
	// otherwise the one that the notice refers to. Original is the returned message's header. Both may be empty. Anyone
	// can send a notice about any id: compare it with the ids of sent messages.
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

// Hard reports whether the address itself is at fault and mail to it will fail again: it does not exist, or it is
// closed. Other bounces are soft: the same address may accept another message, or the same one later.
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

// A BounceClass says whether a server would refuse the same message again.
type BounceClass string

// The classes of bounces.
const (
	BounceHard        BounceClass = "hard"    // a permanent failure
	BounceSoft        BounceClass = "soft"    // a transient one
	BounceUnspecified BounceClass = "unknown" // the server does not say
)

// Class returns what the server says of the failure: by the first digit of the Status, else of the Code. It does not
// consider the Reason, as [BounceRecipient.Hard] does: a full mailbox is often a permanent failure to its server.
func (r BounceRecipient) Class() BounceClass {
	said := r.Status
	if said == "" && r.Code > 0 {
		said = strconv.Itoa(r.Code)
	}
	switch {
	case strings.HasPrefix(said, "5"):
		return BounceHard
	case strings.HasPrefix(said, "4"):
		return BounceSoft
	}
	return BounceUnspecified
}

// A BounceReason is the reason why a message was not delivered.
type BounceReason string

// The reasons. The first four are those of a hard bounce; see [BounceRecipient.Hard].
const (
	ReasonNoUser     BounceReason = "no_such_user"   // the mailbox does not exist
	ReasonNoDomain   BounceReason = "no_such_domain" // the domain does not exist or takes no mail
	ReasonClosed     BounceReason = "closed"         // the mailbox is disabled, or has moved
	ReasonSuppressed BounceReason = "suppressed"     // the sender's own provider did not try: the address bounced before

	ReasonFull            BounceReason = "mailbox_full"
	ReasonTooLarge        BounceReason = "too_large"
	ReasonRefused         BounceReason = "refused"         // by policy: spam, a block list, a missing permission
	ReasonUnauthenticated BounceReason = "unauthenticated" // SPF, DKIM, DMARC or reverse DNS of the sender failed
	ReasonBadSender       BounceReason = "bad_sender"      // the sender's address is not accepted
	ReasonContent         BounceReason = "content"         // the message cannot be converted or is malformed
	ReasonThrottled       BounceReason = "throttled"       // too much mail in a short time
	ReasonExpired         BounceReason = "expired"         // it was retried until the time limit
	ReasonLoop            BounceReason = "loop"
	ReasonNetwork         BounceReason = "network" // the host could not be reached
	ReasonSystem          BounceReason = "system"  // the remote host has a problem of its own
	ReasonUnknown         BounceReason = "unknown"
)
