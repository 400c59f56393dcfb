package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

const other = "bob@example.org"

// add adds a token, and makes calls by it.
func (w *world) add(name string, scope tokens.Scope, mailboxes ...string) (secret string) {
	w.Helper()
	secret, err := tokens.New(w.app.DB).Add(w.Context(), tokens.Token{Name: name, Scope: scope, Mailboxes: mailboxes})
	require.NoError(w, err)
	return secret
}

// addOther adds a second mailbox, without mail.
func (w *world) addOther() {
	w.Helper()
	require.NoError(w, w.app.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := w.app.EnsureAccount(ctx, tx, other)
		return err
	}))
}

func TestATokenIsNamedRevokedAndOnRecord(t *testing.T) {
	each(t, func(w *world) {
		secret := w.add("ci", tokens.Own)
		stored, err := tokens.New(w.app.DB).List(w.Context())
		require.NoError(w, err)
		require.Len(w, stored, 1)
		w.as = secret
		w.decide(deleteTea, "subject:tea")
		versions, err := view.NewRulesVersions(w.Context(), w.app, "", 1)
		require.NoError(w, err)
		require.Equal(w, "ci", versions[0].By)
		request := call[[]webapi.Request](w, "GET", "/approvals", "", http.StatusOK)[0]
		call[webapi.Answer](w, "POST", "/approvals/"+request.ID+"/reject",
			fmt.Sprintf(`{"request_id": %q, "digest": %q}`, request.RequestID, request.Digest), http.StatusOK)
		answers, err := w.app.Ledger.ApprovalsOf(w.Context(), request.ID)
		require.NoError(w, err)
		require.Equal(w, "ci", answers[0].Approver)

		_, err = tokens.New(w.app.DB).Add(w.Context(), tokens.Token{Name: "ci", Scope: tokens.See})
		require.ErrorContains(w, err, "there is a token ci, or was")
		require.NoError(w, tokens.New(w.app.DB).Revoke(w.Context(), "ci"))
		call[problem](w, "GET", "/rules", "", http.StatusUnauthorized)
		require.ErrorContains(w, tokens.New(w.app.DB).Revoke(w.Context(), "ci"), "there is no token ci")
		var secrets []string
		require.NoError(w, w.app.DB.Reader().Select(&secrets, "SELECT secret_sha256 FROM api_tokens"))
		require.NotContains(w, strings.Join(secrets, ""), secret)
	})
}

// Each token ends after at most 90 days, without being told so too; one of before that has no end keeps working.
func TestATokenEnds(t *testing.T) {
	each(t, func(w *world) {
		store := tokens.New(w.app.DB)
		w.as = w.add("desk", tokens.See)
		list, err := store.List(w.Context())
		require.NoError(w, err)
		require.WithinDuration(w, time.Now().AddDate(0, 0, 90), list[0].ExpiresAt, 2*time.Hour)
		_, err = store.Add(w.Context(), tokens.Token{Name: "long", Scope: tokens.See,
			ExpiresAt: time.Now().AddDate(0, 0, 92)})
		require.ErrorContains(w, err, "at most 90 days")
		call[webapi.Stop](w, "GET", "/stop", "", http.StatusOK)
		end := func(at any) {
			require.NoError(w, w.app.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := dbquery.Exec(ctx, tx, "UPDATE api_tokens SET expires_at = $1", at)
				return err
			}))
		}
		end(nil)
		call[webapi.Stop](w, "GET", "/stop", "", http.StatusOK)
		end(dbtime.Of(time.Now().Add(-time.Second)))
		call[problem](w, "GET", "/stop", "", http.StatusUnauthorized)
	})
}

// Each call is permitted by the scope that its description names, and by no less.
func TestEachRouteWithEachScope(t *testing.T) {
	w := newWorld(t)
	of := map[tokens.Scope]string{}
	for _, scope := range tokens.Scopes() {
		of[scope] = w.add("t-"+string(scope), scope)
	}
	routes := 0
	for path, methods := range w.doc.Paths {
		for method, o := range methods {
			routes++
			for scope, secret := range of {
				w.as = secret
				status, says := w.probe(method, path)
				if !scope.Includes(tokens.Scope(o.Scope)) {
					require.Equal(t, http.StatusForbidden, status, "%s %s with %s: %s", method, path, scope, says)
					require.Contains(t, says, "this needs "+o.Scope)
					continue
				}
				require.NotContains(t, []int{http.StatusForbidden, http.StatusUnauthorized}, status, "%s %s with %s: %s", method,
					path, scope, says)
			}
		}
	}
	require.Greater(t, routes, 40)
}

