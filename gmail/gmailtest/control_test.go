package gmailtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// control sends a request as a test in another language does.
func control(t *testing.T, server *gmailtest.Server, verb, path, body string) (status int, answer []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), verb, server.URL()+"gmailtest/"+path,
		bytes.NewBufferString(body))
	require.NoError(t, err)
	response, err := noRedirect.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, answer
}

func TestControl(t *testing.T) {
	server := open(t, gmailtest.Config{Control: true})
	users := client(t, server)
	for _, list := range []string{"pushes", "calls", "accounts/you@example.com/messages"} {
		status, answer := control(t, server, "GET", list, "")
		require.Equal(t, 200, status)
		require.Equal(t, "[]", string(answer), list)
	}
	status, answer := control(t, server, "POST", "accounts/you@example.com/messages",
		"From: a@example.com\nSubject: Hi\n\nHello.\n")
	require.Equal(t, 200, status, string(answer))
	var message gmailtest.Message
	require.NoError(t, json.Unmarshal(answer, &message))
	require.Contains(t, string(answer), `"thread_id":"`+message.ThreadID+`"`, "answers are spelled as requests are")
	require.Equal(t, []string{"INBOX", "UNREAD"}, message.Labels)

	for _, does := range []string{
		`{"does": "read", "ids": ["` + message.ID + `"]}`, `{"does": "label", "label": "Bills", "ids": ["` + message.ID + `"]}`,
		`{"does": "rename_label", "label": "Bills", "name": "Paid"}`,
	} {
		status, answer = control(t, server, "POST", "accounts/you@example.com/person", does)
		require.Equal(t, 204, status, string(answer))
	}
	require.ElementsMatch(t, []string{"INBOX", "Paid"}, labels(t, server, message.ID))

	status, answer = control(t, server, "POST", "faults",
		`[{"method": "getProfile", "status": 429, "retry_after_seconds": 7}, {"method": "labels.list", "times": -1, "status": 599}]`)
	require.Equal(t, 204, status, string(answer))
	_, err := users.GetProfile("me").Do()
	require.Equal(t, "7", requireAPIError(t, err, 429, "rateLimitExceeded").Header.Get("Retry-After"))
	_, err = users.Labels.List("me").Do()
	requireAPIError(t, err, 599, "backendError")
	status, _ = control(t, server, "DELETE", "faults", "")
	require.Equal(t, 204, status)
	_, err = users.Labels.List("me").Do()
	require.NoError(t, err)
	status, answer = control(t, server, "GET", "calls", "")
	require.Equal(t, 200, status)
	var calls []gmailtest.Call
	require.NoError(t, json.Unmarshal(answer, &calls))
	require.Len(t, calls, len(server.Calls()))
	require.Equal(t, gmailtest.GetProfile, calls[0].Method)

	status, answer = control(t, server, "POST", "accounts/you@example.com/grants", `{}`)
	require.Equal(t, 200, status)
	var token oauth2.Token
	require.NoError(t, json.Unmarshal(answer, &token))
	_, err = newApp(t, server).service(&token).GetProfile("me").Do()
	require.NoError(t, err)
	for _, end := range []string{"tokens", "grants", "history"} {
		status, _ = control(t, server, "DELETE", "accounts/you@example.com/"+end, "")
		require.Equal(t, 204, status)
	}
	_, err = newApp(t, server).service(&token).GetProfile("me").Do()
	requireAPIError(t, err, 401, "authError")
	_, err = users.History.List("me").StartHistoryId(1000).Do()
	requireAPIError(t, err, 404, "notFound")

	receiver := newReceiver(t)
	status, answer = control(t, server, "POST", "push-targets", `{"topic": "`+topic+`", "url": "`+receiver.URL+`"}`)
	require.Equal(t, 204, status, string(answer))
	status, _ = control(t, server, "POST", "push-faults", `[{"copies": 1}]`)
	require.Equal(t, 204, status)
	_, err = watch(users)
	require.NoError(t, err)
	require.Equal(t, (<-receiver.got).messageID, (<-receiver.got).messageID)
}

// A test in another language holds a notification, so that a later one overtakes it.
func TestControlHoldsPushes(t *testing.T) {
	server := open(t, gmailtest.Config{Control: true})
	_, herUsers := another(t, server, "ann@example.com")
	receiver := newReceiver(t)
	for path, body := range map[string]string{
		"push-targets": `{"topic": "` + topic + `", "url": "` + receiver.URL + `"}`, "push-faults": `[{"hold": true}]`,
	} {
		status, answer := control(t, server, "POST", path, body)
		require.Equal(t, 204, status, string(answer))
	}
	for _, users := range []*gmail.UsersService{client(t, server), herUsers} {
		_, err := watch(users)
		require.NoError(t, err)
	}
	require.Equal(t, "ann@example.com", (<-receiver.got).Email)
	require.Len(t, pushesOf(server, server.Email()), 0)
	status, answer := control(t, server, "DELETE", "push-faults", "")
	require.Equal(t, 204, status, string(answer))
	require.Equal(t, server.Email(), (<-receiver.got).Email)
}

