// Package wire has what all servers of Google's API have in common: errors, responses, field masks, JSON, batches and
// ranges of uploads in the forms in which they are sent.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// An Error is an error response of Google.
type Error struct {
	Status     int
	Reason     string
	Message    string
	RetryAfter time.Duration // for the header of that name; zero leaves it out
	Challenge  string        // for the header WWW-Authenticate; empty leaves it out
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Reason, e.Message) }

// InvalidArgument returns a 400 for an argument that the method does not take.
func InvalidArgument(format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Reason: "invalidArgument", Message: fmt.Sprintf(format, args...)}
}

// NotFound returns a 404.
func NotFound() error {
	return &Error{Status: http.StatusNotFound, Reason: "notFound", Message: "Requested entity was not found."}
}

// Unauthenticated returns a 401.
func Unauthenticated() error {
	return &Error{
		Status: http.StatusUnauthorized, Reason: "authError",
		Message: "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
	}
}

// InvalidCredentials is for a token that is expired, revoked or was never issued.
func InvalidCredentials() error {
	return &Error{
		Status: http.StatusUnauthorized, Reason: "authError",
		Challenge: `Bearer realm="https://accounts.google.com/", error="invalid_token"`,
		Message:   "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
	}
}

// AsError converts a handler's error into a response.
func AsError(err error) *Error {
	if api, ok := errors.AsType[*Error](err); ok {
		return api
	}
	return &Error{Status: http.StatusInternalServerError, Reason: "backendError", Message: "gmailtest: " + err.Error()}
}

// canonical are the status names of Google's newer APIs, and reasons the defaults of the older ones.
var (
	canonical = map[int]string{
		http.StatusBadRequest:          "INVALID_ARGUMENT",
		http.StatusUnauthorized:        "UNAUTHENTICATED",
		http.StatusForbidden:           "PERMISSION_DENIED",
		http.StatusNotFound:            "NOT_FOUND",
		http.StatusConflict:            "ABORTED",
		http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
		http.StatusInternalServerError: "INTERNAL",
		http.StatusNotImplemented:      "UNIMPLEMENTED",
		http.StatusServiceUnavailable:  "UNAVAILABLE",
		http.StatusGatewayTimeout:      "DEADLINE_EXCEEDED",
	}
	reasons = map[int]string{
		http.StatusBadRequest:      "invalidArgument",
		http.StatusUnauthorized:    "authError",
		http.StatusForbidden:       "forbidden",
		http.StatusNotFound:        "notFound",
		http.StatusConflict:        "aborted",
		http.StatusTooManyRequests: "rateLimitExceeded",
	}
)

// Reply returns the error in the form of the Gmail API.
func (e *Error) Reply(query url.Values) Reply {
	type item struct {
		Message string `json:"message"`
		Domain  string `json:"domain"`
		Reason  string `json:"reason"`
	}
	var body struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Errors  []item `json:"errors"`
			Status  string `json:"status,omitempty"`
		} `json:"error"`
	}
	body.Error.Code = e.Status
	body.Error.Message = e.Message
	body.Error.Errors = []item{{Message: e.Message, Domain: e.Domain(), Reason: e.Reason}}
	body.Error.Status = canonical[e.Status]
	if e.Reason == "failedPrecondition" {
		body.Error.Status = "FAILED_PRECONDITION"
	}
	text, err := json.Marshal(&body)
	if err != nil {
		text = []byte("{}")
	}
	p := NewReply(e.Status, jsonType, pretty(query, text))
	if e.RetryAfter > 0 {
		seconds := int64((e.RetryAfter + time.Second - 1) / time.Second)
		p.Header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	if e.Challenge != "" {
		p.Header.Set("WWW-Authenticate", e.Challenge)
	}
	return p
}

// Domain returns the domain that Google names with this error.
func (e *Error) Domain() string {
	switch e.Reason {
	case "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "accessNotConfigured":
		return "usageLimits"
	default:
		return "global"
	}
}

// DefaultReason returns the usual reason of a status.
func DefaultReason(status int) string {
	if reason, ok := reasons[status]; ok {
		return reason
	}
	return "backendError"
}

// BadContent returns a 400 for a body that cannot be read.
func BadContent(message string) error {
	return &Error{Status: http.StatusBadRequest, Reason: "badContent", Message: message}
}

// TooLarge returns a 413.
func TooLarge() error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Reason: "uploadTooLarge", Message: "Request Entity Too Large"}
}
