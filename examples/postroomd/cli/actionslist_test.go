package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
)

func TestActionsHaveTimesAndPages(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2), letterNamed(3))
	runOnce(t, m.where...)
	all := m.postroomd("actions")
	require.Equal(t, 0, all.status, all.stderr)
	require.Regexp(t, `ID +WHEN +ACTION`, all.stdout)
	require.NotContains(t, all.stdout, "MAILBOX", "there is one")
	require.Regexp(t, `\d{4}-\d\d-\d\d \d\d:\d\d +archive`, all.stdout)
	require.Empty(t, all.stderr)
	rows := strings.SplitAfter(all.stdout, "\n")[1:]

	first := m.postroomd("actions", "--limit", "2", "--rule", "Tea", "--mailbox", "you@example.com")
	last := idPattern.FindString(rows[1])
	require.Equal(t, "there may be older ones: add --before "+last+"\n", first.stderr)
	require.Contains(t, first.stdout, last)
	second := m.postroomd("actions", "--limit", "2", "--before", last)
	require.Contains(t, second.stdout, idPattern.FindString(rows[2]))
	require.NotContains(t, second.stdout, last)
	require.Equal(t, exitUsage, m.postroomd("actions", "--rule", "Coffee").status)

	require.Equal(t, "no actions\n", m.postroomd("actions", "--below", "0.9").stdout, "a rule is sure")
	require.Equal(t, all.stdout, m.postroomd("actions", "--above", "0.9").stdout)
	require.Equal(t, "postroomd: --above is 0.9, which is more than --below, 0.5\n",
		m.postroomd("actions", "--above", "0.9", "--below", "0.5").stderr)
	require.Equal(t, exitUsage, m.postroomd("undo", "--all", "--below", "7").status)
	preview := m.postroomd("undo", "--above", "0.9", "--dry-run")
	require.Regexp(t, `3 (actions|archive)`, preview.stdout)
	require.Equal(t, exitUsage, m.postroomd("cost", "calls", "none").status)
}

func TestTheVersionIsPrinted(t *testing.T) {
	r := postroomd(t, "--version")
	require.Equal(t, result{0, "postroomd version " + telemetry.Version() + "\n", ""}, r)
}

func TestADatabaseThatCannotBe(t *testing.T) {
	for database, says := range map[string]string{
		":memory:":  "write the path of a file",
		"file:x.db": "write the path of a file",
		filepath.Join(t.TempDir(), "none", "x.db"): "there is no such folder; make it",
	} {
		for _, command := range [][]string{{"config", "check"}, {"run", "--once"}} {
			r := postroomd(t, append(command, "--set", "gmail.address=ada@example.org", "--set",
				"gmail.token="+secret(t, "t"), "--set", "paths.data="+filepath.Join(t.TempDir(), "data"), "--set", "paths.database="+database)...)
			require.Equal(t, exitUsage, r.status, database)
			require.Contains(t, r.stderr, says)
		}
	}
}
