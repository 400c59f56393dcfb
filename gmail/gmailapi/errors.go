package gmailapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom"
)

// A Class is the kind of failure of an [Error]; [Verdict] acts on it.
type Class string

// The classes of failure.
const (
	// ClassGone means 404 for a message, in an answer from Gmail itself. The error matches [postroom.ErrMessageGone].
	ClassGone Class = "message gone"
	// ClassHistoryExpired means 404 for a history id. Changes since then are found only by listing messages.
	ClassHistoryExpired Class = "history expired"
	// ClassNotFound means 404 for anything else, such as a label.
	ClassNotFound Class = "not found"
	// ClassRateLimited means too many requests, or too many at once, by Gmail's count or by the client's.
	ClassRateLimited Class = "rate limited"
	// ClassDailyLimit means that the project's daily budget is spent; it is renewed at midnight Pacific time.
	ClassDailyLimit Class = "daily limit reached"
	// ClassUnauthorized means that the access token is invalid or has expired (401).
	ClassUnauthorized Class = "unauthorized"
	// ClassReauthorize means that the token endpoint says invalid_grant: a person has to grant access again.
	ClassReauthorize Class = "authorization revoked"
	// ClassNoAccess means that this process has no grant and no token for the account. No call was made. Another process
	// may have one, so nothing is said about the account.
	ClassNoAccess Class = "no access here"
	// ClassPaused means that the account is paused, or being removed. No call was made.
	ClassPaused Class = "account paused"
	// ClassForbidden means that Gmail refuses (403) until a person changes something in the account or project.
	ClassForbidden Class = "forbidden"
	// ClassInvalid means that the request is wrong; no retry succeeds.
	ClassInvalid Class = "invalid request"
	// ClassPrecondition means 400 failedPrecondition, which often passes by itself.
	ClassPrecondition Class = "precondition failed"
	// ClassConflict means 409, such as a label that exists already.
	ClassConflict Class = "conflict"
	// ClassServer means that Gmail failed: 5xx, 404 for a resource that each mailbox has, or a 400, 403, 404, 407 or 410
	// that is not Gmail's, such as the page of a proxy.
	ClassServer Class = "server error"
	// ClassNetwork means that there was no answer, or only a part of it.
	ClassNetwork Class = "network error"
	// ClassRefused means that a message must not be sent, by a guard of our own: Gmail was not asked to.
	ClassRefused Class = "refused"
	// ClassUnclear means that it is not known yet whether an earlier call took effect; RetryAfter is when to ask again.
	ClassUnclear Class = "outcome not known yet"
	// ClassAnswer means that the answer does not match Gmail's reference.
	ClassAnswer Class = "answer not understood"
)

// An Error is a call to Gmail that failed.
type Error struct {
	Op     string // the call and its subject: "get message 18c2f…"
	Class  Class
	Status int    // of HTTP; 0 when there was no answer
	Reason string // Gmail's reason, such as userRateLimitExceeded; may be empty
	// RetryAfter is the wait that Gmail asks for; 0 if it names none.
	RetryAfter time.Duration
	Hint       string // what a person can do; may be empty
	Err        error

	ofSending bool // the limit applies only to sending
}

// Error formats operation, class, cause and hint. It quotes Gmail's message, never a body, a header or the query of
// an address.
func (e *Error) Error() string {
	s := fmt.Sprintf("gmail: %s: %s", e.Op, e.Class)
	switch {
	case e.Status != 0 && e.Reason != "":
		s += fmt.Sprintf(" (%d %s)", e.Status, e.Reason)
	case e.Status != 0:
		s += fmt.Sprintf(" (%d)", e.Status)
	}
	if cause := e.cause(); cause != "" {
		s += ": " + cause
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// cause omits what googleapi adds to a message: the body, and details that Error has already.
func (e *Error) cause() string {
	var answer *googleapi.Error
	switch {
	case errors.As(e.Err, &answer):
		return strings.TrimSpace(readAnswer(answer).message)
	case e.Err != nil:
		return withoutQuery(e.Err)
	}
	return ""
}

// withoutQuery formats an error without the query of its URL: that of an upload permits anybody to continue it, and
// that of a search discloses the search.
func withoutQuery(err error) string {
	text := err.Error()
	var failed *url.Error
	if !errors.As(err, &failed) {
		return text
	}
	address, _, found := strings.Cut(failed.URL, "?")
	if !found {
		return text
	}
	return strings.ReplaceAll(text, failed.URL, address)
}

// Unwrap returns the cause, and [postroom.ErrMessageGone] for a message that is gone.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	if e.Class == ClassGone {
		errs = append(errs, postroom.ErrMessageGone)
	}
	return errs
}

