package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/safety"
)

const neighbour = "neighbour@example.org"

// as serves the pages of the world to a person.
func (w *world) as(p access.Person) *world {
	w.Helper()
	return serveWorldTo(w.T, w.App, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(rw, r.WithContext(access.With(r.Context(), p)))
		})
	})
}

// withNeighbour adds a second mailbox.
func (w *world) withNeighbour() (id string) {
	w.Helper()
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		id, err = w.EnsureAccount(ctx, tx, neighbour)
		return err
	}))
	return id
}

// things are what the paths of routes are about, all of the owner's mailbox.
func (w *world) things() *strings.Replacer {
	w.Helper()
	account, err := w.Mail.AccountByEmail(w.Context(), sample.Owner)
	require.NoError(w, err)
	action := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0].Action
	own := w.rules()[0]
	require.Equal(w, account.ID, own.AccountID)
	versions := w.get("rules/versions?mailbox=" + sample.Owner)
	var session ruleschat.Session
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		chat, err := w.NewRulesChat("")
		require.NoError(w, err)
		session, err = chat.Begin(ctx, tx, account.ID, "Ann")
		return err
	}))
	mail := strings.TrimPrefix(w.pathOf(action), "mail/")
	m, err := w.Mail.Message(w.Context(), action.AccountID, action.MessageID)
	require.NoError(w, err)
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := w.Replies.NotNeeded(ctx, tx, account.ID, m.ProviderThreadID, m.ProviderID, "a newsletter")
		return err
	}))
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO agent_runs (id, account_id, thread_id, message_id, profile, version, model, "+
			"job_id, replay_of, state, reason, outcome, parameters, action_id, model_calls, tool_calls, tokens, cost, "+
			"duration_ms, started_at) VALUES ('run', $1, $2, $3, 'support', '', '', 'gone', '', 'running', '', '', '{}', '', 0, 0, 0, 0, "+
			"0, $4)", m.AccountID, m.ThreadID, m.ID, dbtime.Of(time.Now()))
		return err
	}))
	require.NoError(w, w.Queue.SetSchedule(w.Context(), queue.Schedule{
		Name: string(agent.JobInvocation) + ":morning", Cron: "@daily",
		Job: agent.JobInvocation.New(agent.Invocation{ID: "morning", UserID: account.ID},
			&queue.Options{UserID: account.ID})}))
	var reminder reminders.Reminder
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		reminder, err = w.Reminders.Add(ctx, tx, reminders.NewReminder{UserID: account.ID, Title: "Tea", Cron: "@daily"})
		return err
	}))
	return strings.NewReplacer("{session}", session.ID, "/agents/runs/{id}", "/agents/runs/run",
		"/agents/schedules/{id}", "/agents/schedules/morning", "{profile}", "support",
		"/drafts/{mailbox}/voice", "/drafts/"+sample.Owner+"/voice",
		"/drafts/{mailbox}/{id}", "/drafts/"+sample.Owner+"/"+m.ProviderThreadID,
		"/waiting/{id}", "/waiting/"+w.waiting(safety.Filter{})[0].Action.ID,
		"/actions/{id}", "/actions/"+action.ID, "/tasks/{id}", "/tasks/"+action.ID, "/reminders/{id}", "/reminders/"+reminder.ID,
		"/mailboxes/{id}", "/mailboxes/"+account.ID,
		"/labels/{mailbox}/{id}", "/labels/"+sample.Owner+"/x", "/instructions/{id}", "/instructions/x", "/calls/{id}", "/calls/x",
		"/tokens/{name}", "/tokens/none",
		"/rules/{id}", "/rules/"+own.ID,
		"{mailbox}/{id}", mail, "{number}", versions.find(w.T, `version=(\d+)"`), "{$}", "")
}

// lists are the routes that show what a person has, whatever they ask for.
var lists = map[string]bool{"GET /{$}": true, "GET /waiting": true, "GET /actions": true, "GET /mail": true,
	"GET /rules": true, "GET /rules/versions": true, "GET /undo": true, "GET /rules/edit": true, "GET /static/": true,
	"GET /events": true, "GET /mailboxes": true, "GET /labels": true, "/": true, "POST /undo": true, "POST /rules/edit": true,
	"GET /rules/import": true, "POST /rules/import": true, "GET /rules/apply": true, "POST /rules/apply": true,
	"GET /rules/form": true, "POST /rules/form": true, "GET /rules/preview": true,
	"POST /waiting/answer": true, "GET /assistant": true, "POST /assistant": true,
	"GET /subscriptions": true, "GET /subscriptions/leave": true, "POST /subscriptions/leave": true,
	"POST /subscriptions/block": true, "POST /reminders": true, "POST /rules/learned": true, "POST /rules/learn": true,
	"POST /rules/bulk": true,
	"GET /drafts":      true, "GET /agents": true, "POST /agents/schedules": true, "POST /waiting/edit": true, "POST /waiting/instead": true, "POST /waiting/again": true,
	"GET /mail/act": true, "POST /mail/act": true, "GET /meaning": true, "GET /statistics": true,
	"GET /mail/ask": true, "POST /mail/ask": true}

