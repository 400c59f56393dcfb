package web_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// A person writes a rule without YAML, one click a change, and sees what it changes before it is saved.
func TestARuleIsWrittenInAForm(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	press := func(do, until string) {
		t.Helper()
		browsertest.Eval[any](b, `document.querySelector("[value='`+do+`']:not(.unseen)").click()`)
		b.Until(until + ` && document.readyState === "complete" && ` + ready)
	}
	put := func(name, value string) {
		browsertest.Eval[any](b, `document.querySelector("[name='`+name+`']").value = "`+value+`"`)
	}
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		before := len(w.rules())
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/form?mailbox=" + url.QueryEscape(sample.Owner))
		b.Until(ready)
		put("name", "Tea "+scheme)
		put("value 0.0", "tea@example.org")
		press("add 0", `!!document.querySelector("[name='value 0.1']")`)
		put("type 0.1", "subject_contains")
		put("value 0.1", "offer")
		press("not 0.1", `!!document.querySelector("[name='value 0.1.0']")`)
		if width == 1280 { // it looks at all of them
			fits(b, "rule-form")
		}
		put("label", "Tea")
		press("go", `!!document.querySelector("#check .difference")`)
		require.Len(t, w.rules(), before, "nothing is saved yet")
		browsertest.Eval[any](b, `document.querySelector("[value=save]").click()`)
		b.Until(`location.search.includes("done=save-rules")`)
		require.Len(t, w.rules(), before+1)
	}
	list := w.rules()
	require.Equal(t, rules.AllOf(rules.Condition{Type: rules.SenderEmail, Value: "tea@example.org"},
		rules.NoneOf(rules.Condition{Type: rules.SubjectContains, Value: "offer"})), list[len(list)-1].Condition)
	b.Quiet()
}

// A condition about a mailing list has the lists of the mail as suggestions.
func TestTheFormSuggestsLists(t *testing.T) {
	w := newWorld(t)
	form := w.post("rules/form", url.Values{"mailbox": {sample.Owner}, "tree": {`{"type":"list_id"}`}, "do": {"show"}})
	require.Contains(t, form.body, `name="value 0" value="" list="lists"`)
	require.Regexp(t, `<datalist id="lists"><option value="[a-z0-9.-]+"></option><option`, form.body)
	require.Contains(t, form.body, `<option value="weekly.harbourweekly.example"></option>`)
}

// The form keeps the rest of the file and of the rule; what it cannot show is edited as YAML.
func TestTheFormKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	const text = "# mine\nrules:\n  # about tea\n  - name: Tea\n    priority: 7\n    condition:\n      type: to\n" +
		"      value: tea@example.org\n    action: star\n  - name: Many\n    condition:\n      type: to\n" +
		"      values: [a@example.org, b@example.org]\n    action: star\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	w := newWorldWith(t, "", func(c *config.Config) { c.Paths.Rules = config.Path(path) })
	form := w.get("rules/form?rule=Tea")
	require.Contains(t, form.body, `value="tea@example.org"`)
	require.Contains(t, w.get("rules/form?rule=Many").body, "# about tea", "the editor")
	require.Equal(t, http.StatusNotFound, w.get("rules/form?rule=None").status)

	sent := url.Values{"mailbox": {sample.Owner}, "name": {"Tea"}, "known": {"1"}, "tree": {`{"type":"to"}`},
		"value 0": {"cha@example.org"}, "action": {"archive"}, "do": {"go"}}
	shown := w.post("rules/form", sent)
	require.Equal(t, http.StatusOK, shown.status)
	edited := shown.find(t, `(?s)<textarea[^>]*>(.*?)</textarea>`)
	for _, kept := range []string{"# mine", "# about tea", "priority: 7", "cha@example.org", "archive"} {
		require.Contains(t, edited, kept)
	}
	there, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(there), "nothing is saved")

	sent.Del("known")
	require.Contains(t, w.post("rules/form", sent).body, "another name")
	sent.Set("name", "Fresh")
	sent.Set("value 0", "")
	require.Equal(t, http.StatusUnprocessableEntity, w.post("rules/form", sent).status)
	sent.Set("tree", "{")
	require.Equal(t, http.StatusConflict, w.post("rules/form", sent).status)
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	require.Equal(t, http.StatusForbidden, seer.get("rules/form").status)
	require.Equal(t, http.StatusForbidden, seer.post("rules/form", sent).status)
}

