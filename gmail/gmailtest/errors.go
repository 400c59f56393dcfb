package gmailtest

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// An apiError is an answer of Google that is an error.
type apiError struct {
	status     int
	reason     string
	message    string
	retryAfter time.Duration // for the header of that name; zero leaves it out
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.reason, e.message) }

func invalidArgument(format string, args ...any) error {
	return &apiError{status: http.StatusBadRequest, reason: "invalidArgument", message: fmt.Sprintf(format, args...)}
}

func invalidLabel(id string) error { return invalidArgument("Invalid label: %s", id) }

func notFound() error {
	return &apiError{status: http.StatusNotFound, reason: "notFound", message: "Requested entity was not found."}
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

// foundOr404 turns the absence of a row into Gmail's answer.
func foundOr404(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return notFound()
	}
	return err
}

// asAPIError gives the answer that a handler's error becomes.
func asAPIError(err error) *apiError {
	if api, ok := errors.AsType[*apiError](err); ok {
		return api
	}
	return &apiError{status: http.StatusInternalServerError, reason: "backendError", message: "gmailtest: " + err.Error()}
}

// canonical are the names that Google's newer APIs give to a status, and reasons the default of the older ones.
var (
	canonical = map[int]string{
		http.StatusBadRequest:          "INVALID_ARGUMENT",
		http.StatusUnauthorized:        "UNAUTHENTICATED",
		http.StatusForbidden:           "PERMISSION_DENIED",
		http.StatusNotFound:            "NOT_FOUND",
		http.StatusConflict:            "ABORTED",
		http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
		http.StatusInternalServerError: "INTERNAL",
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

// write sends the error in the form of the Gmail API.
func (e *apiError) write(w http.ResponseWriter) {
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
	if e.retryAfter > 0 {
		seconds := int64((e.retryAfter + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	writeJSON(w, e.status, &body)
}

func (e *apiError) domain() string {
	switch e.reason {
	case "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "accessNotConfigured":
		return "usageLimits"
	default:
		return "global"
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
