package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// A person makes a rule of a message in two clicks, and sees before the second what it changes.
func TestAMessageBecomesARuleInTwoClicks(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		before := len(w.rules())
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + w.pathOf(moved[0].Action))
		browsertest.Eval[any](b, `document.querySelector("#fix button").click()`)
		b.Until(`!!document.querySelector("#proposal .difference") && ` + ready)
		shown := browsertest.Eval[string](b, `document.querySelector("#proposal").innerText`)
		require.Contains(t, shown, "rchive mail of ")
		require.Contains(t, shown, "it decides otherwise about")
		require.NotContains(t, shown, "otherwise about 0 of", "it goes before the rule that decides now")
		require.NotContains(t, shown, "never decides")
		require.Len(t, w.rules(), before, "nothing is saved before the second click")
		browsertest.Eval[any](b, `document.querySelector("#proposal button.primary").click()`)
		b.Until(`location.search.includes("done=fix")`)
		require.Len(t, w.rules(), before+1)
		moved = moved[1:]
		for moved[0].Decision.Sender == w.rules()[0].Condition.Value {
			moved = moved[1:]
		}
	}
	b.Quiet()
}

// A person changes the rule that has decided, at a desk, and leaves a sender out of it, with a test, on a phone: each
// is seen as a difference with what it would have done, and saved by one more click.
func TestTheRulesAboutAMailAreFixed(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})
	name := moved[0].Decision.Decision.RuleName
	tab := func(text string) {
		browsertest.Eval[any](b, `[...document.querySelectorAll("nav[aria-label='Ways to fix them'] a")].find(
			(a) => a.textContent.startsWith("`+text+`")).click()`)
	}
	shown := func() string { return browsertest.Eval[string](b, `document.querySelector("#proposal").innerText`) }
	rule := func() rules.Rule {
		return w.rules()[slices.IndexFunc(w.rules(), func(r rules.Rule) bool { return r.Name == name })]
	}

	b.Size(1280, 844)
	b.Open(w.url + w.pathOf(moved[0].Action))
	browsertest.Eval[any](b, `document.querySelector("#fix select").value = "star"`)
	browsertest.Eval[any](b, `document.querySelector("#fix button").click()`)
	b.Until(`!!document.querySelector("#deciders") && ` + ready)
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#deciders").innerText`), name)
	tab("Change")
	b.Until(`location.search.includes("way=change") && !!document.querySelector("#proposal .removed") && ` + ready)
	require.Contains(t, shown(), "+     action: star")
	require.Contains(t, shown(), "This mail would get: star.")
	require.Contains(t, shown(), "it decides otherwise about")
	fits(b, "fix")
	require.Equal(t, postroom.Move, rule().Action, "nothing is saved yet")
	browsertest.Eval[any](b, `document.querySelector("#proposal button.primary").click()`)
	b.Until(`location.search.includes("done=fix") && ` + ready)
	require.Equal(t, postroom.Star, rule().Action)

	b.Size(390, 844)
	b.Scheme("dark")
	b.Open(w.url + w.pathOf(moved[0].Action))
	browsertest.Eval[any](b, `document.querySelector("#fix button").click()`)
	b.Until(`!!document.querySelector("#deciders") && ` + ready)
	tab("An exception")
	b.Until(`location.search.includes("way=except") && !!document.querySelector("#proposal") && ` + ready)
	browsertest.Eval[any](b, `document.querySelector("#f-action").value = ""`)
	browsertest.Eval[any](b, `document.querySelector("#f-about").value = "sender"`)
	browsertest.Eval[any](b, `document.querySelector("#f-test").click()`)
	browsertest.Eval[any](b, `document.querySelector("#order button").click()`)
	b.Until(`location.search.includes("test=1") && !!document.querySelector("#proposal .added") && ` + ready)
	require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked))
	require.Contains(t, shown(), "op: not")
	require.Contains(t, shown(), "without:")
	browsertest.Eval[any](b, `document.querySelector("#proposal button.primary").click()`)
	b.Until(`location.search.includes("done=fix") && ` + ready)
	require.Contains(t, rule().Condition.String(), "not")
	text, err := w.RuleEditor.Text(t.Context(), moved[0].Action.AccountID)
	require.NoError(t, err)
	require.Contains(t, text, "name: 'Fix: ")
	b.Quiet()
}

// A fix is saved as it was shown, or not at all, and by those who may write the rules.
func TestAFixIsSavedAsItWasShown(t *testing.T) {
	w := newWorld(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})[0]
	path, before := w.pathOf(moved.Action)+"/fix", len(w.rules())
	query := url.Values{"way": {"rule"}, "action": {"archive"}}
	page := w.get(path + "?" + query.Encode())
	require.Equal(t, http.StatusOK, page.status)
	query.Set("digest", page.find(t, `name="digest" value="([0-9a-f]{64})"`))
	query.Set("action", "star")
	require.Equal(t, http.StatusConflict, w.post(path, query).status, "another thing was shown")
	query.Set("action", "archive")
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.Approve})
	require.Equal(t, http.StatusForbidden, seer.get(path).status)
	require.Equal(t, http.StatusForbidden, seer.post(path, query).status)
	require.Len(t, w.rules(), before)
	require.Equal(t, http.StatusSeeOther, w.post(path, query).status)
	require.Len(t, w.rules(), before+1)
	require.Equal(t, http.StatusConflict, w.post(path, query).status, "the rules have changed since")
	require.Len(t, w.rules(), before+1)
	for _, refused := range []string{"way=change&rule=None", "way=magic", "action=delete", "about=planet",
		"action=move&label="} {
		page := w.get(path + "?" + refused)
		require.Equal(t, http.StatusOK, page.status, refused)
		require.Contains(t, page.body, `role="alert"`, refused)
		require.NotContains(t, page.body, `name="digest"`, refused)
	}
}

// A draft keeps the comments of the file, and is of those only who may change its rules.
func TestADraftKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	const text = "# mine\nrules:\n  # about tea\n  - name: Tea\n    condition:\n      type: subject_contains\n" +
		"      value: tea\n    action: star\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	w := newWorldWith(t, "", func(c *config.Config) { c.Paths.Rules = config.Path(path) })
	page := w.get("mail")
	id := page.find(t, `href="\./mail/[^/"]+/([^"/]+)"`)
	query := url.Values{"mailbox": {sample.Owner}, "like": {id}, "action": {"move"}, "label": {"Shops & more"}}
	draft := w.get("rules/edit?" + query.Encode())
	require.Equal(t, http.StatusOK, draft.status)
	for _, kept := range []string{"# mine", "# about tea", "Move mail of ", "Shops &amp; more"} {
		require.Contains(t, draft.body, kept)
	}
	there, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(there), "nothing is saved")
	for _, label := range []string{"two\nlines", strings.Repeat("x", 300)} {
		query.Set("label", label)
		refused := w.get("rules/edit?" + query.Encode())
		require.Equal(t, http.StatusConflict, refused.status, label)
		require.Contains(t, refused.body, "cannot have the label")
	}
	query.Set("action", "delete")
	require.Equal(t, http.StatusConflict, w.get("rules/edit?"+query.Encode()).status)
	query.Set("like", "none")
	require.Equal(t, http.StatusConflict, w.get("rules/edit?"+query.Encode()).status)
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	require.Equal(t, http.StatusForbidden, seer.get("rules/edit?"+query.Encode()).status)
	require.NotContains(t, seer.get("mail/"+sample.Owner+"/"+id).body, "Fix the rules")
}
