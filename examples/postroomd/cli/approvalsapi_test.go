package cli

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

const apiSecret = "0123456789abcdef0123456789abcdef"

// An apiClient calls the API of a host, which is served under another name than this machine's.
type apiClient struct {
	t     *testing.T
	pages http.Handler
	token string
}

func (c apiClient) call(method, path, body string) (status int, answer string) {
	c.t.Helper()
	r := httptest.NewRequest(method, "https://approvals.example.org/api/v1/approvals"+path, strings.NewReader(body))
	if c.token != "" {
		r.Header.Set("Authorization", c.token)
	}
	w := httptest.NewRecorder()
	c.pages.ServeHTTP(w, r)
	require.Contains(c.t, []string{"application/json", "application/problem+json"}, w.Header().Get("Content-Type"))
	return w.Code, w.Body.String()
}

func (c apiClient) get(path string, into any) {
	c.t.Helper()
	status, answer := c.call("GET", path, "")
	require.Equal(c.t, http.StatusOK, status, answer)
	require.NoError(c.t, json.Unmarshal([]byte(answer), into))
}

func answerTo(r webapi.Request, why string) string {
	text, _ := json.Marshal(webapi.AnswerBody{RequestID: r.RequestID, Digest: r.Digest, Why: why}) //nolint:errchkjson // strings only
	return string(text)
}

func newAPI(t *testing.T, rule string, then ...string) (*teatime, apiClient) {
	t.Helper()
	t.Setenv("POSTROOM_API_TOKEN", apiSecret)
	m := newTeatime(t, rule, "[api]\ntoken = \"env:POSTROOM_API_TOKEN\"\n", letterNamed(1), letterNamed(2), letterNamed(3))
	runOnce(t, m.where...)
	m.where = append(m.where, then...)
	h := m.open()
	h.Log = slog.New(slog.DiscardHandler)
	pages, onClose, err := httpapi.NewHandler(h, nil)
	require.NoError(t, err)
	t.Cleanup(onClose)
	return m, apiClient{t, pages, "Bearer " + apiSecret}
}

func TestProgramsAnswerByTheAPI(t *testing.T) {
	m, c := newAPI(t, deleteTea)
	var list []webapi.Request
	c.get("?limit=2", &list)
	require.Len(t, list, 2)
	var rest []webapi.Request
	c.get("?before="+list[1].ID, &rest)
	require.Len(t, rest, 1)
	var shown webapi.Request
	c.get("/"+list[0].ID, &shown)
	require.Equal(t, list[0], shown)

	status, answer := c.call("POST", "/"+list[0].ID+"/approve", answerTo(shown, ""))
	require.Equal(t, http.StatusOK, status, answer)
	require.JSONEq(t, `{"id":"`+shown.ID+`","state":"queued"}`, answer)
	status, answer = c.call("POST", "/"+list[1].ID+"/reject", answerTo(list[1], "no need"))
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, "rejected")

	for name, call := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"answered":             {"POST", "/" + list[0].ID + "/reject", answerTo(list[0], ""), http.StatusConflict, "api has approved it"},
		"answered and shown":   {"GET", "/" + list[1].ID, "", http.StatusConflict, "does not wait for approval"},
		"another digest":       {"POST", "/" + rest[0].ID + "/approve", answerTo(webapi.Request{RequestID: rest[0].RequestID, Digest: list[0].Digest}, ""), http.StatusConflict, "look at it again"},
		"of another action":    {"POST", "/" + rest[0].ID + "/approve", answerTo(list[1], ""), http.StatusConflict, "look at it again"},
		"no request":           {"POST", "/" + rest[0].ID + "/approve", "{}", http.StatusBadRequest, "request_id and digest"},
		"no JSON":              {"POST", "/" + rest[0].ID + "/approve", "yes", http.StatusBadRequest, "request_id and digest"},
		"unknown fields":       {"POST", "/" + rest[0].ID + "/approve", `{"request_id":"a","digest":"b","approver":"root"}`, http.StatusBadRequest, "request_id and digest"},
		"too long":             {"POST", "/" + rest[0].ID + "/reject", `{"why":"` + strings.Repeat("x", webapi.MaxBody) + `"}`, http.StatusBadRequest, "request_id and digest"},
		"no such action":       {"GET", "/none", "", http.StatusNotFound, "not found"},
		"no such action there": {"POST", "/none/approve", answerTo(rest[0], ""), http.StatusNotFound, "not found"},
		"no such call":         {"GET", "/a/b/c", "", http.StatusNotFound, "there is no such call"},
		"limit":                {"GET", "?limit=1000", "", http.StatusBadRequest, "limit is a number from 1 to 100"},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := c.call(call.method, call.path, call.body)
			require.Equal(t, call.status, status, answer)
			require.Contains(t, answer, call.says)
		})
	}
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionQueued: 1, postroom.ActionRejected: 1,
		postroom.ActionPendingApproval: 1}, m.states())
}

