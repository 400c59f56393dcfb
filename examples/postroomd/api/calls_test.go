package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/queuectl/jobview"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/backtest"
)

func each(t *testing.T, fn func(w *world)) {
	mails := []string{mail("ann@example.com", "tea"), mail("bob@example.org", "lunch")}
	t.Run("sqlite", func(t *testing.T) { fn(newWorldOn(t, "", mails...)) })
	t.Run("postgres", func(t *testing.T) { fn(newWorldOn(t, dbtest.MigratedDSN(t), mails...)) })
}

// found is a page of mail.
func (w *world) search(query string) view.MailPage {
	w.Helper()
	return call[view.MailPage](w, "GET", "/mail?mailbox="+sample.Owner+"&q="+url.QueryEscape(query), "", http.StatusOK)
}

// decide makes a rule, and decides about the first message of a search again.
func (w *world) decide(rule, query string) (id string) {
	w.Helper()
	call[webapi.Rule](w, "POST", "/rules", rule, http.StatusOK)
	id = w.search(query).Messages[0].ID
	done := call[struct{ Matched bool }](w, "POST", "/mail/"+sample.Owner+"/"+id+"/decide", "", http.StatusOK)
	require.True(w, done.Matched)
	w.work()
	return id
}

const deleteTea = `{"name": "Tea", "condition": {"type": "subject_contains", "value": "tea"}, "action": "delete"}`

// A request names its mailbox and its message, and what it would do.
func TestARequestShowsItsMail(t *testing.T) {
	each(t, func(w *world) {
		w.decide(deleteTea, "subject:tea")
		type request struct {
			webapi.Request
			Mailbox, Would string
			Forever        bool
			Mail           *view.WholeMail
		}
		list := call[[]request](w, "GET", "/approvals", "", http.StatusOK)
		require.Len(t, list, 1)
		require.Equal(t, sample.Owner, list[0].Mailbox)
		require.Equal(t, "tea", list[0].Mail.Subject)
		shown := call[request](w, "GET", "/approvals/"+list[0].ID, "", http.StatusOK)
		require.Equal(t, list[0].Digest, shown.Digest)
		require.Contains(t, shown.Mail.Text, "At five?")
		require.Equal(t, "delete for ever", shown.Would)
		require.True(t, shown.Forever)
		answer := fmt.Sprintf(`{"request_id": %q, "digest": %q}`, shown.RequestID, shown.Digest)
		call[webapi.Answer](w, "POST", "/approvals/"+shown.ID+"/reject", answer, http.StatusOK)
		call[problem](w, "GET", "/approvals/"+shown.ID, "", http.StatusConflict)
		call[problem](w, "GET", "/approvals/none", "", http.StatusNotFound)
	})
}

const forwardTea = `{"name": "Tea", "condition": {"type": "subject_contains", "value": "tea"}, "action": "forward",
	"parameters": {"to": "books@example.com", "body": "For the books."}}`

