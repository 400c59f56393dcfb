package gmailtest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// An apiError is an error response of Google.
type apiError struct {
	status     int
	reason     string
	message    string
	retryAfter time.Duration // for the header of that name; zero leaves it out
	challenge  string        // for the header WWW-Authenticate; empty leaves it out
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.reason, e.message) }

func invalidArgument(format string, args ...any) error {
	return &apiError{status: http.StatusBadRequest, reason: "invalidArgument", message: fmt.Sprintf(format, args...)}
}

func invalidLabel(id string) error { return invalidArgument("Invalid label: %s", id) }

func notFound() error {
	return &apiError{status: http.StatusNotFound, reason: "notFound", message: "Requested entity was not found."}
}

// notImplemented names the method, so that nobody mistakes the response for that of a missing message.
func notImplemented(method Method) error {
	message := fmt.Sprintf("gmailtest does not implement gmail.users.%s.", method)
	return &apiError{status: http.StatusNotImplemented, reason: "notImplemented", message: message}
}

func labelExists() error {
	return &apiError{status: http.StatusConflict, reason: "aborted", message: "Label name exists or conflicts"}
}

func unauthenticated() error {
	return &apiError{
		status: http.StatusUnauthorized, reason: "authError",
		message: "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
	}
}

// invalidCredentials is for a token that is expired, revoked or was never issued.
func invalidCredentials() error {
	return &apiError{
		status: http.StatusUnauthorized, reason: "authError", challenge: `Bearer realm="https://accounts.google.com/", error="invalid_token"`,
		message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
	}
}

// foundOr404 converts a missing row into Gmail's response.
func foundOr404(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound()
	}
	return err
}

// asAPIError converts a handler's error into a response.
func asAPIError(err error) *apiError {
	if api, ok := errors.AsType[*apiError](err); ok {
		return api
	}
	return &apiError{status: http.StatusInternalServerError, reason: "backendError", message: "gmailtest: " + err.Error()}
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

// reply returns the error in the form of the Gmail API.
func (e *apiError) reply(query url.Values) reply {
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
	body.Error.Code = e.status
	body.Error.Message = e.message
	body.Error.Errors = []item{{Message: e.message, Domain: e.domain(), Reason: e.reason}}
	body.Error.Status = canonical[e.status]
	if e.reason == "failedPrecondition" {
		body.Error.Status = "FAILED_PRECONDITION"
	}
	text, err := json.Marshal(&body)
	if err != nil {
		text = []byte("{}")
	}
	p := newReply(e.status, jsonType, pretty(query, text))
	if e.retryAfter > 0 {
		seconds := int64((e.retryAfter + time.Second - 1) / time.Second)
		p.header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	if e.challenge != "" {
		p.header.Set("WWW-Authenticate", e.challenge)
	}
	return p
}

func (e *apiError) domain() string {
	switch e.reason {
	case "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "accessNotConfigured":
		return "usageLimits"
	default:
		return "global"
	}
}
