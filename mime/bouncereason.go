package mime

import (
	"regexp"
	"strconv"
	"strings"
)

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

// conclude fills the fields that follow from the others.
func (r *BounceRecipient) conclude() {
	code, status := replyCodes(r.Diagnostic)
	if r.Code == 0 {
		r.Code = code
	}
	// A report often has 5.0.0 where the diagnostic has the server's specific code.
	if status != "" && (r.Status == "" || strings.HasSuffix(r.Status, ".0.0")) {
		r.Status = status
	}
	switch r.Action {
	case BounceFailed, BounceDelayed, BounceDelivered, BounceRelayed, BounceExpanded:
	default:
		r.Action = r.likelyAction()
	}
	if r.Action == BounceFailed || r.Action == BounceDelayed {
		r.Reason = bounceReason(r.Status, r.Diagnostic)
	}
}

// likelyAction returns the action for a report with an unknown one.
func (r *BounceRecipient) likelyAction() BounceAction {
	switch {
	case strings.HasPrefix(r.Status, "2"):
		return BounceDelivered
	case strings.HasPrefix(r.Status, "4"):
		return BounceDelayed
	default:
		return BounceFailed
	}
}

var (
	enhanced = regexp.MustCompile(`(?:^|[^0-9.])([245]\.[0-9]{1,3}\.[0-9]{1,3})(?:[^0-9.]|\.?$|\.[^0-9])`)
	replied  = regexp.MustCompile(`(?:^|[\s:;#'"(<>\[=])([45][0-9]{2})(?:[\s\-#:,;]|$)`)
)

// enhancedCode returns the first enhanced status code in s (RFC 3463, section 2); empty if there is none.
func enhancedCode(s string) string {
	if found := enhanced.FindStringSubmatch(s); found != nil {
		return found[1]
	}
	return ""
}

// replyCodes finds the SMTP reply code and the enhanced status code in a diagnostic.
func replyCodes(diagnostic string) (code int, status string) {
	if found := replied.FindStringSubmatch(diagnostic); found != nil {
		code, _ = strconv.Atoi(found[1])
	}
	return code, enhancedCode(diagnostic)
}

// bounceReason considers the words of the server first: servers often use codes in the wrong sense, especially 5.7.1 and 5.1.1.
func bounceReason(status, diagnostic string) BounceReason {
	said := strings.ToLower(strings.ReplaceAll(diagnostic, "\u2019", "'"))
	for _, known := range reasonWords {
		for _, words := range known.words {
			if strings.Contains(said, words) {
				return known.reason
			}
		}
	}
	return statusReason(status)
}

// statusReason interprets the subject and detail of an enhanced status code (RFC 3463, section 3; RFC 7372; RFC 7505).
func statusReason(status string) BounceReason {
	_, detail, _ := strings.Cut(status, ".")
	if reason, known := statusDetails[detail]; known {
		return reason
	}
	subject, _, _ := strings.Cut(detail, ".")
	if reason, known := statusSubjects[subject]; known {
		return reason
	}
	return ReasonUnknown
}

var statusDetails = map[string]BounceReason{
	"1.0": ReasonUnknown, "1.1": ReasonNoUser, "1.2": ReasonNoDomain, "1.3": ReasonNoUser, "1.4": ReasonNoUser,
	"1.5": ReasonUnknown, "1.6": ReasonClosed, "1.7": ReasonBadSender, "1.8": ReasonBadSender, "1.9": ReasonNoDomain,
	"1.10": ReasonNoDomain,
	"2.0":  ReasonUnknown, "2.1": ReasonClosed, "2.2": ReasonFull, "2.3": ReasonTooLarge, "2.4": ReasonUnknown,
	"3.4": ReasonTooLarge,
	"4.4": ReasonNoDomain, "4.6": ReasonLoop, "4.7": ReasonExpired, "4.14": ReasonLoop, "4.5": ReasonThrottled,
	"7.20": ReasonUnauthenticated, "7.21": ReasonUnauthenticated, "7.22": ReasonUnauthenticated, "7.23": ReasonUnauthenticated,
	"7.24": ReasonUnauthenticated, "7.25": ReasonUnauthenticated, "7.26": ReasonUnauthenticated, "7.28": ReasonThrottled,
}

var statusSubjects = map[string]BounceReason{
	"3": ReasonSystem, "4": ReasonNetwork, "5": ReasonSystem, "6": ReasonContent, "7": ReasonRefused,
}

