package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
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
		browsertest.Eval[any](b, `document.querySelector("form[action$='rules/edit'] button").click()`)
		b.Until(`!!document.querySelector("#check .difference") && ` + ready)
		shown := browsertest.Eval[string](b, `document.querySelector("#check").innerText`)
		require.Contains(t, shown, "rchive mail of ")
		require.Contains(t, shown, "it decides otherwise about")
		require.NotContains(t, shown, "otherwise about 0 of", "it goes before the rule that decides now")
		require.NotContains(t, shown, "never decides")
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
		b.Picture("editor-draft")
		require.Len(t, w.rules(), before, "nothing is saved before the second click")
		browsertest.Eval[any](b, `document.querySelector("[value=save]").click()`)
		b.Until(`location.search.includes("done=save-rules")`)
		require.Len(t, w.rules(), before+1)
		moved = moved[1:]
		for moved[0].Decision.Sender == w.rules()[0].Condition.Value {
			moved = moved[1:]
		}
	}
	b.Quiet()
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
	require.NotContains(t, seer.get("mail/"+sample.Owner+"/"+id).body, "Write the rule")
}
