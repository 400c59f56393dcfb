package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func (w *world) rules() []rules.Rule {
	w.Helper()
	list, err := w.Rules.List(w.Context())
	require.NoError(w, err)
	return list
}

// A person changes the order of rules and disables one by keys, edits them with a fault first, and goes back.
func TestRulesAreSteered(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "dark", 390: "light"} {
		before := w.rules()
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules")
		b.Until(ready)
		b.Press("j", "n")
		b.Until(`document.querySelector(".done")?.textContent.includes("order")`)
		after := w.rules()
		require.Equal(t, []string{before[1].ID, before[0].ID}, []string{after[0].ID, after[1].ID})
		b.Until(ready)
		b.Press("j", "d")
		b.Until(`document.querySelector(".done")?.textContent.includes("disabled")`)
		require.False(t, w.rules()[0].Enabled)

		b.Open(w.url + "rules/edit")
		text := browsertest.Eval[string](b, `document.querySelector("#text").value`)
		require.Contains(t, text, "name: "+after[0].Name)
		browsertest.Eval[any](b, `document.querySelector("#text").value += "\n  - {name: Odd, action: explode}\n"`)
		browsertest.Eval[any](b, `document.querySelector("[value=check]").click()`)
		b.Until(`document.querySelector("#check .bad")?.textContent.includes("explode")`)
		b.Picture("editor-fault")
		browsertest.Eval[any](b, `(() => { const t = document.querySelector("#text");
			t.value = "# mine\nrules:\n  - {name: Only, condition: {type: subject_regex, value: ada}, action: star}\n"; })()`)
		browsertest.Eval[any](b, `document.querySelector("[value=check]").click()`)
		b.Until(`document.querySelector("#check .done")?.textContent.includes("one rule")`)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#check .difference").innerText`), "name: Only")
		browsertest.Eval[any](b, `document.querySelector("[value=save]").click()`)
		b.Until(`location.search.includes("done=save-rules") && document.querySelector(".done")?.textContent.includes("saved")`)
		require.Len(t, w.rules(), 1)
		versions, err := w.Rules.Versions(t.Context(), rulestore.VersionFilter{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, access.LocalName, versions[0].By.Name)

		b.Open(w.url + "rules/versions")
		browsertest.Eval[any](b, `document.querySelectorAll("#list a")[1].click()`)
		b.Until(`!!document.querySelector("#difference button")`)
		b.Picture("difference")
		browsertest.Eval[any](b, `document.querySelector("#difference button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("as they were then")`)
		require.Len(t, w.rules(), len(before))
	}
	b.Quiet()
}

// What was changed meanwhile is not overwritten, and a fault changes nothing.
func TestAnEditorOverwritesNothing(t *testing.T) {
	w := newWorld(t)
	seen := w.get("rules/edit").find(t, `name="seen" value="([0-9a-f]+)"`)
	form := url.Values{"text": {"rules: []\n"}, "seen": {strings.Repeat("0", 32)}, "do": {"save"}}
	require.Equal(t, http.StatusConflict, w.post("rules/edit", form).status)
	form.Set("seen", seen)
	form.Set("text", "rules: 7\n")
	answer := w.post("rules/edit", form)
	require.Equal(t, http.StatusUnprocessableEntity, answer.status)
	require.Contains(t, answer.body, "rules: 7")
	require.NotEmpty(t, w.rules())
	for _, path := range []string{"rules/none/up", "rules/none/disable", "rules/versions/none/restore"} {
		require.Equal(t, http.StatusNotFound, w.post(path, url.Values{}).status, path)
	}
}

// Hits and undos of a rule are counted.
func TestRulesShowWhatTheyDid(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.get("rules").body, " hits</a>")
	rule := w.rules()[0]
	require.Contains(t, w.get("rules/"+rule.ID).body, "name: "+rule.Name)
	require.Equal(t, http.StatusNotFound, w.get("rules/none").status)
}
