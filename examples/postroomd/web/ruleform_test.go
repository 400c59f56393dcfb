package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
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
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
		b.Accessible("rule form, " + scheme)
		b.Picture("rule-form-" + scheme)
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