// Everything that a route is about is of the owner's mailbox: those who have it get in by their role, and those who
// have another never do.
func TestARouteIsForThoseWithTheRoleAndTheMailbox(t *testing.T) {
	w := newWorld(t)
	w.withNeighbour()
	pages, err := web.New(w.App)
	require.NoError(t, err)
	defer pages.Close()
	things := w.things()
	for _, mailbox := range []string{neighbour, sample.Owner} { // the owner's walk deletes the session
		for _, role := range []access.Role{access.Nobody, access.See, access.Approve, access.Own} {
			as := w.as(access.Person{Name: "bob@example.org", Role: role, Mailboxes: []string{mailbox}})
			for _, of := range pages.Routes() {
				method, path, found := strings.Cut(of.Pattern, " ")
				if !found {
					method, path = http.MethodGet, "/nowhere"
				}
				path = things.Replace(path)
				answer := as.do(method, path, url.Values{"why": {"a walk"}}, nil)
				everything := path == "/stop" || path == "/resume" || strings.HasPrefix(path, "/settings") ||
					strings.HasPrefix(path, "/audit") ||
					path == "/agents/support/resume" || path == "/mailboxes/add" ||
					strings.HasPrefix(path, "/models")
				may := role >= of.Role && !everything && (mailbox == sample.Owner || lists[of.Pattern])
				require.Equal(t, may, answer.status != http.StatusForbidden, "%s as %d of %s: %d %s", of.Pattern, role, mailbox,
					answer.status, answer.body)
				if mailbox != sample.Owner && !strings.HasPrefix(of.Pattern, "GET /static") {
					require.NotContains(t, answer.body, sample.Owner, of.Pattern)
				}
			}
		}
	}
}

// A list that names a foreign mailbox is refused, in its address, in a form and in what is watched.
func TestAForeignMailboxIsNotNamed(t *testing.T) {
	w := newWorld(t)
	w.withNeighbour()
	as := w.as(access.Person{Name: "bob@example.org", Role: access.Own, Mailboxes: []string{neighbour}})
	query := "?mailbox=" + url.QueryEscape(sample.Owner)
	for _, path := range []string{"", "waiting", "actions", "mail", "drafts", "agents", "subscriptions", "meaning",
		"statistics",
		"subscriptions/leave", "undo", "rules", "rules/versions",
		"rules/edit", "rules/preview"} {
		require.Equal(t, http.StatusForbidden, as.get(path+query).status, path)
		if !strings.HasPrefix(path, "subscriptions") && path != "rules/edit" && path != "undo" && path != "rules/preview" {
			require.Equal(t, http.StatusForbidden, as.get("events?page="+url.QueryEscape("/"+path+query)).status, path)
		}
	}
	form := url.Values{"mailbox": {sample.Owner}, "digest": {"x"}, "at": {"2026-01-02T15:04:05Z"}, "text": {"rules: []"}}
	for _, path := range []string{"undo", "rules/edit", "waiting/answer", "subscriptions/leave", "subscriptions/block",
		"rules/learned", "rules/learn", "rules/bulk"} {
		require.Equal(t, http.StatusForbidden, as.post(path, form).status, path)
	}
	shown := w.get("waiting/"+w.waiting(safety.Filter{})[0].Action.ID).find(t, `name="reject" value="([^"]+)"`)
	many := make([]string, 600)
	for name, form := range map[string]url.Values{"one": {"reject": {shown}}, "ticked": {"pick": {"x.y", shown}},
		"hidden": {"approve": many, "reject": {shown}}} {
		for _, path := range []string{"waiting/instead", "waiting/edit"} {
			require.Equal(t, http.StatusForbidden, as.post(path, url.Values{"shown": {shown}}).status, name)
		}
		require.Equal(t, http.StatusForbidden, as.post("waiting/answer", form).status, name)
	}
	require.NotEmpty(t, w.waiting(safety.Filter{}))
}

