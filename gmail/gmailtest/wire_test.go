package gmailtest_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func TestFields(t *testing.T) {
	server, users := serve(t, &box{name: "one", messages: []mailbox.Message{letter(mixed, "Inbox")}})
	id := find(t, users, "mixed@example.com")
	for fields, want := range map[string]string{
		"id":                      `{"id":"` + id + `"}`,
		"labelIds,snippet":        `{"labelIds":["INBOX"],"snippet":"Grüße"}`,
		"payload/mimeType":        `{"payload":{"mimeType":"multipart/mixed"}}`,
		"payload(parts/filename)": `{"payload":{"parts":[{"filename":""},{"filename":"a.csv"}]}}`,
		"payload/parts(partId,parts/partId)": `{"payload":{"parts":[{"partId":"0","parts":[{"partId":"0.0"},{"partId":"0.1"}]},` +
			`{"partId":"1"}]}}`,
		"payload/parts/body(*)":                      `{"payload":{"parts":[{"body":{"size":0}},{"body":{"attachmentId":"ANGjcGFydCAx","size":4}}]}}`,
		"payload/*/partId":                           `{"payload":{"body":{},"headers":[{},{},{}],"parts":[{"partId":"0"},{"partId":"1"}]}}`,
		"payload/headers/name, id":                   `{"id":"` + id + `","payload":{"headers":[{"name":"From"},{"name":"Message-ID"},{"name":"Content-Type"}]}}`,
		"payload/parts/body/size,payload/parts/body": `{"payload":{"parts":[{"body":{"size":0}},{"body":{"attachmentId":"ANGjcGFydCAx","size":4}}]}}`,
		"payload/parts/body,payload/parts/body/size": `{"payload":{"parts":[{"body":{"size":0}},{"body":{"attachmentId":"ANGjcGFydCAx","size":4}}]}}`,
		"payload(mimeType),payload(headers/name)":    `{"payload":{"headers":[{"name":"From"},{"name":"Message-ID"},{"name":"Content-Type"}],"mimeType":"multipart/mixed"}}`,
	} {
		t.Run(fields, func(t *testing.T) {
			path := "/gmail/v1/users/me/messages/" + id + "?prettyPrint=false&fields=" + strings.ReplaceAll(fields, " ", "%20")
			status, _, text := ask(t, server, "GET", path, "")
			require.Equal(t, 200, status, text)
			if strings.Contains(fields, "/*/") {
				require.Contains(t, text, `"parts":[{"partId":"0"},{"partId":"1"}]`)
				return
			}
			require.JSONEq(t, want, text)
		})
	}
	list, err := users.Messages.List("me").Fields("messages/id", "nextPageToken").Do()
	require.NoError(t, err)
	require.Equal(t, id, list.Messages[0].Id)
	require.Empty(t, list.Messages[0].ThreadId)
	require.Zero(t, list.ResultSizeEstimate)
}

func TestFieldsThatAreNone(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	for _, fields := range []googleapi.Field{"nonsense", "payload(nonsense)", "id/deeper", "id,", "(id)", "payload(id",
		"payload)", "a//b",
		googleapi.Field(strings.Repeat("payload/parts/", 200) + "partId")} {
		t.Run(string(fields), func(t *testing.T) {
			_, err := users.Messages.Trash("me", id).Fields(fields).Do()
			requireAPIError(t, err, 400, "invalidParameter")
		})
	}
	require.Equal(t, []string{"INBOX", "UNREAD"}, labels(t, server, id), "nothing was done")
	_, err := users.Labels.Get("me", "INBOX").Fields("payload").Do()
	requireAPIError(t, err, 400, "invalidParameter")
}

// A got is what was answered besides the body.
type got struct {
	StatusCode int
	Header     http.Header
}

// get makes a request with a header and returns the answer as it came.
func get(t *testing.T, server *gmailtest.Server, path string, header ...string) (*got, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(server.URL(), "/")+path,
		nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer gmailtest")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return &got{response.StatusCode, response.Header}, string(text)
}

func TestFormOfAnswers(t *testing.T) {
	server, _ := serve(t, letters(50))
	const profile = "/gmail/v1/users/me/profile"
	_, text := get(t, server, profile)
	require.True(t, strings.HasPrefix(text, "{\n  \"emailAddress\": "), text)
	_, text = get(t, server, profile+"?prettyPrint=false&fields=emailAddress")
	require.Equal(t, `{"emailAddress":"you@example.com"}`, text)
	_, text = get(t, server, profile+"?$prettyPrint=false&$fields=emailAddress")
	require.Equal(t, `{"emailAddress":"you@example.com"}`, text)
	_, text = get(t, server, profile+"?prettyPrint=false", "X-Goog-FieldMask", "emailAddress")
	require.Equal(t, `{"emailAddress":"you@example.com"}`, text)

	response, text := get(t, server, "/gmail/v1/users/me/messages", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", response.Header.Get("Content-Encoding"))
	require.True(t, strings.HasPrefix(text, "\x1f\x8b"))
	require.Equal(t, "private", response.Header.Get("Cache-Control"))
	response, _ = get(t, server, "/gmail/v1/users/me/messages")
	require.Empty(t, response.Header.Get("Content-Encoding"))

	response, text = get(t, server, profile+"?alt=media")
	require.Equal(t, 400, response.StatusCode, text)
	response, text = get(t, server, profile+"?alt=json")
	require.Equal(t, 200, response.StatusCode, text)
}

// The body of an error says what its status says, and has the names of the older and of the newer APIs.
func TestErrorsOnTheWire(t *testing.T) {
	server, _ := serve(t, nil)
	server.Fault(
		gmailtest.Fault{Status: 400, Reason: "failedPrecondition", Message: "Precondition check failed."},
		gmailtest.Fault{Nth: 2, Status: 403, Reason: "dailyLimitExceeded", RetryAfter: time.Second},
		gmailtest.Fault{Nth: 3, Status: 503},
	)
	for _, test := range []struct{ path, want string }{
		{"profile", `{"code": 400, "message": "Precondition check failed.", "status": "FAILED_PRECONDITION",
			"errors": [{"message": "Precondition check failed.", "domain": "global", "reason": "failedPrecondition"}]}`},
		{"profile", `{"code": 403, "message": "Forbidden", "status": "PERMISSION_DENIED",
			"errors": [{"message": "Forbidden", "domain": "usageLimits", "reason": "dailyLimitExceeded"}]}`},
		{"profile", `{"code": 503, "message": "Service Unavailable", "status": "UNAVAILABLE",
			"errors": [{"message": "Service Unavailable", "domain": "global", "reason": "backendError"}]}`},
		{"messages/ffffffffffffffff", `{"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND",
			"errors": [{"message": "Requested entity was not found.", "domain": "global", "reason": "notFound"}]}`},
	} {
		response, text := get(t, server, "/gmail/v1/users/me/"+test.path)
		require.JSONEq(t, `{"error": `+test.want+`}`, text)
		require.Contains(t, test.want, strconv.Itoa(response.StatusCode))
	}
}