// What a program edits is what it approves, and what is sent; what it was shown before is approved by nobody.
func TestWhatIsSentIsEdited(t *testing.T) {
	each(t, func(w *world) {
		t := w.T
		w.decide(forwardTea, "subject:tea")
		type request struct {
			webapi.Request
			Note   string
			Edited *view.Edit
		}
		id := call[[]request](w, "GET", "/approvals", "", http.StatusOK)[0].ID
		shown := call[request](w, "GET", "/approvals/"+id, "", http.StatusOK)
		require.Equal(t, "For the books.", shown.Note)
		require.Nil(t, shown.Edited)
		edit := func(of request, more string) string {
			return fmt.Sprintf(`{"request_id": %q, "digest": %q%s}`, of.RequestID, of.Digest, more)
		}
		for more, status := range map[string]int{``: 400, `, "text": "a\u0000b"`: 400,
			`, "subject": "a\nb"`: 422, `, "text": "` + strings.Repeat("x", outbox.MaxEditedText+1) + `"`: 422} {
			call[problem](w, "POST", "/approvals/"+id+"/edit", edit(shown, more), status)
		}
		call[problem](w, "POST", "/approvals/none/edit", edit(shown, `, "text": "x"`), http.StatusNotFound)
		next := call[request](w, "POST", "/approvals/"+id+"/edit", edit(shown, `, "text": "Please pay.", "subject": "Pay"`),
			http.StatusOK)
		require.Equal(t, "Please pay.", next.Note)
		require.Equal(t, "api", next.Edited.By)
		require.NotEqual(t, shown.Message.SHA256, next.Message.SHA256)
		require.Contains(t, next.Message.Text, "Please pay.\n\n-----")
		require.Contains(t, next.Message.Text, "At five?")
		for _, what := range []string{"approve", "reject"} {
			old := call[problem](w, "POST", "/approvals/"+id+"/"+what, edit(shown, ""), http.StatusConflict)
			require.Contains(t, old.Detail, "was edited since, look again")
		}
		call[problem](w, "POST", "/approvals/"+id+"/edit", edit(shown, `, "text": "x"`), http.StatusConflict)
		call[webapi.Answer](w, "POST", "/approvals/"+id+"/approve", edit(next, ""), http.StatusOK)
		call[problem](w, "POST", "/approvals/"+id+"/edit", edit(next, `, "text": "x"`), http.StatusConflict)
		w.work()
		require.Equal(t, 1, w.gmail.Counts()[gmailtest.MessagesSend])
		a, err := w.app.Ledger.Action(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
		require.Equal(t, next.Message.SHA256, a.ContentSHA256)
	})
}

func TestActionsAreFoundAndTakenBack(t *testing.T) {
	each(t, func(w *world) {
		id := w.decide(starTea, "subject:tea")
		require.Len(t, w.search("is:starred").Messages, 1)
		require.Empty(t, call[view.Actions](w, "GET", "/actions?source=host", "", http.StatusOK).List)
		list := call[view.Actions](w, "GET", "/actions?kind=star&window=7d&source=deterministic&rule=Star", "", http.StatusOK)
		require.Len(t, list.List, 1)
		require.Empty(t, call[view.Actions](w, "GET", "/actions?kind=archive", "", http.StatusOK).List)
		call[problem](w, "GET", "/actions?kind=odd", "", http.StatusUnprocessableEntity)
		whole := call[view.WholeAction](w, "GET", "/actions/"+list.List[0].ID, "", http.StatusOK)
		require.Equal(t, []string{"STARRED"}, whole.Change.Added)
		events := call[struct{ Events []view.Event }](w, "GET", "/mail/"+sample.Owner+"/"+id+"/history", "", http.StatusOK)
		require.Equal(t, "It came", events.Events[0].What)
		require.Len(t, call[struct{ Decisions []view.Decision }](w, "GET", "/decisions?rule=Star", "",
			http.StatusOK).Decisions, 1)

		decision := call[view.WholeDecision](w, "GET", "/decisions/"+whole.Decision.ID, "", http.StatusOK)
		require.Equal(t, "Star", decision.Rule)
		require.Equal(t, list.List[0].ID, decision.Actions[0].ID)
		call[problem](w, "GET", "/decisions/none", "", http.StatusNotFound)

		call[problem](w, "POST", "/undo/preview", `{}`, http.StatusUnprocessableEntity)
		preview := call[struct {
			At, Digest string
			Undone     int
			Groups     []view.UndoGroup
		}](w, "POST", "/undo/preview", `{"rule": "Star"}`, http.StatusOK)
		require.Equal(t, 1, preview.Undone)
		require.Len(t, preview.Groups, 1)
		require.True(t, preview.Groups[0].Changes)
		require.Equal(t, list.List[0].Subject, preview.Groups[0].Examples[0].Subject)
		require.Equal(t, list.List[0].Sender, preview.Groups[0].Examples[0].Sender)
		body := fmt.Sprintf(`{"rule": "Star", "at": %q, "digest": %q}`, preview.At, preview.Digest)
		call[problem](w, "POST", "/undo", strings.Replace(body, preview.Digest, "other", 1), http.StatusConflict)
		require.Len(t, w.search("is:starred").Messages, 1)
		undone := call[struct{ Requested []string }](w, "POST", "/undo", body, http.StatusOK)
		require.Equal(t, []string{list.List[0].ID}, undone.Requested)
		w.work()
		require.Empty(t, w.search("is:starred").Messages)
		type activity struct {
			Rules []struct {
				Name         string
				Hits, Undone int
			}
		}
		rule := call[activity](w, "GET", "/rules/activity?mailbox="+sample.Owner, "", http.StatusOK).Rules[0]
		require.Equal(t, "Star", rule.Name)
		require.Equal(t, 1, rule.Hits)
		require.Equal(t, 1, rule.Undone)
		undo := call[view.Actions](w, "GET", "/actions?kind=undo_star", "", http.StatusOK).List
		require.Len(t, undo, 1)
		call[any](w, "POST", "/actions/"+undo[0].ID+"/undo", "", http.StatusOK)
		w.work()
		require.Len(t, w.search("is:starred").Messages, 1, "the undo of an undo does the action again")
	})
}

func TestRulesAreTriedByTheAPI(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"), mail("bob@example.org", "lunch"))
	rules := "rules:\n  - {name: Noon, condition: {type: subject_contains, value: lunch}, action: star}\n"
	body := fmt.Sprintf(`{"rules": %q, "mailbox": %q}`, rules, sample.Owner)
	report := call[backtest.Report](w, "POST", "/rules/backtest", body, http.StatusOK)
	require.Equal(t, 2, report.Messages)
	require.Equal(t, 1, report.Matched)
	require.Equal(t, "lunch", report.Rules[0].Samples[0].Subject)
	require.Empty(t, call[[]webapi.Rule](w, "GET", "/rules", "", http.StatusOK))
	call[problem](w, "POST", "/rules/backtest", `{"rules": "odd"}`, http.StatusUnprocessableEntity)
	call[problem](w, "POST", "/rules/backtest", `{"mailbox": "eve@example.org"}`, http.StatusNotFound)
}

func TestMailboxesAndJobs(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"))
	const box = "/mailboxes/" + sample.Owner
	list := call[struct{ Mailboxes []view.AccountStatus }](w, "GET", "/mailboxes", "", http.StatusOK)
	require.Equal(t, sample.Owner, list.Mailboxes[0].Email)
	require.Equal(t, "paused", call[struct{ State string }](w, "POST", box+"/pause", `{"why": "x"}`, http.StatusOK).State)
	require.Equal(t, "active", call[struct{ State string }](w, "POST", box+"/resume", "", http.StatusOK).State)
	for _, path := range []string{"/sync", "/labels/sync", "/reconcile"} {
		job := call[struct {
			JobID string `json:"job_id"`
		}](w, "POST", box+path, "", http.StatusOK)
		call[jobview.Job](w, "GET", "/jobs/"+job.JobID, "", http.StatusOK)
	}
	w.work()
	labels := call[struct{ Labels []struct{ ID string } }](w, "GET", box+"/labels", "", http.StatusOK)
	one := box + "/labels/" + labels.Labels[0].ID
	call[any](w, "PATCH", one, `{"for_models": true}`, http.StatusOK)
	described := call[struct {
		Description string
		ForModels   bool `json:"for_models"`
	}](w, "PATCH", one, `{"description": "bills"}`, http.StatusOK)
	require.Equal(t, "bills", described.Description)
	require.True(t, described.ForModels)
	call[problem](w, "PATCH", one, `{}`, http.StatusUnprocessableEntity)
	call[problem](w, "PATCH", box+"/labels/none", `{}`, http.StatusNotFound)

	call[any](w, "GET", "/status", "", http.StatusOK)
	call[view.Cost](w, "GET", "/cost", "", http.StatusOK)
	jobs := call[struct{ Jobs []jobview.Job }](w, "GET", "/jobs?state=completed", "", http.StatusOK)
	require.NotEmpty(t, jobs.Jobs)
	call[problem](w, "POST", "/jobs/"+jobs.Jobs[0].ID+"/retry", "", http.StatusConflict)
	call[problem](w, "GET", "/jobs/none", "", http.StatusNotFound)
	require.NoError(t, w.app.Queue.SetSchedule(t.Context(), queue.Schedule{Name: "labels of ada", Cron: "@daily",
		Job: gmail.NewLabelsSyncJob(list.Mailboxes[0].ID)}))
	schedules := call[struct{ Schedules []struct{ Name string } }](w, "GET", "/schedules", "", http.StatusOK)
	call[any](w, "POST", "/schedules/"+url.PathEscape(schedules.Schedules[0].Name)+"/fire", "", http.StatusOK)
	call[problem](w, "POST", "/schedules/none/fire", "", http.StatusNotFound)
	id := w.search("subject:tea").Messages[0].ID
	require.Equal(t, "tea", call[view.WholeMail](w, "GET", "/mail/"+sample.Owner+"/"+id, "", http.StatusOK).Subject)
	call[any](w, "GET", "/mail/"+sample.Owner+"/"+id+"/explanation", "", http.StatusOK)
	call[problem](w, "GET", "/mail/"+sample.Owner+"/none", "", http.StatusNotFound)
	call[problem](w, "GET", "/mail?cursor=odd", "", http.StatusUnprocessableEntity)
}

// Signing out takes the grant back, and needs one.
func TestAMailboxIsSignedOutOf(t *testing.T) {
	w := newWorld(t)
	google, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	defer func() { require.NoError(t, google.Close()) }()
	c := &w.app.Env.Config.Gmail
	c.ClientID, c.AuthServer, c.Tokens, c.Passphrase = "me", google.URL(), "file", "correct horse"
	const path = "/mailboxes/" + sample.Owner + "/signout"
	call[problem](w, "POST", path, "", http.StatusUnprocessableEntity)
	call[problem](w, "POST", "/mailboxes", `{"email": "nobody"}`, http.StatusUnprocessableEntity)
	asks := call[struct{ Address string }](w, "POST", "/mailboxes", `{"email": "eve@example.org"}`, http.StatusOK)
	require.Contains(t, asks.Address, google.URL())
	require.Contains(t, asks.Address, "eve%40example.org")
	tokens, err := w.app.Env.Tokens(t.Context())
	require.NoError(t, err)
	grant := auth.Grant{Email: sample.Owner, RefreshToken: "1//x", ClientID: "me", Scopes: []string{auth.ScopeModify}}
	require.NoError(t, tokens.Save(t.Context(), grant))
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	before, err := w.app.Clients.Client(t.Context(), account.ID)
	require.NoError(t, err)
	type signedOut struct {
		State   string
		Revoked bool
	}
	require.Equal(t, signedOut{"reauthorize", true}, call[signedOut](w, "POST", path, "", http.StatusOK))
	_, err = tokens.Load(t.Context(), sample.Owner)
	require.ErrorIs(t, err, auth.ErrNoGrant)
	after, err := w.app.Clients.Client(t.Context(), account.ID)
	require.NoError(t, err)
	require.NotSame(t, before, after, "a client that has what was granted is used no more")

	require.NoError(t, tokens.Save(t.Context(), grant))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	revoked, err := w.app.SignOutMailbox(gone, sample.Owner, "ada", false)
	require.NoError(t, err, "it is whole, though its caller has gone")
	require.True(t, revoked)

	require.NoError(t, tokens.Save(t.Context(), grant))
	c.AuthServer = "http://127.0.0.1:1"
	call[problem](w, "POST", path, "", http.StatusBadGateway)
	require.Equal(t, signedOut{"reauthorize", false}, call[signedOut](w, "POST", path, `{"anyway": true}`, http.StatusOK))
}

// A grant that is taken back and cannot be forgotten is not said to be there still.
func TestAGrantIsTakenBackAndNotForgotten(t *testing.T) {
	w := newWorld(t)
	folder := w.app.Env.Folder.Tokens()
	google := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		_ = os.RemoveAll(folder)
		_ = os.WriteFile(folder, nil, 0o600)
	}))
	defer google.Close()
	c := &w.app.Env.Config.Gmail
	c.ClientID, c.AuthServer, c.Tokens, c.Passphrase = "me", google.URL, "file", "correct horse"
	tokens, err := w.app.Env.Tokens(t.Context())
	require.NoError(t, err)
	require.NoError(t, tokens.Save(t.Context(), auth.Grant{Email: sample.Owner, RefreshToken: "1//x", ClientID: "me",
		Scopes: []string{auth.ScopeModify}}))
	revoked, err := w.app.SignOutMailbox(t.Context(), sample.Owner, "ada", false)
	require.ErrorIs(t, err, auth.ErrNotDeleted)
	require.NotErrorIs(t, err, app.ErrNotRevoked)
	require.True(t, revoked)
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.Equal(t, mailstore.AccountReauthorize, account.State)
}

