package gmailapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/queue"
)

// clientOf makes a client of a server that answers every call with the handler.
func clientOf(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := NewClient(ClientConfig{HTTPClient: server.Client(), Endpoint: server.URL})
	require.NoError(t, err)
	return c
}

// failing answers with a status and a body.
func failing(t *testing.T, status int, header http.Header, body string) *Client {
	return clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// errorBody is Google's usual form.
func errorBody(status int, reason, message string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"errors":[{"domain":"global","reason":%q,"message":%q}]}}`,
		status, message, reason, message)
}

func TestErrorClasses(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		class   Class
		reason  string
		hint    string // part of it
		verdict func(error) error
	}{
		{"message gone", 404, errorBody(404, "notFound", "Requested entity was not found."), ClassGone, "notFound", "", queue.Fatal},
		{"message gone, in the newer form", 404, `{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}`, ClassGone, "NOT_FOUND", "", queue.Fatal},
		{"message gone for good", 410, errorBody(410, "deleted", "Resource has been deleted"), ClassGone, "deleted", "", queue.Fatal},
		{"404 page of a proxy", 404, `<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>`, ClassServer, "", "check the endpoint", asIs},
		{"404 of another server", 404, `{"message":"no route matched"}`, ClassServer, "", "check the endpoint", asIs},
		{"404 of another server, with an error that is a text", 404, `{"error":"not found"}`, ClassServer, "", "check the endpoint", asIs},
		{"404 without a word", 404, ``, ClassServer, "", "check the endpoint", asIs},
		{"410 page of a proxy", 410, `<title>Gone</title>`, ClassServer, "", "check the endpoint", asIs},
		{"403 page of a proxy", 403, `<!DOCTYPE html><title>Forbidden</title>`, ClassServer, "", "check the endpoint", asIs},
		{"400 page of a proxy", 400, `<!DOCTYPE html><title>Bad Request</title>`, ClassServer, "", "check the endpoint", asIs},
		{"407 of a proxy", 407, ``, ClassServer, "", "check the endpoint", asIs},
		{"a proxy that takes no large messages", 413, `<title>Request Entity Too Large</title>`, ClassInvalid, "", "", queue.Fatal},
		{"unknown label on a message that is there", 404, errorBody(404, "notFound", "Invalid label: Label_7"), ClassInvalid, "notFound", "synchronise the labels", queue.Fatal},
		{"unknown label, the other way", 400, errorBody(400, "invalidArgument", "Invalid label: Label_7"), ClassInvalid, "invalidArgument", "", queue.Fatal},
		{"token refused", 401, errorBody(401, "authError", "Invalid Credentials"), ClassUnauthorized, "authError", "sign in", asIs},
		{"user's rate", 403, errorBody(403, "userRateLimitExceeded", "User Rate Limit Exceeded"), ClassRateLimited, "userRateLimitExceeded", "", deferred(RateLimitDelay)},
		{"project's rate", 403, errorBody(403, "rateLimitExceeded", "Quota exceeded"), ClassRateLimited, "rateLimitExceeded", "", deferred(RateLimitDelay)},
		{"quota", 403, errorBody(403, "quotaExceeded", "Quota exceeded"), ClassRateLimited, "quotaExceeded", "", deferred(RateLimitDelay)},
		{"too many at once, with a code that is a string", 429, `{"error":{"code":"429","status":"RESOURCE_EXHAUSTED","message":"Too many concurrent requests for user"}}`, ClassRateLimited, "RESOURCE_EXHAUSTED", "", deferred(RateLimitDelay)},
		{"429 without a word", 429, ``, ClassRateLimited, "", "", deferred(RateLimitDelay)},
		{"reason in the details only", 403, `{"error":{"code":403,"message":"Request had insufficient scopes.","status":"PERMISSION_DENIED","details":[{"reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}}`, ClassForbidden, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "lacks a permission", queue.Fatal},
		{"rate in the details only", 403, `{"error":{"code":403,"message":"Quota exceeded.","details":[{"reason":"RATE_LIMIT_EXCEEDED"}]}}`, ClassRateLimited, "RATE_LIMIT_EXCEEDED", "", deferred(RateLimitDelay)},
		{"scope", 403, errorBody(403, "insufficientPermissions", "Insufficient Permission"), ClassForbidden, "insufficientPermissions", "lacks a permission", queue.Fatal},
		{"API not enabled", 403, errorBody(403, "accessNotConfigured", "Gmail API has not been used"), ClassForbidden, "accessNotConfigured", "enable the Gmail API", queue.Fatal},
		{"domain policy", 403, errorBody(403, "domainPolicy", "disabled by the administrator"), ClassForbidden, "domainPolicy", "administrator", queue.Fatal},
		{"delegation", 403, errorBody(403, "delegationDenied", "Delegation denied"), ClassForbidden, "delegationDenied", "delegated", queue.Fatal},
		{"some other 403", 403, errorBody(403, "forbidden", "Forbidden"), ClassForbidden, "forbidden", "", queue.Fatal},
		{"precondition that may pass", 400, errorBody(400, "failedPrecondition", "Precondition check failed."), ClassPrecondition, "failedPrecondition", "", asIs},
		{"no Gmail for this account", 400, errorBody(400, "failedPrecondition", "Mail service not enabled"), ClassForbidden, "failedPrecondition", "administrator", queue.Fatal},
		{"second watch", 400, errorBody(400, "failedPrecondition", "Only one user push notification client allowed per developer (call /stop then try again)"), ClassConflict, "failedPrecondition", "stop it", asIs},
		{"bad argument", 400, errorBody(400, "invalidArgument", "Invalid id value"), ClassInvalid, "invalidArgument", "", queue.Fatal},
		{"conflict", 409, errorBody(409, "aborted", "Label name exists or conflicts"), ClassConflict, "aborted", "", asIs},
		{"server", 503, errorBody(503, "backendError", "Backend Error"), ClassServer, "backendError", "", asIs},
		{"page of a proxy", 502, `<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>`, ClassServer, "", "", asIs},
		{"request timeout", 408, ``, ClassServer, "", "", asIs},
		{"answer that is not JSON", 200, `<html>hello</html>`, ClassAnswer, "", "", asIs},
		{"half an answer", 200, `{"id":"18c2`, ClassNetwork, "", "", asIs},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := failing(t, tt.status, nil, tt.body).GetImage(t.Context(), "18c2f")
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.class, e.Class)
			require.Equal(t, tt.reason, e.Reason)
			require.Contains(t, e.Hint, tt.hint)
			require.Equal(t, tt.hint == "", e.Hint == "", "a hint, or none: %q", e.Hint)
			require.Equal(t, tt.verdict(err), Verdict(err))
			require.Equal(t, tt.class == ClassGone, errors.Is(err, postroom.ErrMessageGone))
			require.Contains(t, err.Error(), "gmail: get labels of message 18c2f: "+string(tt.class))
			require.NotContains(t, err.Error(), "<title>", "no page of a proxy is quoted")
		})
	}
}

