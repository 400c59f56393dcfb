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
)

// Who owns one mailbox does not read by its rules what lies beside them: only what they named already.
func TestTheEditorOfOneMailboxNamesNoOtherFiles(t *testing.T) {
	const (
		named = "rules:\n  - {name: Kept, action: star, condition: {type: subject_regex, values_from: own.txt}}\n"
		other = "  - {name: Other, action: star, condition: {type: subject_regex, values_from: config.toml}}\n"
		added = "  - {name: Plain, action: star, condition: {type: subject_regex, value: ada}}\n"
	)
	dir := t.TempDir()
	for name, text := range map[string]string{"rules.yaml": named, "own.txt": "tea\n", "config.toml": "secret\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	w := newWorldWith(t, "", func(c *config.Config) { c.Paths.Rules = config.Path(filepath.Join(dir, "rules.yaml")) })
	one := w.as(access.Person{Name: "bob@example.org", Role: access.Own, Mailboxes: []string{sample.Owner}})
	edit := func(as *world, do, text string) reply {
		seen := as.get("rules/edit").find(t, `name="seen" value="([0-9a-f]+)"`)
		return as.post("rules/edit", url.Values{"text": {text}, "seen": {seen}, "do": {do}, "mailbox": {sample.Owner}})
	}
	for _, do := range []string{"check", "save"} {
		refused := edit(one, do, named+other)
		require.Contains(t, refused.body, "have not named the file", do)
		require.NotContains(t, refused.body, "secret", do)
	}
	require.Equal(t, http.StatusSeeOther, edit(one, "save", named+added).status)
	require.Len(t, w.rules(), 2)
	require.Equal(t, http.StatusSeeOther, edit(w, "save", named+other).status, "who has all mailboxes may")
}
