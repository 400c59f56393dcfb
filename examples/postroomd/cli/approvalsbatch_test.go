package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

func (m *teatime) states() map[postroom.ActionState]int {
	m.Helper()
	counts := map[postroom.ActionState]int{}
	for _, a := range m.actions() {
		counts[a.State]++
	}
	return counts
}

// Several requests are answered by one command: by ids, or by what they are about, after a look.
func TestApprovalsAreAnsweredInBatches(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1), letterNamed(2), letterNamed(3), letterNamed(4), letterNamed(5))
	runOnce(t, m.where...)
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionPendingApproval: 5}, m.states())
	all := m.actions()

	for says, args := range map[string][]string{
		"give the ids of the actions":                  {"approvals", "approve"},
		"use one or the other":                         {"approvals", "reject", all[0].ID, "--kind", "delete"},
		"--older-than soon":                            {"approvals", "reject", "--older-than", "soon", "--yes"},
		"--kind explode: the actions are":              {"approvals", "reject", "--kind", "explode", "--yes"},
		"'postroomd actions' lists the actions":        {"approvals", "approve", all[0].ID, "none"},
		"nobody can be asked here; add --yes to go on": {"approvals", "approve", "--all-of", "Tea"},
	} {
		r := m.postroomd(args...)
		require.Equal(t, exitUsage, r.status, says)
		require.Contains(t, r.stderr, says)
	}
	for _, args := range [][]string{
		{"approvals", "approve", "--all-of", "Tea", "--dry-run"}, {"approvals", "reject", all[0].ID, all[1].ID, "--dry-run"},
		{"approvals", "approve", "--all-of", "Coffee", "--yes"}, {"approvals", "reject", "--older-than", "1h", "--yes"},
		{"approvals", "reject", "--kind", "forward", "--yes"},
	} {
		r := m.postroomd(args...)
		require.Equal(t, 0, r.status, r.stderr)
		if args[len(args)-1] == "--yes" {
			require.Equal(t, "nothing waits that is chosen\n", r.stdout)
		} else {
			require.Contains(t, r.stdout, printer.ShortID(all[0].ID))
		}
	}
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionPendingApproval: 5}, m.states(),
		"so far nothing was answered")

	run := start(t, m.where...)
	run.ready()
	r := m.postroomd("approvals", "reject", all[0].ID, all[1].ID, all[0].ID, "--why", "both")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, 2, strings.Count(r.stdout, ": rejected"))
	r = m.postroomd("approvals", "approve", all[1].ID, all[2].ID)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "is rejected, and does not wait for approval")
	require.Equal(t, 3, m.states()[postroom.ActionPendingApproval])

	r = m.postroomd("approvals", "approve", "--all-of", "Tea", "--kind", "delete", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	run.eventually("they are done", func() bool { return m.states()[postroom.ActionCompleted] == 3 })
	run.stop()
}

func TestConfirm(t *testing.T) {
	for text, goes := range map[string]bool{"y\n": true, "Yes\n": true, "yes": true, "\n": false, "": false,
		"n\n": false, "yesterday\n": false} {
		var out strings.Builder
		err := command.Confirm(strings.NewReader(text), &out, command.Question{Text: "approve these 2 actions?",
			Refused: "nothing was answered"})
		require.Equal(t, goes, err == nil, "%q", text)
		if !goes {
			require.EqualError(t, err, "nothing was answered")
		}
		require.Equal(t, "approve these 2 actions? [y/N] ", out.String())
	}
}