// A client that was away sees what happened meanwhile, and each event once.
func TestEventsGoOnAfterTheLast(t *testing.T) {
	each(t, func(w *world) {
		server := httptest.NewServer(w.api)
		t := w.T
		defer server.Close()
		first, end := w.events(server.URL, "")
		begin := <-first
		require.Equal(t, "begin", begin.kind)
		w.decide(starTea, "subject:tea")
		one := <-first
		require.Equal(t, "decision", one.kind)
		end()
		rest, end := w.events(server.URL, one.id)
		defer end()
		require.Equal(t, one.id, (<-rest).id, "it begins where the client has come to")
		two := <-rest
		require.Equal(t, "action", two.kind)
		require.NotEqual(t, one.id, two.id)
		require.Contains(t, two.data, sample.Owner)
	})
	w := newWorld(t)
	call[problem](w, "GET", "/events?after=99999", "", http.StatusUnprocessableEntity)
}

type sent struct{ id, kind, data string }

// events returns the events that are sent after one, until end is called.
func (w *world) events(address, after string) (events <-chan sent, end func()) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 10*time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/v1/events", nil)
	require.NoError(w, err)
	r.Header.Set("Authorization", "Bearer "+w.as)
	r.Header.Set("Last-Event-ID", after)
	response, err := http.DefaultClient.Do(r) //nolint:bodyclose // the goroutine that reads it closes it
	require.NoError(w, err)
	require.Equal(w, "text/event-stream", response.Header.Get("Content-Type"))
	read := make(chan sent, 100)
	go func() {
		defer close(read)
		var one sent
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				one.id = value
			case "event":
				one.kind = value
			case "data":
				one.data = value
				read <- one
			}
		}
	}()
	return read, func() {
		cancel()
		_ = response.Body.Close()
		for range read {
		}
	}
}