func asIs(err error) error { return err }

func deferred(d time.Duration) func(error) error {
	return func(err error) error { return queue.Defer(err, d) }
}

func TestHistoryNotFoundIsExpired(t *testing.T) {
	_, err := failing(t, 404, nil, errorBody(404, "notFound", "Requested entity was not found.")).Profile(t.Context())
	require.Equal(t, ClassServer, ClassOf(err), "it passes: each mailbox has a profile")
	require.Equal(t, err, Verdict(err), "and is tried again")
	_, err = failing(t, 404, nil, errorBody(404, "notFound", "Requested entity was not found.")).ListHistory(
		t.Context(), 7, "")
	require.Equal(t, ClassHistoryExpired, ClassOf(err))
	require.NotErrorIs(t, err, postroom.ErrMessageGone)
	_, err = failing(t, 404, nil, "<title>Not Found</title>").ListHistory(t.Context(), 7, "")
	require.Equal(t, ClassServer, ClassOf(err), "a proxy does not know Gmail's history")
}

func TestErrorText(t *testing.T) {
	body := errorBody(403, "insufficientPermissions", "Insufficient Permission")
	err := failing(t, 403, nil, body).Delete(t.Context(), "18c2f")
	require.EqualError(t, err,
		"gmail: delete message 18c2f: forbidden (403 insufficientPermissions): Insufficient Permission; "+hintDelete)
	_, err = failing(t, 403, nil, body).Trash(t.Context(), "18c2f")
	require.EqualError(t, err,
		"gmail: trash message 18c2f: forbidden (403 insufficientPermissions): Insufficient Permission; "+hintScope,
		"it needs less")
}