// What a breaker has stopped in one mailbox is not said to who has another.
func TestABreakerIsOfItsMailbox(t *testing.T) {
	w := newWorld(t)
	w.withNeighbour()
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	owner := accounts[slices.IndexFunc(accounts, func(a mailstore.Account) bool { return a.Email == sample.Owner })].ID
	now := time.Now()
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO safety_breakers (account_id, source, opened_at, open_until, why) "+
			"VALUES ($1, 'llm', $2, $3, 'a flood')", owner, dbtime.Of(now), dbtime.Of(now.Add(time.Hour)))
		return err
	}))
	for mailbox, told := range map[string]bool{sample.Owner: true, neighbour: false} {
		page := w.as(access.Person{Name: "bob@example.org", Role: access.Own, Mailboxes: []string{mailbox}}).get("")
		require.Equal(t, told, strings.Contains(page.body, "a flood"), mailbox)
	}
}

// Signing out is of those who signed in here: a proxy has signed others in.
func TestWhoComesByAProxyHasNoSignOut(t *testing.T) {
	for issuer, shown := range map[string]bool{"": false, "https://id.example": true} {
		w := newWorldWith(t, "", func(c *config.Config) { c.Web.OIDCIssuer = issuer })
		as := w.as(access.Person{Name: "bob@example.org", Role: access.See})
		require.Equal(t, shown, strings.Contains(as.get("").body, "Sign out"), issuer)
		require.NotContains(t, w.get("").body, "Sign out", "on this machine")
	}
}

// What no page reads makes no address of its own, and nobody watches as somebody else.
func TestAWatchedAddressHasWhatPagesRead(t *testing.T) {
	bob := access.Person{Name: "bob@example.org"}
	require.Equal(t, "/waiting?as=bob%40example.org&sender=ann&zone=Europe%2FOslo",
		web.Watched("/waiting?x=1&sender=ann&as=ada@example.org&zone=Europe/Oslo&n=2&sender=two", bob))
	require.Equal(t, "/", web.Watched("/?as=bob@example.org&y=2", access.Person{Name: access.LocalName}))
}

// A stream ends after a time, and who makes it is asked again: it does not outlive a sign-out for long.
func TestAStreamOfAPageEnds(t *testing.T) {
	pages, err := web.New(newWorld(t).App)
	require.NoError(t, err)
	defer pages.Close()
	pages.EndStreamsAfter(time.Nanosecond)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	answer := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events?page=/waiting", nil)
	access.Local(pages).ServeHTTP(answer, r)
	require.NoError(t, ctx.Err(), "it goes on")
	require.Contains(t, answer.Body.String(), "retry")
}

// What somebody does is on record with their address.
func TestAnActIsOnRecordWithWhoDidIt(t *testing.T) {
	w := newWorld(t)
	as := w.as(access.Person{Name: "bob@example.org", Role: access.Approve})
	require.Equal(t, http.StatusSeeOther, as.post("stop", url.Values{}).status)
	stopped, err := w.Ledger.Switch().Stopped(t.Context())
	require.NoError(t, err)
	require.Equal(t, "bob@example.org", stopped.By)
	shown := w.get("waiting/"+w.waiting(safety.Filter{})[0].Action.ID).find(t, `name="reject" value="([^"]+)"`)
	require.Equal(t, http.StatusSeeOther, as.post("waiting/answer", url.Values{"reject": {shown}, "why": {"no"}}).status)
	id, _, _ := strings.Cut(shown, ".")
	answered, err := w.Ledger.Approval(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "bob@example.org", answered.Approver)
}

// Who may only look sees no button that does something.
func TestWhoMayOnlyLookHasNoButtons(t *testing.T) {
	w := newWorld(t)
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.Mail.Pause(ctx, tx, w.Queue, accounts[0].ID, "on holiday")
	}))
	require.NoError(t, w.Stop(t.Context(), "Ann", stopOptions("")))
	as := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0].Action
	for _, path := range []string{"", "waiting", "waiting/" + w.waiting(safety.Filter{})[0].Action.ID, "actions",
		"actions/" + moved.ID, "mail", w.pathOf(moved), "rules", "rules/versions?version=1",
		"rules/preview"} {
		page := as.get(path)
		require.Equal(t, http.StatusOK, page.status, path)
		body := regexp.MustCompile(`<form method="post" action="[./]*signout">`).ReplaceAllString(page.body, "")
		require.NotRegexp(t, `<form method="post" action|formaction|<button form`, body, path)
	}
}
