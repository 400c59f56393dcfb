package doors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// An object is a JSON object that a door has answered with.
type object map[string]any

// A fact is where each door says the same thing. A door that does not say it has no place.
type fact struct {
	name string

	// Where in an answer it stands: fields with dots between them. Of "a|b" it is b where there is no a; "a b" are both.
	cli, api, mcp string

	page string // where it stands in the answer of the API, if the page says it in the same words
}

// answers are what the doors say about one thing.
type answers struct {
	cli, api, mcp object
	page          string // its text
}

// agree checks that each fact is the same at each door that says it.
func (a answers) agree(t *testing.T, facts []fact) {
	t.Helper()
	for _, f := range facts {
		said := map[string]string{}
		for door, at := range map[string]struct {
			answer object
			place  string
		}{"commands": {a.cli, f.cli}, "API": {a.api, f.api}, "assistants": {a.mcp, f.mcp}} {
			if at.place != "" {
				require.NotNil(t, at.answer, door)
				said[door] = at.answer.text(at.place)
			}
		}
		for door, value := range said {
			for other, too := range said {
				require.Equal(t, value, too, "%s: what the %s and the %s say", f.name, door, other)
			}
		}
		if f.page != "" {
			require.Contains(t, a.page, a.api.text(f.page), "%s: what the page says", f.name)
		}
	}
}

// text returns what stands at a place, with single spaces.
func (o object) text(place string) string {
	var found []string
	for part := range strings.FieldsSeq(place) {
		for choice := range strings.SplitSeq(part, "|") {
			var v any = map[string]any(o)
			for field := range strings.SplitSeq(choice, ".") {
				within, _ := v.(map[string]any)
				v = within[field]
			}
			if text := plain(v); text != "" {
				found = append(found, text)
				break
			}
		}
	}
	return strings.Join(found, " ")
}

func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return squeeze(v)
	case []any:
		if len(v) == 0 {
			return ""
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// A world is a sorted sample mailbox, with what the commands have said about it, and the other doors.
type world struct {
	*testing.T
	actions, requests       []object
	draft, agentRun         object
	decisions, mails, rules map[string]object // by their id, that of the action, and their name
	where                   []string          // the flags of the commands
	url                     string            // of the page
	api                     http.Handler
	assistant               *sdk.ClientSession
}

const token = "a token that nobody can guess, it seems"

// newWorld makes a world on a PostgreSQL database; empty: on SQLite.
func newWorld(t *testing.T, database string) *world {
	t.Helper()
	w := &world{T: t, decisions: map[string]object{}, mails: map[string]object{}, rules: map[string]object{}}
	w.place(database)
	w.run("run", "--once")
	w.where = append(w.where, "--set", "llm.provider=openai", "--set", "llm.model=small",
		"--set", "llm.api_key=env:DOORS_TOKEN", "--set", "llm.base_url=http://127.0.0.1:1",
		"--set", "llm.account_tokens_day=90000", "--set", "llm.total_tokens_day=500000")
	w.command("unsubscribe", "do", "letters@shop.example", "--yes")
	lastDay := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	w.command("away", "set", "--until", lastDay, "I am away until {{until}}.", "--yes")
	w.answer()
	w.ask()
	a := w.open()
	t.Cleanup(func() { require.NoError(t, a.Close()) })

	calls, err := api.New(a)
	require.NoError(t, err)
	t.Cleanup(calls.Close)
	w.api = calls

	pages, err := web.New(a)
	require.NoError(t, err)
	server := httptest.NewServer(access.Local(pages))
	t.Cleanup(server.Close)
	t.Cleanup(pages.Close)
	w.url = server.URL + "/"

	mine, theirs := sdk.NewInMemoryTransports()
	served, err := mcp.NewServer(a, mcp.Caller{Name: "desk"}).Connect(t.Context(), theirs, nil)
	require.NoError(t, err)
	w.assistant, err = sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), mine, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = w.assistant.Close(), served.Wait() })
	return w
}

func (w *world) open() *app.App {
	w.Helper()
	cmd := new(cobra.Command)
	flags := command.NewEnvironmentFlags(cmd)
	require.NoError(w, cmd.ParseFlags(w.where))
	env, err := flags.Existing(cmd)
	require.NoError(w, err)
	env.Config.API = config.API{Token: token, Approver: "api"}
	a, err := app.New(w.Context(), app.Config{Environment: env})
	require.NoError(w, err)
	return a
}

