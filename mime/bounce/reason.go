package bounce

import (
	"github.com/postroom-go/postroom/mime"
	"regexp"
	"strconv"
	"strings"
)

// conclude fills the fields that follow from the others.
func conclude(r *mime.BounceRecipient) {
	code, status := replyCodes(r.Diagnostic)
	if r.Code == 0 {
		r.Code = code
	}
	// A report often has 5.0.0 where the diagnostic has the server's specific code.
	if status != "" && (r.Status == "" || strings.HasSuffix(r.Status, ".0.0")) {
		r.Status = status
	}
	switch r.Action {
	case mime.BounceFailed, mime.BounceDelayed, mime.BounceDelivered, mime.BounceRelayed, mime.BounceExpanded:
	default:
		r.Action = likelyAction(r)
	}
	if r.Action == mime.BounceFailed || r.Action == mime.BounceDelayed {
		r.Reason = bounceReason(r.Status, r.Diagnostic)
	}
}

// likelyAction returns the action for a report with an unknown one.
func likelyAction(r *mime.BounceRecipient) mime.BounceAction {
	switch {
	case strings.HasPrefix(r.Status, "2"):
		return mime.BounceDelivered
	case strings.HasPrefix(r.Status, "4"):
		return mime.BounceDelayed
	default:
		return mime.BounceFailed
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

// bounceReason considers the words of the server first: servers often use codes in the wrong sense, especially 5.7.1
// and 5.1.1.
func bounceReason(status, diagnostic string) mime.BounceReason {
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
func statusReason(status string) mime.BounceReason {
	_, detail, _ := strings.Cut(status, ".")
	if reason, known := statusDetails[detail]; known {
		return reason
	}
	subject, _, _ := strings.Cut(detail, ".")
	if reason, known := statusSubjects[subject]; known {
		return reason
	}
	return mime.ReasonUnknown
}

var statusDetails = map[string]mime.BounceReason{
	"1.0": mime.ReasonUnknown, "1.1": mime.ReasonNoUser, "1.2": mime.ReasonNoDomain, "1.3": mime.ReasonNoUser, "1.4": mime.ReasonNoUser,
	"1.5": mime.ReasonUnknown, "1.6": mime.ReasonClosed, "1.7": mime.ReasonBadSender, "1.8": mime.ReasonBadSender, "1.9": mime.ReasonNoDomain,
	"1.10": mime.ReasonNoDomain,
	"2.0":  mime.ReasonUnknown, "2.1": mime.ReasonClosed, "2.2": mime.ReasonFull, "2.3": mime.ReasonTooLarge, "2.4": mime.ReasonUnknown,
	"3.4": mime.ReasonTooLarge,
	"4.4": mime.ReasonNoDomain, "4.6": mime.ReasonLoop, "4.7": mime.ReasonExpired, "4.14": mime.ReasonLoop, "4.5": mime.ReasonThrottled,
	"7.20": mime.ReasonUnauthenticated, "7.21": mime.ReasonUnauthenticated, "7.22": mime.ReasonUnauthenticated, "7.23": mime.ReasonUnauthenticated,
	"7.24": mime.ReasonUnauthenticated, "7.25": mime.ReasonUnauthenticated, "7.26": mime.ReasonUnauthenticated, "7.28": mime.ReasonThrottled,
}

var statusSubjects = map[string]mime.BounceReason{
	"3": mime.ReasonSystem, "4": mime.ReasonNetwork, "5": mime.ReasonSystem, "6": mime.ReasonContent, "7": mime.ReasonRefused,
}

// reasonWords are the usual words of servers, in lower case. The first match counts.
var reasonWords = []struct {
	reason mime.BounceReason
	words  []string
}{
	{mime.ReasonSuppressed, []string{"suppression list", "suppressed address", "previously bounced", "on the list of suppressed"}},
	{mime.ReasonFull, []string{
		"mailbox full", "mailbox is full", "over quota", "overquota", "quota exceeded", "exceeded storage", "exceeds quota",
		"out of storage space", "inbox is out of storage", "quotaexceeded", "quota violation", "insufficient disk space",
		"mailbox quota", "storage quota", "user's disk quota", "mailbox exceeded", "disk quota",
	}},
	{mime.ReasonThrottled, []string{
		"rate limit", "rate that", "too many messages", "too many connections", "too many recipients this",
		"try again later, rate",
		"unusual rate", "deferred due to user complaints", "throttl", "greylist", "graylist", "greyed",
		"receiving mail too quickly",
	}},
	{mime.ReasonUnauthenticated, []string{
		"unauthenticated email", "unauthenticated mail", "dmarc", "spf check", "spf fail", "fails spf", "failed spf", "dkim",
		"reverse dns", "ptr record", "message is not authenticated", "pass authentication checks", "sender policy framework",
	}},
	{mime.ReasonNoDomain, []string{
		"domain not found", "host not found", "host or domain name not found", "unrouteable address",
		"unrouteable mail domain",
		"unknown host", "no such domain", "nxdomain", "null mx", "nullmx", "does not accept mail",
		"couldn't find any host named",
		"domain does not exist", "domain couldn't be found", "no mx", "name service error", "unresolvable", "dns error",
	}},
	{mime.ReasonClosed, []string{
		"account disabled", "account is disabled", "account has been disabled", "mailbox disabled", "mailbox is disabled",
		"account that you tried to reach is disabled", "inactive", "account suspended", "account is closed", "account closed",
		"mailbox is inactive", "no longer available", "no longer in use", "user has moved", "account has been deactivated",
		"not accepting messages", "no longer valid", "deactivated",
	}},
	{mime.ReasonNoUser, []string{
		"user unknown", "unknown user", "no such user", "does not exist", "doesn't exist", "mailbox not found",
		"no such mailbox",
		"mailbox unavailable", "recipient not found", "recipientnotfound", "no mailbox here", "unknown recipient",
		"user not found", "invalid recipient", "invalid mailbox", "address not found", "address couldn't be found",
		"doesn't have a yahoo", "no such recipient", "unknown address", "unknown local part", "not listed in",
		"no such person", "unknown or illegal alias", "undeliverable address", "addressee unknown", "not a valid mailbox",
		"wasn't found at", "bad destination mailbox", "is not a known user", "not a registered", "recipient unknown",
		"e-mail address you entered couldn't be found", "email address you entered couldn't be found",
		"unable to find", "user doesn't exist", "recipient address rejected: undeliverable", "unknown in virtual",
		"unknown in local recipient table", "unknown in relay recipient table",
	}},
	{mime.ReasonTooLarge, []string{
		"message size exceeds", "message too large", "message too big", "too large", "size limit", "exceeds the maximum",
		"maximum message size", "message is too long",
	}},
	{mime.ReasonLoop, []string{"mail loop", "loops back", "too many hops", "hop count", "routing loop", "mail forwarding loop"}},
	{mime.ReasonBadSender, []string{
		"sender address rejected", "sender rejected", "invalid sender", "sender verify failed", "domain of sender address",
		"sender is not valid", "bad sender",
	}},
	{mime.ReasonRefused, []string{
		"spam", "blocked", "blacklist", "block list", "blocklist", "denylist", "spamhaus", "barracuda",
		"reputation", "policy",
		"access denied", "relaying", "unable to relay", "relay not", "not authorized", "not permitted", "not allowed",
		"content rejected", "virus", "banned",
		"restricted", "administratively prohibited", "unsolicited", "refused to accept",
	}},
	{mime.ReasonExpired, []string{
		"retry time not reached", "retry timeout exceeded", "in the queue too long", "been in queue too long",
		"could not send message for past",
		"delivery time expired", "message expired", "couldn't be delivered for", "been trying for", "giving up",
	}},
	{mime.ReasonNetwork, []string{
		"connection timed out", "connection refused", "timed out", "timeout", "no route to host", "network unreachable",
		"network is unreachable", "lost connection", "connection reset", "connection dropped", "did not respond",
		"establish an smtp connection", "connection died",
	}},
	{mime.ReasonSystem, []string{
		"service unavailable", "temporarily unavailable", "local error", "internal error", "temporary failure",
		"resources temporarily", "system error", "mailer error", "server busy", "command failed",
	}},
}