func TestTheAPIWantsItsToken(t *testing.T) {
	m, c := newAPI(t, deleteTea, "--set", `policy.approvers=["ada"]`)
	for _, token := range []string{"", "Bearer ", "Bearer " + apiSecret[1:],
		"Basic " + base64.StdEncoding.EncodeToString([]byte("api:"+apiSecret)), apiSecret} {
		c.token = token
		for _, path := range []string{"", "/" + m.actions()[0].ID + "/approve", "/none/at/all"} {
			status, answer := c.call("GET", path, "")
			require.Equal(t, http.StatusUnauthorized, status, token)
			require.NotContains(t, answer, "Tea")
		}
	}
	c.token = "Bearer " + apiSecret
	var list []webapi.Request
	c.get("", &list)
	status, answer := c.call("POST", "/"+list[0].ID+"/approve", answerTo(list[0], ""))
	require.Equal(t, http.StatusForbidden, status, "the name of the API is not among the approvers")
	require.Contains(t, answer, "not allowed to approve")
	require.Equal(t, 3, m.states()[postroom.ActionPendingApproval])

	refused := m.postroomd("run", "--once")
	require.Equal(t, exitUsage, refused.status)
	require.Contains(t, refused.stderr,
		`api.approver is "api", which policy.approvers does not have; add "api" to policy.approvers`)

	r := httptest.NewRequest(http.MethodGet, "http://approvals.example.org/", nil)
	w := httptest.NewRecorder()
	c.pages.ServeHTTP(w, r)
	require.Equal(t, http.StatusMisdirectedRequest, w.Code, "the other pages are for this machine")
}

// What is sent is composed when it is shown: an answer to what was listed before is not to that.
func TestTheAPIShowsWhatIsSent(t *testing.T) {
	_, c := newAPI(t, forwardTea)
	var list []webapi.Request
	c.get("", &list)
	var shown webapi.Request
	c.get("/"+list[0].ID, &shown)
	require.NotNil(t, shown.Message)
	require.NotEqual(t, list[0].Digest, shown.Digest)
	status, answer := c.call("POST", "/"+shown.ID+"/approve", answerTo(list[0], ""))
	require.Equal(t, http.StatusConflict, status, answer)
	status, answer = c.call("POST", "/"+shown.ID+"/approve", answerTo(shown, ""))
	require.Equal(t, http.StatusOK, status, answer)
}

// The webhook and the API together: a program hears of a request, looks, and answers.
func TestAProgramHearsLooksAndAnswers(t *testing.T) {
	heard := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- string(body)
	}))
	t.Cleanup(receiver.Close)
	t.Setenv("POSTROOM_API_TOKEN", apiSecret)
	m := newTeatime(t, deleteTea, "[api]\ntoken = \"env:POSTROOM_API_TOKEN\"\n[webhook]\nallow_private = true\nurl = \""+
		receiver.URL+
		"\"\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n", letterNamed(1))
	run := start(t, m.where...)
	var event struct {
		Type string `json:"type"`
		Data struct {
			ActionID string `json:"action_id"`
			Approver string `json:"approver"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(<-heard), &event))
	require.Equal(t, "approval.requested", event.Type)
	call := func(method, path, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), method, run.url+"api/v1/approvals/"+event.Data.ActionID+path,
			strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+apiSecret)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode, string(text))
		return string(text)
	}
	var shown webapi.Request
	require.NoError(t, json.Unmarshal([]byte(call("GET", "", "")), &shown))
	call("POST", "/approve", answerTo(shown, ""))
	require.NoError(t, json.Unmarshal([]byte(<-heard), &event))
	require.Equal(t, "approval.approved", event.Type)
	require.Equal(t, "api", event.Data.Approver)
	run.eventually("it is done", func() bool { return m.states()[postroom.ActionCompleted] == 1 })
	run.stop()
	require.NotContains(t, run.log(), apiSecret)
	for says, set := range map[string]string{
		"webhook.secret is set, and webhook.url is not": "webhook.url=",
		"it is not encrypted":                           "webhook.allow_private=false",
		"this is no value of webhook.secret":            "webhook.secret=" + secret(t, "hunter2"),
		"this is no value of api.token":                 "api.token=" + secret(t, "short"),
	} {
		r := m.postroomd("run", "--once", "--set", set)
		require.Equal(t, exitUsage, r.status)
		require.Contains(t, r.stderr, says)
	}
}
