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

// reasonWords are the usual words of servers, in lower case, as short as they say one thing. The first match counts;
// what none says is told by the status.
var reasonWords = []struct {
	reason mime.BounceReason
	words  []string
}{
	{mime.ReasonSuppressed, []string{"suppress"}},
	{mime.ReasonFull, []string{"quota", "mailbox full", "is full", "of storage", "disk space"}},
	{mime.ReasonThrottled, []string{
		"rate limit", "too many messages", "too many connections", "throttl", "greylist",
	}},
	{mime.ReasonUnauthenticated, []string{"unauthenticated", "dmarc", "spf ", "dkim", "reverse dns"}},
	{mime.ReasonNoDomain, []string{
		"domain not found", "host not found", "domain name not found", "unrouteable", "unknown host", "no such domain",
		"null mx", "any host named", "host unknown",
	}},
	{mime.ReasonClosed, []string{"disabled", "inactive", "no longer", "deactivated"}},
	{mime.ReasonNoUser, []string{
		"user unknown", "unknown user", "no such", "n't exist", "not exist", "not found", "be found",
		"mailbox unavailable", "invalid recipient", "no mailbox", "unknown in", "doesn't have a", "not a registered",
	}},
	{mime.ReasonTooLarge, []string{"too large", "message size"}},
	{mime.ReasonLoop, []string{"loop", "too many hops"}},
	{mime.ReasonBadSender, []string{"sender address rejected", "sender verify"}},
	{mime.ReasonRefused, []string{"spam", "block", "blacklist", "policy", "denied", "relay", "not allowed"}},
	{mime.ReasonExpired, []string{"retry time", "queue too long"}},
	{mime.ReasonNetwork, []string{"timed out", "timeout", "connection refused"}},
}