// The query of an address may be all that it takes to go on with an upload, or what somebody has looked for.
func TestErrorTextHasNoQuery(t *testing.T) {
	c := clientOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := c.ListMessages(t.Context(), MessageList{Query: "from:doctor@example.org"})
	require.ErrorContains(t, err, "/gmail/v1/users/me/messages\"")
	require.NotContains(t, err.Error(), "doctor")
	wrapped := &Error{Op: "send message", Class: ClassNetwork, Err: fmt.Errorf("after 2 attempts: %w", &url.Error{
		Op: "Post", URL: "https://gmail.example/upload?upload_id=SECRET", Err: io.ErrUnexpectedEOF,
	})}
	require.EqualError(t, wrapped,
		`gmail: send message: network error: after 2 attempts: Post "https://gmail.example/upload": unexpected EOF`)
}

func TestDailyLimitWaitsForTheReset(t *testing.T) {
	_, err := failing(t, 403, nil, errorBody(403, "dailyLimitExceeded", "Daily Limit Exceeded")).Profile(t.Context())
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, ClassDailyLimit, e.Class)
	require.Positive(t, e.RetryAfter)
	require.LessOrEqual(t, e.RetryAfter, 25*time.Hour, "a day has 25 hours once a year")
	require.Equal(t, queue.Defer(err, e.RetryAfter), Verdict(err))
}

func TestUntilReset(t *testing.T) {
	tests := []struct {
		name string
		now  string
		want time.Duration
	}{
		{"winter", "2026-01-15T07:30:00Z", 30 * time.Minute},
		{"summer", "2026-07-15T06:30:00Z", 30 * time.Minute},
		{"just after", "2026-01-15T08:00:00Z", 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, tt.now)
			require.NoError(t, err)
			require.Equal(t, tt.want, untilReset(now))
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 7, 18, 3, 0, 0, time.UTC)
	tests := []struct {
		name    string
		header  string
		message string
		want    time.Duration
	}{
		{"nothing", "", "Too many", 0},
		{"seconds", "120", "", 2 * time.Minute},
		{"date", "Sat, 07 Mar 2026 18:04:00 GMT", "", time.Minute},
		{"date that has passed", "Sat, 07 Mar 2026 18:02:00 GMT", "", 0},
		{"in the text", "", "User-rate limit exceeded.  Retry after 2026-03-07T18:03:15.961Z", 15961 * time.Millisecond},
		{"in the text, with an offset", "", "Retry after 2026-03-07T20:04:00+02:00 (Mail sending)", time.Minute},
		{"the header goes first", "5", "Retry after 2026-03-07T18:04:00Z", 5 * time.Second},
		{"a header that is neither", "soon", "Retry after 2026-03-07T18:04:00Z", time.Minute},
		{"negative seconds", "-5", "", 0},
		{"longer than can be meant", "99999999", "", maxRetryAfter},
		{"a year that cannot be meant", "", "Retry after 2999-01-01T00:00:00Z", maxRetryAfter},
		{"no time at all", "", "Retry after 2026-99-99T99:99:99Z", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := answer{message: tt.message, header: http.Header{}}
			a.header.Set("Retry-After", tt.header)
			require.Equal(t, tt.want, a.retryAfter(now))
		})
	}
}

func TestRetryAfterReachesTheVerdict(t *testing.T) {
	header := http.Header{"Retry-After": {"90"}}
	_, err := failing(t, 429, header, "").Profile(t.Context())
	require.Equal(t, queue.Defer(err, 90*time.Second), Verdict(err))
	_, err = failing(t, 503, header, "").Profile(t.Context())
	require.Equal(t, queue.RetryAfter(err, 90*time.Second), Verdict(err))
}

func TestVerdictOfOtherErrors(t *testing.T) {
	other := errors.New("disk full")
	require.Equal(t, other, Verdict(other))
	require.NoError(t, Verdict(nil))
}

