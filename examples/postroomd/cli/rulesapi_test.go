package cli

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A caller calls the API with its token.
type caller struct {
	*testing.T
	pages http.Handler
}

func newCaller(t *testing.T, set ...string) (*caller, *app.App) {
	t.Helper()
	return newCallerOn(t, "", set...)
}

// newCallerOn is newCaller on the database of the settings.
func newCallerOn(t *testing.T, database string, set ...string) (*caller, *app.App) {
	t.Helper()
	t.Setenv("POSTROOM_API_TOKEN", apiSecret)
	m := newTeatime(t, deleteTea, database+"[api]\ntoken = \"env:POSTROOM_API_TOKEN\"\n", letterNamed(1))
	runOnce(t, m.where...)
	m.where = append(m.where, set...)
	h := m.open()
	h.Log = slog.New(slog.DiscardHandler)
	pages, onClose, err := httpapi.NewHandler(h, nil)
	require.NoError(t, err)
	t.Cleanup(onClose)
	return &caller{t, pages}, h
}

func (c *caller) call(method, path, body string, want int) (answer string) {
	c.Helper()
	r := httptest.NewRequest(method, "https://rules.example.org/api/v1/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+apiSecret)
	w := httptest.NewRecorder()
	c.pages.ServeHTTP(w, r)
	require.Equal(c, want, w.Code, "%s %s: %s", method, path, w.Body.String())
	require.Equal(c, want != http.StatusOK, w.Header().Get("Content-Type") == "application/problem+json")
	return w.Body.String()
}

func read[T any](t *testing.T, answer string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(answer), &v), answer)
	return v
}

const starTea = `{"name": "Star", "condition": {"type": "subject_contains", "value": "tea"}, "action": "star"}`

func TestProgramsChangeTheStoredRules(t *testing.T) {
	c, h := newCaller(t, "--set", "paths.rules=")
	first := read[[]webapi.Rule](t, c.call("GET", "rules", "", 200))
	require.Len(t, first, 1)
	made := read[webapi.Rule](t, c.call("POST", "rules", starTea, 200))
	require.Equal(t, 100, made.Priority)
	require.True(t, made.Enabled)
	require.Equal(t, made, read[webapi.Rule](t, c.call("GET", "rules/"+made.ID, "", 200)))

	patched := read[webapi.Rule](t,
		c.call("PATCH", "rules/"+made.ID, `{"priority": 7, "enabled": false, "revision": `+revisionText(made.Revision)+`}`,
			200))
	require.Equal(t, 7, patched.Priority)
	require.False(t, patched.Enabled)
	require.Contains(t, c.call("PATCH", "rules/"+made.ID, `{"priority": 8, "revision": `+revisionText(made.Revision)+`}`,
		409), "read it again")
	swapped := read[webapi.Rule](t, c.call("POST", "rules/"+made.ID+"/swap", `{"with": "`+first[0].ID+`"}`, 200))
	require.Equal(t, first[0].Priority, swapped.Priority)
	require.Equal(t, 7, read[webapi.Rule](t, c.call("GET", "rules/"+first[0].ID, "", 200)).Priority)
	require.Empty(t, read[[]webapi.Rule](t, c.call("GET", "rules?account_id=none", "", 200)))

	for _, bad := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "rules", starTea, 409, "another rule has this name"},
		{"POST", "rules", `{"name": "X"}`, 422, "invalid rule"},
		{"POST", "rules", strings.Replace(starTea, `{"name"`, `{"account_id": "none", "name"`, 1), 422, "there is no account"},
		{"POST", "rules", starTea + starTea, 400, "follows the object"},
		{"POST", "rules", `{"nome": "X"}`, 400, "nome"},
		{"POST", "rules", `[]`, 400, "one JSON object"},
		{"PATCH", "rules/" + made.ID, `{"action": "explode"}`, 422, "explode"},
		{"PATCH", "rules/none", `{}`, 404, "not found"},
		{"DELETE", "rules/none", "", 404, "not found"},
		{"POST", "rules/" + made.ID + "/swap", `{"with": "` + made.ID + `"}`, 422, "swapped with itself"},
		{"POST", "rules/" + made.ID + "/swap", `{"with": "none"}`, 404, "not found"},
	} {
		require.Contains(t, c.call(bad.method, bad.path, bad.body, bad.status), bad.says, bad)
	}
	versions, err := view.NewRulesVersions(t.Context(), h, "", 1)
	require.NoError(t, err)
	require.Equal(t, "api", versions[0].By)
	require.EqualValues(t, "api", versions[0].Origin)
	c.call("DELETE", "rules/"+made.ID, "", 200)
	require.Len(t, read[[]webapi.Rule](t, c.call("GET", "rules", "", 200)), 1)
}