func TestControlMovesTheClock(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	server := open(t, gmailtest.Config{Control: true, Now: gmailtest.NewClock(begin).Now})
	status, answer := control(t, server, "POST", "accounts/you@example.com/grants", `{}`)
	require.Equal(t, 200, status)
	var token oauth2.Token
	require.NoError(t, json.Unmarshal(answer, &token))
	users := newApp(t, server).service(&token)
	_, err := users.GetProfile("me").Do()
	require.NoError(t, err)

	status, answer = control(t, server, "POST", "clock", `{"move": "25h"}`)
	require.Equal(t, 200, status, string(answer))
	require.JSONEq(t, `{"now": "2026-03-02T13:00:00Z"}`, string(answer))
	_, err = users.GetProfile("me").Do()
	requireAPIError(t, err, 401, "authError")
	status, answer = control(t, server, "POST", "accounts/you@example.com/messages", "Subject: Hi\n\n")
	require.Equal(t, 200, status)
	require.Contains(t, string(answer), `"received":"2026-03-02T13:00:00Z"`)

	status, _ = control(t, server, "POST", "clock", `{"move": "-25h"}`)
	require.Equal(t, 200, status)
	for range 2 {
		status, answer = control(t, server, "GET", "clock", "")
		require.Equal(t, 200, status)
		require.JSONEq(t, `{"now": "2026-03-01T12:00:00Z"}`, string(answer))
		status, _ = control(t, server, "POST", "clock", `{"move": "876001h"}`)
		require.Equal(t, 400, status)
	}
}

func TestControlsThatAreRefused(t *testing.T) {
	server := open(t, gmailtest.Config{Control: true})
	for path, test := range map[string]struct {
		body, want string
		status     int
	}{
		"faults":                                  {`[{"status": 200}]`, "within 400 and 599", 400},
		"faults?":                                 {`[{"cut": "half"}]`, "before or after", 400},
		"faults?2":                                {`[{"stat": 500}]`, `unknown field \"stat\"`, 400},
		"faults?3":                                {`[{"method": "messages.sned", "status": 500}]`, `faults[0].method is \"messages.sned\"`, 400},
		"faults?4":                                {`[{"status": 500}, {"reason": "quotaExceeded"}]`, "faults[1].status is missing", 400},
		"faults?5":                                {`[{"delay_ms": -1}]`, "cannot be negative", 400},
		"clock":                                   {`{"move": "tomorrow"}`, "must be a duration", 400},
		"push-targets":                            {`{"topic": "t"}`, "projects/PROJECT", 400},
		"push-faults":                             {`{}`, "the body is an object and must be a list", 400},
		"faults?6":                                {`[{"status": "500"}]`, "status is a string and must be a number", 400},
		"faults?7":                                {`[{"status": 399}]`, "within 400 and 599", 400},
		"faults?8":                                {`[{"status": 600}]`, "within 400 and 599", 400},
		"faults?9":                                {`[{"status": 500}`, "ends too early", 400},
		"push-faults?2":                           {`[{"lose": true}, {"copies": -1}]`, "push-faults[1]: nth is 0 and copies -1; they cannot be negative", 400},
		"accounts/nobody/grants":                  {`{}`, "no mailbox of this address: nobody", 404},
		"accounts/nobody/messages":                {"Subject: Hi\n\n", "is no address", 400},
		"accounts/ann+tag@example.com/messages":   {"Subject: Hi\n\n", "comes to ann@example.com", 400},
		"accounts/you@example.com/grants":         {`{"scopes": ["x"]}`, "is no scope", 400},
		"accounts/you@example.com/person":         {`{"does": "dance"}`, "a person can read", 400},
		"accounts/you@example.com/person?":        {`{"does": "star", "ids": ["0"]}`, "no such message", 404},
		"accounts/you@example.com/person?accept":  {`{"does": "accept", "name": "a@b.example"}`, "nothing waits", 404},
		"accounts/you@example.com/person?no_ids":  {`{"does": "archive"}`, "ids is missing", 400},
		"accounts/you@example.com/person?delete":  {`{"does": "delete_label", "label": "Bills"}`, `no such label: \"Bills\"`, 404},
		"accounts/you@example.com/person?rename":  {`{"does": "rename_label", "label": "Bills", "name": "Paid"}`, `no such label: \"Bills\"`, 404},
		"accounts/you@example.com/person?unlabel": {`{"does": "unlabel", "label": "Bills", "ids": []}`, `no such label: \"Bills\"`, 404},
		"no-such-thing":                           {`{}`, "POST /gmailtest/no-such-thing", 404},
	} {
		status, answer := control(t, server, "POST", path, test.body)
		require.Equal(t, test.status, status, "%s: %s", path, answer)
		require.Contains(t, string(answer), test.want)
		require.NotContains(t, string(answer), "gmailtest: gmailtest:", "who speaks is said once")
		var said struct{ Error string }
		require.NoError(t, json.Unmarshal(answer, &said), "%s: %s", path, answer)
	}
	list, err := client(t, server).Labels.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Labels, 14, "a label that is to be taken off is not made")
	status, answer := control(t, server, "DELETE", "accounts/ypu@example.com/history", "")
	require.Equal(t, 404, status, "a mistyped address makes no mailbox: %s", answer)
	closed := open(t, gmailtest.Config{})
	status, _ = control(t, closed, "GET", "calls", "")
	require.Equal(t, 404, status, "unless it is asked for")
}

// A test in another language makes its mailboxes as it needs them: empty, or with the first message.
func TestControlCreatesMailboxes(t *testing.T) {
	server := open(t, gmailtest.Config{Control: true})
	for range 2 {
		status, answer := control(t, server, "PUT", "accounts/ann@example.com", "")
		require.Equal(t, 204, status, string(answer))
	}
	status, _ := control(t, server, "PUT", "accounts/nobody", "")
	require.Equal(t, 400, status)
	status, answer := control(t, server, "POST", "accounts/bob@example.com/messages", "Subject: Hi\n\n")
	require.Equal(t, 200, status, string(answer))
	for email, messages := range map[string]int{"ann@example.com": 0, "bob@example.com": 1} {
		var there []gmailtest.Message
		status, answer = control(t, server, "GET", "accounts/"+email+"/messages", "")
		require.Equal(t, 200, status)
		require.NoError(t, json.Unmarshal(answer, &there))
		require.Len(t, there, messages)
	}
}