func TestNoAnswerIsNetwork(t *testing.T) {
	c := clientOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := c.Profile(t.Context())
	require.Equal(t, ClassNetwork, ClassOf(err))
	require.Equal(t, err, Verdict(err))
}

func TestCanceledCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := failing(t, 200, nil, `{}`).Profile(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, ClassNetwork, ClassOf(err))
}

func TestTimeout(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	c, err := NewClient(ClientConfig{HTTPClient: server.Client(), Endpoint: server.URL, Timeout: time.Millisecond})
	require.NoError(t, err)
	_, err = c.Profile(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, ClassNetwork, ClassOf(err))
}

func TestTokenEndpoint(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		class   Class
		verdict func(error) error
	}{
		{"grant revoked", 400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`, ClassReauthorize, deferred(ReauthorizeDelay)},
		{"wrong client", 401, `{"error":"invalid_client"}`, ClassUnauthorized, asIs},
		{"down", 503, `busy`, ClassServer, asIs},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			t.Cleanup(server.Close)
			t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
			cfg := oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: server.URL,
				AuthStyle: oauth2.AuthStyleInParams}}
			authorized := cfg.Client(t.Context(), &oauth2.Token{RefreshToken: "secret-refresh-token"})
			c, err := NewClient(ClientConfig{HTTPClient: authorized, Endpoint: server.URL})
			require.NoError(t, err)
			_, err = c.Profile(t.Context())
			require.Equal(t, tt.class, ClassOf(err))
			require.Equal(t, tt.verdict(err), Verdict(err))
			require.NotContains(t, err.Error(), "secret-refresh-token")
		})
	}
}

// TestRecordedErrors classifies error bodies of the real API, where they are at hand.
func TestRecordedErrors(t *testing.T) {
	dir := corpora.Path("07-gmail-json", "errors")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("recorded errors of the real API are not tested: %s is not there", dir)
	}
	want := map[string]Class{
		"400_invalid_argument_missing_startHistoryId.json": ClassInvalid,
		"400_mail_service_not_enabled_legacy.json":         ClassForbidden,
		"400_only_one_push_client.json":                    ClassConflict,
		"400_precondition_check_failed.json":               ClassPrecondition,
		"403_quota_queries_per_minute_per_user.json":       ClassRateLimited,
		"403_user_rate_limit_exceeded_legacy.json":         ClassRateLimited,
		"404_invalid_label.json":                           ClassInvalid,
		"404_requested_entity_not_found.json":              ClassGone,
		"429_code_as_string.json":                          ClassRateLimited,
		"429_rate_limit_batch_details.json":                ClassRateLimited,
		"429_resource_exhausted.json":                      ClassRateLimited,
		"429_user_rate_limit_retry_after.json":             ClassRateLimited,
	}
	for name, class := range want {
		t.Run(strings.TrimSuffix(name, ".json"), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			var recorded struct {
				Status int             `json:"http_status"`
				Body   json.RawMessage `json:"body"`
			}
			require.NoError(t, json.Unmarshal(text, &recorded))
			_, err = failing(t, recorded.Status, nil, string(recorded.Body)).GetImage(t.Context(), "18c2f")
			require.Equal(t, class, ClassOf(err), "%v", err)
		})
	}
}

func googleError(status int, retryAfter, body string) *googleapi.Error {
	return &googleapi.Error{Code: status, Body: body, Header: http.Header{"Retry-After": {retryAfter}}}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(404, "Retry after 2026-03-07T18:03:15.961Z", errorBody(404, "notFound", "Requested entity was not found."))
	f.Add(429, "", `{"error":{"code":"429","errors":[{}],"details":[{"reason":1}]}}`)
	f.Add(0, "-1", `[{"error":null}]`)
	f.Fuzz(func(t *testing.T, status int, retryAfter, body string) {
		e := &Error{Op: "fuzz"}
		e.classify(readAnswer(googleError(status, retryAfter, body)), ClassGone, time.Now())
		require.NotEmpty(t, e.Class)
		require.GreaterOrEqual(t, e.RetryAfter, time.Duration(0))
		require.LessOrEqual(t, e.RetryAfter, 25*time.Hour)
	})
}