// Who never saw a form of rules chooses a kind by plain words, is told what it means, and has its fields at once, with
// what was typed and the focus where they were. Update asks for no name.
func TestAKindShowsItsFieldsAtOnce(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/form?mailbox=" + url.QueryEscape(sample.Owner))
		b.Until(ready + ` && document.querySelector("#preview li")?.textContent === "sender email needs value."`)
		browsertest.Eval[any](b, `(() => { document.querySelector("[name=label]").value = "Tea";
			const kind = document.querySelector("[name='type 0.0']"); kind.focus(); kind.value = "header_match";
			kind.dispatchEvent(new Event("input", { bubbles: true }));
			kind.dispatchEvent(new Event("change", { bubbles: true })); })()`)
		b.Until(`!!document.querySelector("[name='header 0.0']") && !!document.querySelector("[name='pattern 0.0']")`)
		require.Equal(t, "type 0.0", browsertest.Eval[string](b, "document.activeElement.name"))
		require.Equal(t, "header match", browsertest.Eval[string](b, "document.activeElement.selectedOptions[0].text"))
		require.Equal(t, "Tea", browsertest.Eval[string](b, `document.querySelector("[name=label]").value`))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#rule fieldset fieldset").innerText`),
			rules.HeaderMatch.Means())
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
		b.Accessible("another kind, " + scheme)
		browsertest.Eval[any](b, `(() => { document.querySelector("[name='header 0.0']").value = "List-Id";
			document.querySelector("#rule button[value=show]:not(.unseen)").click(); })()`)
		b.Until(`location.pathname.endsWith("/rules/form") && !location.search && ` + ready)
		require.Equal(t, "List-Id", browsertest.Eval[string](b, `document.querySelector("[name='header 0.0']").value`))
	}
	b.Quiet()
}

// A new rule is tried before another if the form says so: without that, a mark of what another rule decides about could
// not become its test.
func TestANewRuleIsTriedBeforeAnother(t *testing.T) {
	w := newWorld(t)
	news := w.acted(safety.Filter{Rule: "Newsletters"})[0]
	form := url.Values{"mailbox": {sample.Owner}, "name": {"Gazettes"}, "tree": {`{"type":"sender_email"}`},
		"value 0": {news.Decision.Sender}, "action": {"star"}, "mark " + news.Action.MessageID: {"right"}, "do": {"go"}}
	last := w.post("rules/form", form)
	require.Equal(t, http.StatusUnprocessableEntity, last.status)
	require.Contains(t, html.UnescapeString(last.body), `The rule "Newsletters" decides about`)
	require.Contains(t, last.body, `<option value="Newsletters">before Newsletters</option>`)
	require.NotContains(t, last.body, `<option value="Old advertisements"`, "it is disabled")
	form.Set("before", "Newsletters")
	first := w.post("rules/form", form)
	require.Equal(t, http.StatusOK, first.status, first.body)
	require.Contains(t, first.body, "tests pass")
	require.NotContains(t, first.body, "otherwise about 0 of")
	save := url.Values{"mailbox": {sample.Owner}, "do": {"save"}, "seen": {first.find(t, `name="seen" value="([^"]*)"`)},
		"text": {html.UnescapeString(first.find(t, `(?s)<textarea[^>]*>(.*?)</textarea>`))}}
	require.Equal(t, http.StatusSeeOther, w.post("rules/edit", save).status)
	at := func(name string) int {
		return slices.IndexFunc(w.rules(), func(r rules.Rule) bool { return r.Name == name })
	}
	require.GreaterOrEqual(t, at("Gazettes"), 0)
	require.Less(t, at("Gazettes"), at("Newsletters"))
	form.Set("name", "More")
	form.Set("before", "None")
	require.Contains(t, html.UnescapeString(w.post("rules/form", form).body), `The rule "None" is not there any more`)
	require.NotContains(t, w.get("rules/form?rule=Gazettes").body, `name="before"`, "it has its place")
}
