package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/dbtest"
)

const ownRules = "/mailboxes/" + sample.Owner + "/rules"

type text struct {
	Text, Digest, File string
	For, Failed        []string
}

// body is a body with these fields.
func body(t *testing.T, fields map[string]any) string {
	t.Helper()
	b, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(b)
}

const noon = "# my rules\nrules:\n  - {name: Noon, condition: {type: subject_contains, value: lunch}, action: star}\n"

// The rules of a mailbox are read and replaced as a text, with its comments, if nobody has changed them meanwhile.
func TestRulesAreATextWithVersions(t *testing.T) {
	for _, engine := range []string{"", dbtest.MigratedDSN(t)} {
		w := newWorldOn(t, engine, mail("ann@example.com", "tea"))
		empty := call[text](w, "GET", ownRules, "", http.StatusOK)
		require.Equal(t, []string{sample.Owner}, empty.For)
		saved := call[text](w, "PUT", ownRules, body(t, map[string]any{"text": noon, "digest": empty.Digest}), http.StatusOK)
		require.Equal(t, noon, saved.Text)
		require.Equal(t, saved, call[text](w, "GET", ownRules, "", http.StatusOK))
		require.Equal(t, "Noon", call[[]webapi.Rule](w, "GET", "/rules", "", http.StatusOK)[0].Name)
		call[problem](w, "PUT", ownRules, body(t, map[string]any{"text": noon, "digest": empty.Digest}), http.StatusConflict)
		call[problem](w, "PUT", ownRules, body(t, map[string]any{"text": "rules: {", "digest": saved.Digest}),
			http.StatusUnprocessableEntity)
		failing := noon + "tests:\n  - {name: tea, message: {subject: tea}, actions: [star]}\n"
		require.Len(t, call[text](w, "PUT", ownRules, body(t, map[string]any{"text": failing, "digest": saved.Digest}),
			http.StatusOK).Failed, 1)

		versions := call[struct{ Versions []view.RulesVersion }](w, "GET", ownRules+"/versions", "", http.StatusOK).Versions
		require.Len(t, versions, 3, "the first is of no rules")
		require.Equal(t, "api", versions[0].By)
		back := ownRules + "/versions/" + strconv.FormatInt(versions[1].Version, 10) + "/restore"
		call[problem](w, "POST", back, body(t, map[string]any{"newest": versions[1].Version}), http.StatusConflict)
		restored := call[text](w, "POST", back, body(t, map[string]any{"newest": versions[0].Version}), http.StatusOK)
		require.Equal(t, noon, restored.Text)
		for _, number := range []string{"x", "999"} {
			call[problem](w, "POST", ownRules+"/versions/"+number+"/restore", `{"newest": 1}`, http.StatusNotFound)
		}
	}
}

// Filters are made rules beside those that are there, and nothing is saved until the text is.
func TestFiltersAreMadeRules(t *testing.T) {
	w := newWorld(t)
	empty := call[text](w, "GET", ownRules, "", http.StatusOK)
	call[text](w, "PUT", ownRules, body(t, map[string]any{"text": noon, "digest": empty.Digest}), http.StatusOK)
	const sieve = `require ["fileinto", "vacation"]; if header :contains "subject" "tea" { fileinto "Tea"; } vacation "Away";`
	made := call[struct {
		Text, Digest string
		Taken        []string
		Lost         []struct{ Of, What string }
	}](w, "POST", ownRules+"/import", body(t, map[string]any{"text": sieve}), http.StatusOK)
	require.Len(t, made.Taken, 1)
	require.NotEmpty(t, made.Lost)
	require.Contains(t, made.Text, "# my rules")
	require.Equal(t, noon, call[text](w, "GET", ownRules, "", http.StatusOK).Text)
	call[text](w, "PUT", ownRules, body(t, map[string]any{"text": made.Text, "digest": made.Digest}), http.StatusOK)
	require.Len(t, call[[]webapi.Rule](w, "GET", "/rules", "", http.StatusOK), 2)
	call[problem](w, "POST", ownRules+"/import", body(t, map[string]any{"text": "keep it"}),
		http.StatusUnprocessableEntity)
}

// A file that other mailboxes read is not for the token of one, and neither are files beside it that it does not name.
func TestTheTextOfOthersIsNotShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(noon), 0o600))
	w := newWorldWith(t, "", func(c *config.Config) { c.Paths.Rules = config.Path(file) })
	shown := call[text](w, "GET", ownRules, "", http.StatusOK)
	require.Equal(t, file, shown.File)
	require.Equal(t, noon, shown.Text)
	all := w.as
	one, reader := w.add("one", tokens.Own, sample.Owner), w.add("reader", tokens.See, sample.Owner)
	w.as = reader
	call[problem](w, "GET", ownRules, "", http.StatusForbidden)
	w.as = one
	call[text](w, "GET", ownRules, "", http.StatusOK)
	secret := filepath.Join(filepath.Dir(file), "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("hunter2@example.com\n"), 0o600))
	named := "lists:\n  x: {file: secret.txt}\n" + noon
	call[problem](w, "PUT", ownRules, body(t, map[string]any{"text": named, "digest": shown.Digest}),
		http.StatusUnprocessableEntity)
	w.as = all
	w.addOther()
	require.Len(t, call[text](w, "GET", ownRules, "", http.StatusOK).For, 2)
	w.as = one
	call[problem](w, "GET", ownRules, "", http.StatusNotFound)
}

func TestAMailboxIsRemoved(t *testing.T) {
	w := newWorld(t, mail("ann@example.com", "tea"))
	all := w.as
	w.as = w.add("see", tokens.Approve)
	call[problem](w, "DELETE", "/mailboxes/"+sample.Owner, "", http.StatusForbidden)
	w.as = all
	call[problem](w, "DELETE", "/mailboxes/nobody@example.org", "", http.StatusNotFound)
	w.addOther()
	require.Equal(t, other, call[struct{ Email string }](w, "DELETE", "/mailboxes/"+other, "", http.StatusOK).Email)
	left := call[struct{ Mailboxes []view.AccountStatus }](w, "GET", "/mailboxes", "", http.StatusOK).Mailboxes
	require.Len(t, left, 1)
	require.Equal(t, sample.Owner, left[0].Email)
}
