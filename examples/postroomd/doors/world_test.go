package doors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

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
	decisions, mails, rules map[string]object // by their id, that of the action, and their name
	url                     string            // of the page
	api                     http.Handler
	assistant               *sdk.ClientSession
}

const token = "a token that nobody can guess, it seems"

// newWorld makes a world on a PostgreSQL database; empty: on SQLite.
func newWorld(t *testing.T, database string) *world {
	t.Helper()
	w := &world{T: t, decisions: map[string]object{}, mails: map[string]object{}, rules: map[string]object{}}
	where := w.place(database)
	w.run(append([]string{"run", "--once"}, where...)...)
	w.ask(where)
	cmd := new(cobra.Command)
	flags := command.NewEnvironmentFlags(cmd)
	require.NoError(t, cmd.ParseFlags(where))
	env, err := flags.Existing(cmd)
	require.NoError(t, err)
	env.Config.API = config.API{Token: token, Approver: "api"}
	a, err := app.New(t.Context(), app.Config{Environment: env})
	require.NoError(t, err)
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

// sends is a rule whose action sends a message, and asks first.
const sends = `
  - name: Books
    priority: 1
    condition: {type: subject_regex, value: '(?i)receipt'}
    action: forward
    parameters: {to: books@example.com, body: For the books.}
`

// place serves the sample mailbox, and returns the flags of a postroomd that sorts it by the rules of the demo and one
// that sends.
func (w *world) place(database string) []string {
	w.Helper()
	server, err := gmailtest.Open(w.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, server.Close()) })
	_, err = server.Import(w.Context(), sample.Mailbox(), func(int) {})
	require.NoError(w, err)
	folder := w.TempDir()
	file := filepath.Join(folder, "rules.yaml")
	text := strings.Replace(string(config.SampleRules), "\nrules:\n", "\nrules:"+sends, 1)
	require.NoError(w, os.WriteFile(file, []byte(text), 0o600))
	w.Setenv("DOORS_TOKEN", "token")
	w.Setenv("DOORS_DATABASE", database)
	where := []string{"--data", filepath.Join(folder, "data"), "--set", "paths.rules=" + file,
		"--set", "gmail.address=" + sample.Owner, "--set", "gmail.token=env:DOORS_TOKEN",
		"--set", "gmail.endpoint=" + server.URL(), "--set", "gmail.units_per_minute=0", "--set", "gmail.spam_and_trash=true",
		"--set", "gmail.old_mail=sort", "--set", "policy.send_age=0s"}
	if database != "" {
		where = append(where, "--set", "paths.database=env:DOORS_DATABASE")
	}
	return where
}

// ask asks the commands, before the other doors open: on the machine of a user they are other processes.
func (w *world) ask(where []string) {
	w.Helper()
	read := func(out any, args ...string) {
		require.NoError(w, json.Unmarshal(w.run(append(args, where...)...), out), "%v", args)
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
	var out, said bytes.Buffer
	require.Zero(w, cli.Run(w.Context(), append(args, "--json"), &out, &said), "%v: %s", args, &said)
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

// raw calls the API.
func (w *world) raw(path string, out any) {
	w.Helper()
	r := httptest.NewRequestWithContext(w.Context(), http.MethodGet, "https://api.example.org/api/v1"+path, http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	answer := httptest.NewRecorder()
	w.api.ServeHTTP(answer, r)
	require.Equal(w, http.StatusOK, answer.Code, "%s: %s", path, answer.Body)
	require.NoError(w, json.Unmarshal(answer.Body.Bytes(), out))
}

func (w *world) get(path string) (o object) {
	w.Helper()
	w.raw(path, &o)
	return o
}

func (w *world) list(path string) (list []object) {
	w.Helper()
	w.raw(path, &list)
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
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+path, http.NoBody)
	require.NoError(w, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(w, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(w, err)
	require.Equal(w, http.StatusOK, answer.StatusCode, fmt.Sprintf("%s: %s", path, body))
	return squeeze(html.UnescapeString(tag.ReplaceAllString(string(body), "")))
}
