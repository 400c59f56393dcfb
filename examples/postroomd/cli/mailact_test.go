package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/bulk"
)

// A person sees what would be done to all that a search finds, says yes, and takes it back by the command that is
// printed.
func TestMailActShowsAsksDoesAndIsTakenBack(t *testing.T) {
	m := newTeatime(t, "{action: star}", "", letterNamed(1), letterNamed(2), letterNamed(3))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	inbox := func() []string { return idsOf(mailJSON(t, append(m.where, "in:inbox")...).Messages) }
	before := inbox()
	require.Len(t, before, 3)
	act := []string{"mail", "act", "archive", "--query", "from:ann@example.com"}
	ask := func(answer string) (string, error) {
		var out bytes.Buffer
		root := rootCommand(append(act, m.where...))
		root.SetIn(strings.NewReader(answer))
		root.SetOut(&out)
		root.SetErr(&out)
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	out, err := ask("n\n")
	require.ErrorContains(t, err, "nothing was done")
	require.Contains(t, out, "Tea 1 @everyone")
	require.Regexp(t, `(?m)^would do +archive to 3 messages$`, out)
	require.Contains(t, out, "do this to 3 messages? [y/N] ")
	require.Equal(t, before, inbox())

	out, err = ask("y\n")
	require.NoError(t, err, out)
	require.Regexp(t, `(?m)^done to +3 messages$`, out)
	next := regexp.MustCompile(`'postroomd (undo --batch \S+)' takes it back; a postroomd`).FindStringSubmatch(out)
	require.Len(t, next, 2, out)
	runOnce(t, m.where...)
	require.Empty(t, inbox())
	r := m.postroomd(append(strings.Fields(next[1]), "--yes")...)
	require.Equal(t, 0, r.status, r.stderr)
	runOnce(t, m.where...)
	require.ElementsMatch(t, before, inbox())

	r = m.postroomd(append(act, "--dry-run")...)
	require.Regexp(t, `(?m)^left alone +3: you have changed this by hand, undone or rejected it, or it waits; --again does it all the same$`, r.stdout)
	r = m.postroomd(append(act, "--dry-run", "--again", "--json")...)
	var p bulk.Preview
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &p), r.stdout)
	require.Equal(t, 3, p.Count)
	r = m.postroomd("mail", "act", "forward", "--query", "from:ann@example.com", "--yes")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "forward is not done to a whole search: choose one of ")
	require.Equal(t, exitUsage, m.postroomd(append(act, "--json")...).status)
}
