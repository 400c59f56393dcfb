package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where an id is typed its beginning or its end is enough, as lists show it; an ambiguous one lists the candidates.
func TestPartsOfIDsAreTyped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	ask := func(args ...string) string {
		t.Helper()
		r := postroomd(t, append(args, "--data", dir)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	ids := func(args ...string) (list []string) {
		t.Helper()
		var all []struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(ask(append(args, "--json")...)), &all))
		for _, each := range all {
			list = append(list, each.ID)
		}
		return list
	}
	for _, tc := range []struct{ list, show []string }{
		{[]string{"approvals", "list"}, []string{"approvals", "show"}},
		{[]string{"actions", "--limit", "5"}, []string{"explain"}},
		{[]string{"actions", "--limit", "5"}, []string{"decisions", "show"}},
		{[]string{"actions", "--limit", "5", "--type", "move"}, []string{"undo", "--dry-run"}},
		{[]string{"decisions", "list", "--limit", "5"}, []string{"decisions", "show"}},
		{[]string{"jobs", "list", "--limit", "5"}, []string{"jobs", "show"}},
		{[]string{"jobs", "list", "--limit", "5"}, []string{"jobs", "explain"}},
	} {
		id := ids(tc.list...)[0]
		table := ask(tc.list...)
		require.Contains(t, table, id[28:])
		require.NotContains(t, table, id, "lists show the end alone")
		whole := ask(append(tc.show, id)...)
		require.Equal(t, whole, ask(append(tc.show, id[28:])...))
		require.Equal(t, whole, ask(append(tc.show, strings.ToUpper(id[27:]))...))

		some := id[:6] // that of a day
		r := postroomd(t, append(tc.show, some, "--data", dir)...)
		require.Equal(t, exitUsage, r.status)
		require.Regexp(t, `it could be `+some+`\S+, `+some+`.*, …; give more of it`, r.stderr, tc.show)
		require.Equal(t, exitUsage, postroomd(t, append(tc.show, "zz", "--data", dir)...).status)
	}
	found := strings.Fields(strings.Split(ask("mail", "list", "--limit", "1"), "\n")[1])[0]
	require.Equal(t, ask("mail", "show", found), ask("mail", "show", found[8:]), "Gmail's too")
	require.Contains(t, ask("explain", ids("approvals", "list")[0]), ": waits for approval, decided by rule ")
}