// A token of one mailbox gets nothing of another, by any call, and nothing of all.
func TestEachRouteWithAnotherMailbox(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"))
	mine, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	w.decide(strings.Replace(deleteTea, "{", `{"account_id": "`+mine.ID+`", `, 1), "subject:tea")
	w.addOther()
	request := call[[]webapi.Request](w, "GET", "/approvals", "", http.StatusOK)[0]
	rule := call[[]webapi.Rule](w, "GET", "/rules", "", http.StatusOK)[0]
	w.as = w.add("bob", tokens.Own, other)
	for path, methods := range w.doc.Paths {
		for method := range methods {
			id := request.ID
			if strings.Contains(path, "/rules/") {
				id = rule.ID
			}
			status, says := w.probe(method, strings.NewReplacer("{mailbox}", sample.Owner, "{id}", id).Replace(path))
			require.NotContains(t, says, "ann@example.com", "%s %s", method, path)
			require.NotContains(t, says, `"Tea"`, "%s %s", method, path)
			if strings.Contains(path, "{") {
				require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, status, "%s %s: %s", method, path, says)
			}
		}
	}
	for _, path := range []string{"/mail?mailbox=", "/actions?mailbox=", "/decisions?mailbox=", "/mailboxes?mailbox=",
		"/events?mailbox="} {
		call[problem](w, "GET", path+sample.Owner, "", http.StatusNotFound)
	}
	call[problem](w, "GET", "/approvals?account_id="+mine.ID, "", http.StatusNotFound)
	call[problem](w, "POST", "/rules", strings.Replace(starTea, "{", `{"account_id": "`+mine.ID+`", `, 1), http.StatusNotFound)
	list := call[struct{ Mailboxes []view.AccountStatus }](w, "GET", "/mailboxes", "", http.StatusOK)
	require.Len(t, list.Mailboxes, 1)
	require.Equal(t, other, list.Mailboxes[0].Email)
	decided, err := w.app.Ledger.Decisions(t.Context(), safety.Filter{AccountID: mine.ID, Limit: 1})
	require.NoError(t, err)
	call[problem](w, "GET", "/decisions/"+decided[0].ID, "", http.StatusNotFound)
	require.Empty(t, call[struct{ Rules []any }](w, "GET", "/rules/activity", "", http.StatusOK).Rules)
	made := call[webapi.Rule](w, "POST", "/rules", starTea, http.StatusOK)
	require.Equal(t, list.Mailboxes[0].ID, made.AccountID)
	w.as = w.add("both", tokens.See, other, sample.Owner)
	require.Contains(t, call[problem](w, "GET", "/actions", "", http.StatusUnprocessableEntity).Detail, "name the mailbox")
	require.NotEmpty(t, call[view.Actions](w, "GET", "/actions?mailbox="+sample.Owner, "", http.StatusOK).List)
}

// A stream ends with its token.
func TestAStreamEndsWithItsToken(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(w.api)
	defer server.Close()
	w.as = w.add("reader", tokens.See)
	stream, end := w.events(server.URL, "")
	defer end()
	require.Equal(t, "begin", (<-stream).kind)
	require.NoError(t, tokens.New(w.app.DB).Revoke(t.Context(), "reader"))
	select {
	case _, more := <-stream:
		require.False(t, more)
	case <-time.After(20 * time.Second):
		t.Fatal("the stream goes on")
	}
}

// A token has so many streams open, and a closed one makes room.
func TestATokenHasSoManyStreams(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(w.api)
	defer server.Close()
	var ends []func()
	for range 10 {
		stream, end := w.events(server.URL, "")
		require.Equal(t, "begin", (<-stream).kind)
		ends = append(ends, end)
	}
	defer func() {
		for _, end := range ends {
			end()
		}
	}()
	require.Contains(t, call[problem](w, "GET", "/events", "", http.StatusTooManyRequests).Detail, "10 open streams")
	w.as = w.add("another", tokens.See)
	stream, end := w.events(server.URL, "")
	defer end()
	require.Equal(t, "begin", (<-stream).kind)
}

// probe makes a call with an empty body, and returns its status and answer.
func (w *world) probe(method, path string) (status int, says string) {
	w.Helper()
	if path == "/api/v1/events" {
		path += "?after=none" // it does not begin
	}
	r, err := http.NewRequestWithContext(w.Context(), strings.ToUpper(method), path, strings.NewReader("{}"))
	require.NoError(w, err)
	return w.serve(r)
}

func TestATokenThatCallsTooOften(t *testing.T) {
	w := newWorld(t)
	for range 1000 {
		status, answer := w.probe("GET", "/api/v1/none")
		if status == http.StatusTooManyRequests {
			require.Contains(t, answer, "calls a second")
			w.as = w.add("another", tokens.See)
			call[webapi.Stop](w, "GET", "/stop", "", http.StatusOK)
			return
		}
	}
	t.Fatal("1,000 calls at once were answered")
}
