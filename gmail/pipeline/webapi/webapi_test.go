package webapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const allMail = `{"name": "All", "action": "star", "account_id": "", "condition": {"type": "subject_contains", "value": "a"}}`

const deletes = "rules:\n  - {name: Tea, condition: {type: subject_contains, value: tea}, action: delete}\n"

// A tenants is a pipeline of two accounts in which each has a request for approval, with its API.
type tenants struct {
	*testing.T
	pipeline *pipeline.Pipeline
	api      http.Handler
	ids      map[string]string // of accounts, by the name of the caller
}

func newTenants(t *testing.T, db queue.DB) *tenants {
	t.Helper()
	require.NoError(t, pipeline.Migrate(t.Context(), db))
	server := gmailtest.NewServer(t)
	p, err := pipeline.New(pipeline.Config{DB: db,
		Clients: gmail.AccountClientsConfig{Endpoint: server.URL(),
			HTTPClient: func(ctx context.Context, a mailstore.Account) (*http.Client, error) {
				return server.HTTPClient(ctx, a.Email)
			}},
		Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) {
			return rulesfile.Parse("rules.yaml", strings.NewReader(deletes))
		}})
	require.NoError(t, err)
	w := &tenants{T: t, pipeline: p, ids: map[string]string{}}
	for _, name := range []string{"ada", "bob"} {
		email := name + "@example.org"
		account, err := server.Account(t.Context(), email)
		require.NoError(t, err)
		_, err = account.Deliver(t.Context(), []byte("From: eve@example.com\r\nSubject: tea\r\n\r\nNow?\r\n"))
		require.NoError(t, err)
		w.ids[name], err = p.AddAccount(t.Context(), email)
		require.NoError(t, err)
	}
	faults, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)
	w.api, err = webapi.New(p, webapi.Config{Prefix: "/api", Authorize: func(r *http.Request) (webapi.Caller, error) {
		name, _, ok := r.BasicAuth()
		if !ok {
			return webapi.Caller{}, errors.New("who are you?")
		}
		return webapi.Caller{Name: name, AccountID: w.ids[name]}, nil
	}})
	require.NoError(t, err)
	return w
}

func (w *tenants) call(as, method, path, body string) (status int, answer string) {
	r := httptest.NewRequest(method, "https://host.example/api/"+path, strings.NewReader(body))
	if as != "" {
		r.SetBasicAuth(as, "")
	}
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, r)
	return recorder.Code, recorder.Body.String()
}

func get[T any](w *tenants, as, path string) (value T) {
	w.Helper()
	status, answer := w.call(as, http.MethodGet, path, "")
	require.Equal(w, http.StatusOK, status, answer)
	require.NoError(w, json.Unmarshal([]byte(answer), &value))
	return value
}

func TestTenantsSeeWhatIsTheirs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newTenants(t, db)
		require.Len(t, get[[]webapi.Request](w, "root", "approvals"), 2)
		own := get[[]webapi.Request](w, "ada", "approvals?account_id="+w.ids["bob"])
		require.Len(t, own, 1)
		other := get[[]webapi.Request](w, "bob", "approvals")[0]
		rule := get[[]webapi.Rule](w, "bob", "rules")[0]
		require.Len(t, get[[]webapi.Rule](w, "ada", "rules"), 1)
		answer, err := json.Marshal(webapi.AnswerBody{RequestID: other.RequestID, Digest: other.Digest})
		require.NoError(t, err)
		for _, call := range []struct {
			as, method, path, body string
			status                 int
		}{
			{"", "GET", "approvals", "", 403},
			{"ada", "GET", "approvals/" + other.ID, "", 404},
			{"ada", "POST", "approvals/" + other.ID + "/approve", string(answer), 404},
			{"ada", "POST", "approvals/" + other.ID + "/reject", string(answer), 404},
			{"ada", "GET", "rules/" + rule.ID, "", 404},
			{"ada", "PATCH", "rules/" + rule.ID, `{"enabled": false}`, 404},
			{"ada", "DELETE", "rules/" + rule.ID, "", 404},
			{"ada", "POST", "rules/" + get[[]webapi.Rule](w, "ada", "rules")[0].ID + "/swap", `{"with": "` + rule.ID + `"}`, 404},
			{"ada", "POST", "rules", allMail, 403},
			{"ada", "POST", "stop", "", 403},
			{"bob", "POST", "approvals/" + other.ID + "/approve", string(answer), 200},
		} {
			status, says := w.call(call.as, call.method, call.path, call.body)
			require.Equal(t, call.status, status, "%s %s %s: %s", call.as, call.method, call.path, says)
		}
		require.NoError(t, w.pipeline.RunJobs(t.Context()))
		done, err := w.pipeline.Ledger.Action(t.Context(), other.ID)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionCompleted, done.State)
		waits, err := w.pipeline.Ledger.Action(t.Context(), own[0].ID)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionPendingApproval, waits.State)
		require.Len(t, get[[]webapi.Rule](w, "root", "rules"), 2)
	})
}

func TestTheAPIStopsAndMakesRules(t *testing.T) {
	w := newTenants(t, dbtest.SQLite(t))
	status, answer := w.call("root", "POST", "stop", "")
	require.Equal(t, http.StatusOK, status, answer)
	require.True(t, get[webapi.Stop](w, "ada", "stop").Stopped)
	status, answer = w.call("root", "POST", "resume", `{"why": "it was nothing"}`)
	require.Equal(t, http.StatusOK, status, answer)
	require.False(t, get[webapi.Stop](w, "ada", "stop").Stopped)

	status, answer = w.call("ada", "POST", "rules",
		`{"name": "Stars", "action": "star", "condition": {"type": "subject_contains", "value": "news"}}`)
	require.Equal(t, http.StatusOK, status, answer)
	var made webapi.Rule
	require.NoError(t, json.Unmarshal([]byte(answer), &made))
	require.Equal(t, w.ids["ada"], made.AccountID)
	status, answer = w.call("ada", "DELETE", "rules/"+made.ID, "")
	require.Equal(t, http.StatusOK, status, answer)
	require.Len(t, get[[]webapi.Rule](w, "ada", "rules"), 1)
}

func TestNewWantsToKnowWhoCalls(t *testing.T) {
	_, err := webapi.New(nil, webapi.Config{})
	require.ErrorContains(t, err, "the Pipeline is nil")
	require.ErrorContains(t, err, "Config.Authorize is nil")
}