// ClassOf returns the class of the [Error] in err's chain; empty if there is none.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}

// newError classifies the error of a call. notFound is the class of a 404 of Gmail's for this call.
func newError(op string, notFound Class, err error, now time.Time) error {
	if err == nil {
		return nil
	}
	e := &Error{Op: op, Err: err}
	var known *Error
	var answer *googleapi.Error
	var token *oauth2.RetrieveError
	switch {
	case errors.As(err, &known): // the gate's, or that of a token, which the calls of a batch share
		own := *known
		own.Op = op
		return &own
	case errors.As(err, &answer):
		e.classify(readAnswer(answer), notFound, now)
	case errors.As(err, &token):
		e.classifyToken(token)
	case isTransport(err):
		e.Class = ClassNetwork
	default:
		e.Class = ClassAnswer
	}
	return e
}

// hintFor names what helps with this call where others need less: no other one needs the full mail scope.
func hintFor(method Method, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && method == MethodDelete && e.Hint == hintScope {
		e.Hint = hintDelete
	}
	return err
}

// isTransport reports whether the error is one of transport (no connection, a timeout, half an answer) and not of
// decoding.
func isTransport(err error) bool {
	var timeout interface{ Timeout() bool } // net.Error and *url.Error
	return errors.As(err, &timeout) || errors.Is(err, context.Canceled) || isTruncated(err)
}

func (e *Error) classifyToken(token *oauth2.RetrieveError) {
	e.Class = ClassUnauthorized
	e.Reason = token.ErrorCode
	if token.Response != nil {
		e.Status = token.Response.StatusCode
	}
	switch {
	case token.ErrorCode == "invalid_grant":
		e.Class = ClassReauthorize
		e.Hint = HintReauthorize
	case e.Status >= http.StatusInternalServerError:
		e.Class = ClassServer
	}
}

func (e *Error) classify(a answer, notFound Class, now time.Time) {
	e.Status, e.Reason = a.status, a.reason
	e.RetryAfter = a.retryAfter(now)
	e.ofSending = strings.HasSuffix(a.message, "(Mail sending)")
	e.Class, e.Hint = a.class(notFound)
	if e.Class == ClassDailyLimit && e.RetryAfter == 0 {
		e.RetryAfter = untilReset(now)
	}
}

// An answer is the content of Gmail's error body, in any of its forms.
type answer struct {
	status  int
	reason  string
	message string
	header  http.Header
	own     bool // the body is an error of Google's: no proxy, and no other server, has answered
}

// readAnswer reads the body itself: googleapi gives up on all of it when one field is off, such as a code that is a
// string, and knows nothing of the details in which newer answers name their reason.
func readAnswer(err *googleapi.Error) answer {
	a := answer{status: err.Code, message: err.Message, header: err.Header}
	var body struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
			Errors  []struct {
				Reason  string `json:"reason"`
				Message string `json:"message"`
			} `json:"errors"`
			Details []struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(err.Body), &body) != nil {
		return a // an HTML page of some proxy: the status has to do
	}
	var reasons []string
	for _, d := range body.Error.Details {
		reasons = append(reasons, d.Reason)
	}
	for _, e := range body.Error.Errors {
		reasons = append(reasons, e.Reason)
		a.message = firstText(a.message, e.Message)
	}
	a.reason = firstText(append(reasons, body.Error.Status)...)
	a.message = firstText(a.message, body.Error.Message)
	a.own = a.reason != "" || body.Error.Message != ""
	return a
}

