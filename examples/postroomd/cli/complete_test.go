package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// A shell proposes values, those of the database where it is there, and never names of files in their place.
func TestShellsCompleteValues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	propose := func(dir string, words ...string) []string {
		t.Helper()
		flags := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "--") })
		if flags < 0 {
			flags = len(words) - 1
		}
		r := postroomd(t, slices.Concat([]string{"__complete"}, words[:flags], []string{"--data", dir}, words[flags:])...)
		require.Equal(t, 0, r.status, r.stderr)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		require.Equal(t, ":4", lines[len(lines)-1], "no names of files")
		var values []string
		for _, l := range lines[:len(lines)-1] {
			value, _, _ := strings.Cut(l, "\t")
			values = append(values, value)
		}
		return values
	}
	require.Equal(t, []string{sample.Owner}, propose(dir, "accounts", "pause", ""))
	require.Empty(t, propose(dir, "accounts", "pause", sample.Owner, ""), "one is enough")
	require.Equal(t, []string{"completed"}, propose(dir, "actions", "--state", "comp"))
	require.Equal(t, []string{"failed,completed"}, propose(dir, "actions", "--state", "failed,comp"))
	require.Equal(t, []string{"undo_archive"}, propose(dir, "actions", "--type", "undo_arch"))
	require.Equal(t, []string{"running"}, propose(dir, "jobs", "list", "--state", "run"))
	require.Equal(t, []string{"watch.gmail"}, propose(dir, "jobs", "list", "--type", "w"))
	require.Contains(t, propose(dir, "undo", "--rule", ""), "Doubtful sender")
	require.Equal(t, []string{sample.Owner}, propose(dir, "mail", "list", "--mailbox", ""))
	require.Empty(t, propose(dir, "actions", "--since", ""))

	mail := mailJSON(t, "--data", dir)
	require.Contains(t, propose(dir, "mail", "show", ""), mail.Messages[0].ID)
	waiting := idPattern.FindString(postroomd(t, "approvals", "list", "--json", "--data", dir).stdout)
	require.Equal(t, []string{waiting}, propose(dir, "approvals", "approve", waiting[:20]))
	require.NotEmpty(t, propose(dir, "jobs", "show", ""))
	require.NotEmpty(t, propose(dir, "undo", ""))
	require.NotEmpty(t, propose(dir, "rules", "show", ""))

	none := filepath.Join(t.TempDir(), "none")
	require.Empty(t, propose(none, "accounts", "pause", ""))
	require.Empty(t, propose(none, "undo", "--rule", ""))
	require.NoDirExists(t, none, "nothing is made")

	r := postroomd(t, "__complete", "rules", "check", "")
	require.Equal(t, ":0\n", r.stdout, "a file is named")
}