// reasonWords are the usual words of servers, in lower case. The first match counts.
var reasonWords = []struct {
	reason BounceReason
	words  []string
}{
	{ReasonSuppressed, []string{"suppression list", "suppressed address", "previously bounced", "on the list of suppressed"}},
	{ReasonFull, []string{
		"mailbox full", "mailbox is full", "over quota", "overquota", "quota exceeded", "exceeded storage", "exceeds quota",
		"out of storage space", "inbox is out of storage", "quotaexceeded", "quota violation", "insufficient disk space",
		"mailbox quota", "storage quota", "user's disk quota", "mailbox exceeded", "disk quota",
	}},
	{ReasonThrottled, []string{
		"rate limit", "rate that", "too many messages", "too many connections", "too many recipients this", "try again later, rate",
		"unusual rate", "deferred due to user complaints", "throttl", "greylist", "graylist", "greyed", "receiving mail too quickly",
	}},
	{ReasonUnauthenticated, []string{
		"unauthenticated email", "unauthenticated mail", "dmarc", "spf check", "spf fail", "fails spf", "failed spf", "dkim",
		"reverse dns", "ptr record", "message is not authenticated", "pass authentication checks", "sender policy framework",
	}},
	{ReasonNoDomain, []string{
		"domain not found", "host not found", "host or domain name not found", "unrouteable address", "unrouteable mail domain",
		"unknown host", "no such domain", "nxdomain", "null mx", "nullmx", "does not accept mail", "couldn't find any host named",
		"domain does not exist", "domain couldn't be found", "no mx", "name service error", "unresolvable", "dns error",
	}},
	{ReasonClosed, []string{
		"account disabled", "account is disabled", "account has been disabled", "mailbox disabled", "mailbox is disabled",
		"account that you tried to reach is disabled", "inactive", "account suspended", "account is closed", "account closed",
		"mailbox is inactive", "no longer available", "no longer in use", "user has moved", "account has been deactivated",
		"not accepting messages", "no longer valid", "deactivated",
	}},
	{ReasonNoUser, []string{
		"user unknown", "unknown user", "no such user", "does not exist", "doesn't exist", "mailbox not found", "no such mailbox",
		"mailbox unavailable", "recipient not found", "recipientnotfound", "no mailbox here", "unknown recipient",
		"user not found", "invalid recipient", "invalid mailbox", "address not found", "address couldn't be found",
		"doesn't have a yahoo", "no such recipient", "unknown address", "unknown local part", "not listed in",
		"no such person", "unknown or illegal alias", "undeliverable address", "addressee unknown", "not a valid mailbox",
		"wasn't found at", "bad destination mailbox", "is not a known user", "not a registered", "recipient unknown",
		"e-mail address you entered couldn't be found", "email address you entered couldn't be found",
		"unable to find", "user doesn't exist", "recipient address rejected: undeliverable", "unknown in virtual",
		"unknown in local recipient table", "unknown in relay recipient table",
	}},
	{ReasonTooLarge, []string{
		"message size exceeds", "message too large", "message too big", "too large", "size limit", "exceeds the maximum",
		"maximum message size", "message is too long",
	}},
	{ReasonLoop, []string{"mail loop", "loops back", "too many hops", "hop count", "routing loop", "mail forwarding loop"}},
	{ReasonBadSender, []string{
		"sender address rejected", "sender rejected", "invalid sender", "sender verify failed", "domain of sender address",
		"sender is not valid", "bad sender",
	}},
	{ReasonRefused, []string{
		"spam", "blocked", "blacklist", "block list", "blocklist", "denylist", "spamhaus", "barracuda", "reputation", "policy",
		"access denied", "relaying", "unable to relay", "relay not", "not authorized", "not permitted", "not allowed", "content rejected", "virus", "banned",
		"restricted", "administratively prohibited", "unsolicited", "refused to accept",
	}},
	{ReasonExpired, []string{
		"retry time not reached", "retry timeout exceeded", "in the queue too long", "been in queue too long", "could not send message for past",
		"delivery time expired", "message expired", "couldn't be delivered for", "been trying for", "giving up",
	}},
	{ReasonNetwork, []string{
		"connection timed out", "connection refused", "timed out", "timeout", "no route to host", "network unreachable",
		"network is unreachable", "lost connection", "connection reset", "connection dropped", "did not respond",
		"establish an smtp connection", "connection died",
	}},
	{ReasonSystem, []string{
		"service unavailable", "temporarily unavailable", "local error", "internal error", "temporary failure",
		"resources temporarily", "system error", "mailer error", "server busy", "command failed",
	}},
}