// Where rules come from a file, the next reading would take back what a program has changed: nothing is.
func TestRulesOfAFileAreNotChangedByPrograms(t *testing.T) {
	c, h := newCaller(t)
	before, err := os.ReadFile(string(h.Env.Config.Paths.Rules))
	require.NoError(t, err)
	rule := read[[]webapi.Rule](t, c.call("GET", "rules", "", 200))[0]
	for method, path := range map[string]string{"POST": "rules", "PATCH": "rules/" + rule.ID,
		"DELETE": "rules/" + rule.ID} {
		body := "{}"
		if method == "POST" {
			body = starTea
		}
		require.Contains(t, c.call(method, path, body, 409), "are changed there")
	}
	require.Contains(t, c.call("POST", "rules/"+rule.ID+"/swap", `{"with": "x"}`, 409), "are changed there")
	require.Equal(t, rule, read[webapi.Rule](t, c.call("GET", "rules/"+rule.ID, "", 200)))
	after, err := os.ReadFile(string(h.Env.Config.Paths.Rules))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestProgramsChangeWhatTheModelIsTold(t *testing.T) {
	c, h := newCaller(t)
	require.JSONEq(t, "[]", c.call("GET", "instructions", "", 200))
	account, err := onlyAccount(t.Context(), h)
	require.NoError(t, err)
	a := read[view.Instruction](t,
		c.call("POST", "instructions",
			`{"text": "Never delete anything.", "forbids": ["delete"], "scope": "mailbox", "scope_ref": "`+account+`"}`, 200))
	b := read[view.Instruction](t, c.call("POST", "instructions", `{"text": "Be brief.", "priority": 5}`, 200))
	require.Equal(t, 100, a.Priority)
	require.Contains(t, a.Binding, "no delete for mail to ")
	require.Empty(t, b.Binding)
	require.Equal(t, []view.Instruction{b, a}, read[[]view.Instruction](t, c.call("GET", "instructions", "", 200)))
	changed := read[view.Instruction](t,
		c.call("PATCH", "instructions/"+a.ID, `{"text": "Never.", "forbids": ["trash", "archive"], "revision": 1}`, 200))
	require.EqualValues(t, 2, changed.Revision)
	require.Equal(t, []postroom.ActionType{postroom.Archive, postroom.Trash}, changed.Forbids)
	require.Contains(t, c.call("PATCH", "instructions/"+a.ID, `{"text": "Late.", "revision": 1}`, 409), "read it again")
	require.Equal(t, 5, read[view.Instruction](t, c.call("POST", "instructions/"+a.ID+"/swap", `{"with": "`+b.ID+`"}`,
		200)).Priority)
	require.Contains(t, c.call("POST", "instructions", `{"text": " "}`, 422), "Text is blank")
	require.Contains(t, c.call("POST", "instructions", `{"forbids": ["burn"]}`, 422), "burn")
	require.Contains(t, c.call("POST", "instructions", `{"text": "x", "scope": "mailbox", "scope_ref": "none"}`, 422),
		"there is no account")
	require.Contains(t, c.call("PATCH", "instructions/"+a.ID, `{"scope_ref": "none"}`, 422), "there is no account")
	require.Equal(t, account, read[view.Instruction](t, c.call("GET", "instructions/"+a.ID, "", 200)).ScopeRef)
	require.Contains(t, c.call("POST", "instructions/"+a.ID+"/swap", `{"with": "`+a.ID+`"}`, 422), "swapped with itself")
	c.call("GET", "instructions/none", "", 404)
	c.call("DELETE", "instructions/"+a.ID, "", 200)
	c.call("DELETE", "instructions/"+a.ID, "", 404)

	club := read[view.Instruction](t,
		c.call("POST", "instructions",
			`{"name": "club", "text": "Star what asks me to come.", "scope": "domain", "scope_ref": "Club.example"}`, 200))
	require.Equal(t, "club.example", club.ScopeRef)
	require.Equal(t, "mail of club.example", club.For)
	c.call("PATCH", "instructions/"+club.ID, `{"enabled": false, "revision": 1}`, 200)
	require.Contains(t, c.call("PATCH", "instructions/"+club.ID, `{"enabled": true, "revision": 1}`, 409), "read it again")
	require.False(t, read[view.Instruction](t, c.call("GET", "instructions/"+club.ID, "", 200)).Enabled)

	require.Contains(t, c.call("POST", "directions", `{"text": "x"}`, 410),
		"directions are instructions now: call /api/v1/instructions")
	require.Contains(t, c.call("GET", "llm-rules/"+club.ID, "", 410), "llm-rules are instructions now")
}

func revisionText(n int64) string {
	text, _ := json.Marshal(n) //nolint:errchkjson // a number
	return string(text)
}