// answer records what becomes of the answer to a message, that an agent has worked on it, and that a model was asked
// about it.
func (w *world) answer() {
	w.Helper()
	a := w.open()
	accounts, err := a.Mail.Accounts(w.Context())
	require.NoError(w, err)
	found, err := a.SearchMail(w.Context(), accounts[0].ID, mailindex.Search{Query: "in:inbox", Limit: 1})
	require.NoError(w, err)
	m := found.Messages[0]
	require.NoError(w, a.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := a.Replies.NotNeeded(ctx, tx, m.AccountID, m.ProviderThreadID, m.ProviderID, "a newsletter")
		if err != nil {
			return err
		}
		now := dbtime.Of(time.Now())
		_, err = tx.ExecContext(ctx, "INSERT INTO agent_runs (id, account_id, thread_id, message_id, profile, version, model, "+
			"job_id, replay_of, state, reason, outcome, parameters, action_id, model_calls, tool_calls, tokens, cost, "+
			"duration_ms, started_at, ended_at) VALUES ('018c2', $1, $2, $3, 'support', 'v1', 'acme::small', 'job', '', 'done', "+
			"'It is about tea.', 'draft', $4, 'action', 2, 1, 980, 12000000, 1500, $5, $6)", m.AccountID, m.ThreadID, m.ID,
			`{"to": ["ann@example.com"], "body": "At five."}`, now, now)
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO agent_steps (run_id, n, kind, name, input, input_sha256, output, fault, tokens, "+
				"cost, duration_ms) VALUES ('018c2', 1, 'tool', 'read_thread', '{}', '', 'At five?', '', 0, 0, 10)")
		}
		return err
	}))
	w.consult(a, m)
	require.NoError(w, a.Close())
}

// consult has a model asked about a message: it answers, its answer is given again, and it fails.
func (w *world) consult(a *app.App, m *postroom.Message) {
	w.Helper()
	answers := llmtest.Says("yes")
	answers.Response.Usage = llm.Usage{InputTokens: 900, OutputTokens: 100}
	model, err := llm.NewMetered(llm.MeteredConfig{Client: llmtest.NewScripted(w.T, answers,
		llmtest.Fails(&llm.Error{Provider: "acme", Reason: llm.ErrOverloaded})), Records: a.Models.Records,
		Model: "acme::small", Price: &llm.Price{Input: llm.Dollar, Output: 5 * llm.Dollar}})
	require.NoError(w, err)
	for _, text := range []string{"Is it?", "Is it?", "Was it?"} {
		_, err = model.Complete(w.Context(), &llm.Request{AccountID: m.AccountID, About: m.ID, Purpose: "classify",
			Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}})
	}
	require.ErrorIs(w, err, llm.ErrOverloaded)
}

// more are rules beside those of the demo: one sends a message, and asks first; the other makes a task.
const more = `
  - name: Books
    priority: 1
    condition: {type: subject_regex, value: '(?i)receipt'}
    action: forward
    parameters: {to: books@example.com, body: For the books.}
  - name: Bills
    priority: 2
    condition: {type: subject_regex, value: '(?i)invoice'}
    action: create_task
    parameters: {title: Pay the bill, notes: By card, due: "2026-12-01T15:00:00Z"}
`

// lists are mailing lists of which nothing is read, and how each is left.
var lists = map[string]string{"letters@shop.example": "<mailto:leave@shop.example?subject=bye>",
	"offers@shop.example": "<https://shop.example/leave>", "tips@shop.example": "<mailto:stop@shop.example>"}

// place serves the sample mailbox with some mailing lists, for a postroomd that sorts it by the rules of the demo and
// some more.
func (w *world) place(database string) {
	w.Helper()
	server, err := gmailtest.Open(w.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, server.Close()) })
	_, err = server.Import(w.Context(), sample.Mailbox(), func(int) {})
	require.NoError(w, err)
	for sender, way := range lists {
		for n := range 5 {
			_, err := server.Deliver(w.Context(), fmt.Appendf(nil,
				"Received: from mail.shop.example by mx.google.com with ESMTPS; Fri, 27 Nov 2026 02:00:00 -0800\r\n"+
					"Authentication-Results: mx.google.com; dkim=pass header.i=@shop.example header.s=s header.b=AbCd\r\n"+
					"DKIM-Signature: v=1; d=shop.example; s=s; h=from:list-unsubscribe; b=AbCdEf\r\n"+
					"From: Shop <%s>\r\nTo: %s\r\nSubject: Letter %d\r\nMessage-ID: <%d.%s>\r\n"+
					"List-Unsubscribe: %s\r\n\r\nBuy.\r\n", sender, sample.Owner, n, n, sender, way))
			require.NoError(w, err)
		}
	}
	folder := w.TempDir()
	file := filepath.Join(folder, "rules.yaml")
	text := strings.Replace(string(config.SampleRules), "\nrules:\n", "\nrules:"+more, 1)
	require.NoError(w, os.WriteFile(file, []byte(text), 0o600))
	w.Setenv("DOORS_TOKEN", "token")
	w.Setenv("DOORS_DATABASE", database)
	w.where = []string{"--data", filepath.Join(folder, "data"), "--set", "paths.rules=" + file,
		"--set", "gmail.address=" + sample.Owner, "--set", "gmail.token=env:DOORS_TOKEN",
		"--set", "gmail.endpoint=" + server.URL(), "--set", "gmail.units_per_minute=0", "--set", "gmail.spam_and_trash=true",
		"--set", "gmail.old_mail=sort", "--set", "policy.send_age=0s", "--set", "unsubscribe.enabled=true"}
	if database != "" {
		w.where = append(w.where, "--set", "paths.database=env:DOORS_DATABASE")
	}
}

