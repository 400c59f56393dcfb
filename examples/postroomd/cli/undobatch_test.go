package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/undo"
)

// A batch of rules apply, of which people have changed something since: the dry run says what the undo does, and the
// report what it did.
func TestTheDryRunOfABatchIsWhatItsUndoDoes(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2), letterNamed(3), letterNamed(4),
		letterNamed(5))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	run := start(t, m.where...)
	run.ready()
	r := m.postroomd("rules", "apply", "--yes", "--batch", "tea")
	require.Equal(t, 0, r.status, r.stderr)
	person := m.server.Person()
	list := idsOf(mailJSON(t, m.where...).Messages)
	require.NoError(t, person.Trash(t.Context(), list[0]))
	require.NoError(t, person.Delete(t.Context(), list[1]))
	require.NoError(t, person.MoveToInbox(t.Context(), list[2]))
	require.NoError(t, person.Star(t.Context(), list[3]))
	run.stop()
	runOnce(t, m.where...)

	undoJSON := func(status int, args ...string) (v struct {
		Actions []view.Undo
		Endings map[undo.Ending]int
	}) {
		t.Helper()
		r := m.postroomd(append([]string{"undo", "--batch", "tea", "--json", "--yes"}, args...)...)
		require.Equal(t, status, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
		return v
	}
	planned := undoJSON(exitFailed, "--dry-run")
	require.Equal(t, map[undo.Ending]int{undo.EndingRestored: 2, undo.EndingKept: 1, undo.EndingNothing: 1,
		undo.EndingFailed: 1}, planned.Endings)
	require.Equal(t, map[undo.Ending]int{undo.EndingOpen: 5}, undoJSON(0, "--report").Endings)

	run = start(t, m.where...)
	run.ready()
	r = m.postroomd("undo", "--batch", "tea", "--yes")
	require.Equal(t, exitFailed, r.status, r.stdout)
	require.Contains(t, r.stdout, "4 actions taken back, 1 not\n")
	require.Contains(t, r.stdout, "1 kept as it is")
	require.Contains(t, r.stdout, "1 failed: "+postroom.ErrMessageGone.Error())
	run.stop()
	reported := undoJSON(exitFailed, "--report")
	require.Equal(t, planned, reported)
}

// Many undos are counted and asked about first, can be taken back as they were chosen, and stop no rules: they are the
// person's own will.
func TestManyUndosAreAskedAbout(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2), letterNamed(3))
	runOnce(t, m.where...)
	r := m.postroomd("undo", "--all")
	require.Equal(t, exitUsage, r.status)
	require.Equal(t, "  you@example.com: 3 archive\n", r.stdout)
	require.Contains(t, r.stderr, "nobody can be asked here; add --yes to go on, or --dry-run to look only")
	r = m.postroomd("undo", "--all", "--json")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "--json asks nothing; add --yes")
	require.Empty(t, m.states()["undo_archive"])

	run := start(t, m.where...)
	run.ready()
	r = m.postroomd("undo", "--rule", "Tea", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "3 actions taken back, 0 not\n")
	require.NotContains(t, m.postroomd("status").stdout, "is stopped")
	require.Contains(t, postroomd(t, "config", "check", "--set", "safety.breaker_undos=3").stderr, "there is no setting")

	r = m.postroomd("undo", "--rule", "Tea", "--redo", "--dry-run")
	require.Equal(t, "3 undos would be taken back\n  you@example.com: 3 undo_archive\n", r.stdout)
	r = m.postroomd("undo", "--rule", "Tea", "--type", "archive", "--redo", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "3 actions taken back, 0 not\n")
	r = m.postroomd("undo", "--all", "--redo", "--dry-run")
	require.Equal(t, "0 undos would be taken back\n", r.stdout)
	run.stop()
	for _, id := range idsOf(mailJSON(t, m.where...).Messages) {
		message, err := m.server.Message(t.Context(), id)
		require.NoError(t, err)
		require.NotContains(t, message.Labels, "INBOX")
	}
}

func TestRulesApplyAsksFirst(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	run := start(t, m.where...) // stores the rules
	run.ready()
	run.stop()
	before := m.actions()
	r := m.postroomd("rules", "apply", "--batch", "tea")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stdout, "archive to 2")
	require.Contains(t, r.stderr, "nobody can be asked here; add --yes")
	require.Contains(t, m.postroomd("rules", "apply", "--json").stderr, "--json asks nothing; add --yes")
	require.Equal(t, before, m.actions())
}