// IsInvalidID reports whether Gmail says of an id that no message can have it.
func IsInvalidID(err error) bool {
	var refusal *googleapi.Error
	if ClassOf(err) != ClassInvalid || !errors.As(err, &refusal) {
		return false
	}
	a := readAnswer(refusal)
	return (a.reason == "invalidArgument" || a.reason == "INVALID_ARGUMENT") &&
		strings.HasPrefix(a.message, "Invalid id value")
}

// IsPageRefused reports whether a call for a page of a list was refused, as with a token that is too old. Any other
// cause of the refusal recurs at the first page.
func IsPageRefused(token string, err error) bool { return token != "" && ClassOf(err) == ClassInvalid }

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// foreignRefusals are the statuses with which an intermediary refuses for a time: a proxy that is being set up, a
// page that asks a person to sign in to a network.
var foreignRefusals = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusProxyAuthRequired, http.StatusGone,
}

// class is the table of statuses and reasons, with a hint where a person can do something.
func (a answer) class(notFound Class) (Class, string) {
	if class := reasonClasses[a.reason]; class == ClassRateLimited || class == ClassDailyLimit {
		return class, ""
	}
	if !a.own && slices.Contains(foreignRefusals, a.status) {
		return ClassServer, hintEndpoint
	}
	switch {
	case a.status == http.StatusUnauthorized:
		return ClassUnauthorized, "the access token was refused: if this lasts, sign in to the account again"
	case a.status == http.StatusForbidden:
		return ClassForbidden, forbiddenHints[a.reason]
	case a.status == http.StatusNotFound && strings.HasPrefix(a.message, "Invalid label"):
		// QUIRK: a label that does not exist answers a modify with 404 as well; the message is still there.
		return ClassInvalid, "the label does not exist at Gmail: synchronise the labels"
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		return notFound, ""
	case a.status == http.StatusConflict:
		return ClassConflict, ""
	case a.status == http.StatusTooManyRequests:
		return ClassRateLimited, ""
	case a.status == http.StatusRequestTimeout || a.status >= http.StatusInternalServerError:
		return ClassServer, ""
	case a.reason == "failedPrecondition" || a.reason == "FAILED_PRECONDITION":
		return a.precondition()
	}
	return ClassInvalid, ""
}

// precondition distinguishes failed preconditions that are temporary from the others.
func (a answer) precondition() (Class, string) {
	switch {
	case strings.Contains(a.message, "service not enabled"):
		return ClassForbidden, "Gmail is switched off for this account: its administrator can switch it on"
	case strings.HasPrefix(a.message, "Only one user push notification client"):
		return ClassConflict, "another watch is active: stop it, then watch again"
	}
	return ClassPrecondition, ""
}

var reasonClasses = map[string]Class{
	"rateLimitExceeded":     ClassRateLimited,
	"userRateLimitExceeded": ClassRateLimited,
	"quotaExceeded":         ClassRateLimited,
	"RATE_LIMIT_EXCEEDED":   ClassRateLimited,
	"RESOURCE_EXHAUSTED":    ClassRateLimited,
	"dailyLimitExceeded":    ClassDailyLimit,
}

// HintReauthorize is the hint of a grant that is gone ([ClassReauthorize]).
const HintReauthorize = "sign in to the account again: access was revoked, the password was changed, it was unused for six months, or the " +
	"program's consent screen is in testing, where access ends after 7 days"

const (
	hintEndpoint = "the answer is not Gmail's: if this lasts, check the endpoint and the proxy"
	hintScope    = "the grant lacks a permission: sign in again and leave all boxes ticked"
	hintDelete   = "permanent deletion needs the full mail scope, https://mail.google.com/, which the grant does not have: sign in again with a program " +
		"that asks for it, or move the message to the trash"
	hintEnable   = "enable the Gmail API for the project in the Google Cloud console"
	hintDomain   = "the administrator of the domain has disabled this application or API access"
	hintDelegate = "the account has not delegated this mailbox to the caller"
)

var forbiddenHints = map[string]string{
	"insufficientPermissions":         hintScope,
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT": hintScope,
	"accessNotConfigured":             hintEnable,
	"SERVICE_DISABLED":                hintEnable,
	"domainPolicy":                    hintDomain,
	"delegationDenied":                hintDelegate,
}