// ask asks the commands, before the other doors open: on the machine of a user they are other processes.
func (w *world) ask() {
	w.Helper()
	read := func(out any, args ...string) {
		require.NoError(w, json.Unmarshal(w.run(args...), out), "%v", args)
	}
	read(&w.actions, "actions", "--limit", "100")
	for _, action := range w.kinds() {
		var mail object
		read(&struct{ Message *object }{&mail}, "explain", action.text("id"))
		var whole object
		read(&whole, "mail", "show", mail.text("id"))
		w.mails[action.text("id")] = whole
	}
	var decisions []object
	read(&decisions, "decisions", "list", "--limit", "100")
	for _, d := range decisions {
		w.decisions[d.text("id")] = d
		if rule := d.text("rule"); rule != "" && w.rules[rule] == nil {
			var whole object
			read(&whole, "decisions", "show", d.text("id"))
			w.rules[rule] = whole["rule_then"].(map[string]any)
		}
	}
	var ended struct{ Drafts []object }
	read(&ended, "drafts", "list", "--all")
	require.Len(w, ended.Drafts, 1)
	w.draft = ended.Drafts[0]
	read(&w.agentRun, "agents", "show", "018c2")
	var waiting []object
	read(&waiting, "approvals", "list", "--limit", "100")
	for _, request := range waiting {
		var whole object
		read(&whole, "approvals", "show", request.text("id"))
		w.requests = append(w.requests, whole)
	}
}

// run runs a command, and returns what it prints as JSON.
func (w *world) run(args ...string) []byte {
	w.Helper()
	return w.command(append(args, "--json")...)
}

// command runs a command, and returns what it prints.
func (w *world) command(args ...string) []byte {
	w.Helper()
	var out, said bytes.Buffer
	require.Zero(w, cli.Run(w.Context(), append(args, w.where...), &out, &said), "%v: %s", args, &said)
	return out.Bytes()
}

// kinds are the newest action of each kind and state.
func (w *world) kinds() (list []object) {
	w.Helper()
	seen := map[string]bool{}
	for _, action := range w.actions {
		if kind := action.text("action state"); !seen[kind] {
			seen[kind] = true
			list = append(list, action)
		}
	}
	require.Greater(w, len(list), 6)
	return list
}

// try makes a call of the API, with a body unless that is nil.
func (w *world) try(method, path string, in object) *httptest.ResponseRecorder {
	w.Helper()
	var body []byte
	if in != nil {
		var err error
		body, err = json.Marshal(in)
		require.NoError(w, err)
	}
	r := httptest.NewRequestWithContext(w.Context(), method, "https://api.example.org/api/v1"+path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	answer := httptest.NewRecorder()
	w.api.ServeHTTP(answer, r)
	return answer
}

// send makes a call of the API that is answered.
func (w *world) send(method, path string, in object, out any) {
	w.Helper()
	answer := w.try(method, path, in)
	require.Equal(w, http.StatusOK, answer.Code, "%s %s: %s", method, path, answer.Body)
	require.NoError(w, json.Unmarshal(answer.Body.Bytes(), out))
}

func (w *world) get(path string) (o object) {
	w.Helper()
	w.send(http.MethodGet, path, nil, &o)
	return o
}

func (w *world) list(path string) (list []object) {
	w.Helper()
	w.send(http.MethodGet, path, nil, &list)
	return list
}

// inPages finds an object in a list of the API by its id.
func (w *world) inPages(path, field, id string) object {
	w.Helper()
	for next := "?"; ; {
		page := w.get(path + next)
		for _, item := range page[field].([]any) {
			if o := object(item.(map[string]any)); o.text("id") == id {
				return o
			}
		}
		require.NotEmpty(w, page.text("next"), "%s is not in %s", id, path)
		next = "?before=" + page.text("next")
	}
}

// call calls a tool of assistants.
func (w *world) call(tool string, in object) (o object) {
	w.Helper()
	r, err := w.assistant.CallTool(w.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	require.NoError(w, err)
	text := r.Content[0].(*sdk.TextContent).Text
	require.False(w, r.IsError, text)
	require.NoError(w, json.Unmarshal([]byte(text), &o))
	return o
}

var tag = regexp.MustCompile(`<[^>]*>`)

// page returns the text of a page, with single spaces.
func (w *world) page(path string) string {
	w.Helper()
	return squeeze(html.UnescapeString(tag.ReplaceAllString(w.html(path), "")))
}

func (w *world) html(path string) string {
	w.Helper()
	status, body := w.visit(http.MethodGet, path, nil)
	require.Equal(w, http.StatusOK, status, "%s: %s", path, body)
	return body
}

// post submits a form of the page, and follows to the page that it leads to.
func (w *world) post(path string, form url.Values) {
	w.Helper()
	status, body := w.visit(http.MethodPost, path, form)
	require.Equal(w, http.StatusOK, status, "%s: %s", path, body)
}

func (w *world) visit(method, path string, form url.Values) (status int, body string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(form.Encode()))
	require.NoError(w, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(w, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(w, err)
	return answer.StatusCode, string(text)
}
