package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// answerForwardAndStar sends about two letters, and stars a third.
const answerForwardAndStar = answerAndForward + `  - {name: Star, condition: {type: subject_regex, value: ^Star}, action: star}
`

// TestABatchSaysWhatOfItCanBeTakenBack: what was sent cannot.
func TestABatchSaysWhatOfItCanBeTakenBack(t *testing.T) {
	m := newTeatime(t, answerTea, "", letterAbout("Tea?", "tea"), letterAbout("Bill", "bill"), letterAbout("Star", "star"))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	m.rules(answerForwardAndStar)
	r := start(t, m.where...)
	r.ready()
	apply := func(args ...string) string {
		t.Helper()
		r := m.postroomd(append([]string{"rules", "apply", "--yes"}, args...)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	require.NotContains(t, apply("--rule", "Star", "--dry-run"), "take")
	require.Regexp(t, `(?m)^what it does cannot be taken back: auto_reply$`, apply("--rule", "Tea", "--batch", "tea"))
	require.Regexp(t, `(?m)^'postroomd undo --batch rest' takes it back, but not what cannot be taken back: forward$`,
		apply("--rule", "Star", "--rule", "Bill", "--batch", "rest"))
	require.NotContains(t, apply("--rule", "Star", "--batch", "again"), "undo", "nothing was done")
	require.Equal(t, exitUsage, m.postroomd("undo", "--batch", "tea", "--yes").status)
	require.Contains(t, m.postroomd("undo", "--batch", "rest", "--yes").stdout, "1 action taken back, 1 not\n")
	require.Regexp(t, `(?m)^'postroomd undo --batch star' takes it back$`, apply("--rule", "Star", "--batch", "star", "--again"))

	require.Regexp(t, `(?m)^left alone +1 action, since you have .* or it waits or was sent`,
		apply("--rule", "Bill", "--dry-run"), "nobody is asked twice")
	var v view.Applied
	require.NoError(t, json.Unmarshal(
		[]byte(apply("--rule", "Bill", "--rule", "Star", "--dry-run", "--json", "--again")), &v))
	require.Equal(t, []string{"forward"}, v.Irreversible)
}

// What was dragged back, or undone, is not moved out again, unless that is asked for.
func TestApplyLeavesAloneWhatAPersonHasChanged(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2), letterNamed(3))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	apply := func(args ...string) (v view.Applied) {
		t.Helper()
		r := m.postroomd(append([]string{"rules", "apply", "--yes", "--json"}, args...)...)
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v
	}
	run := start(t, m.where...)
	run.ready()
	require.Equal(t, map[string]int{"archive": 3}, apply("--batch", "first").Actions)
	var actions []webapi.Action
	for _, a := range m.actions() {
		if a.Action == postroom.Archive {
			actions = append(actions, a)
		}
	}
	require.Len(t, actions, 3)
	require.Equal(t, 0, m.postroomd("undo", actions[0].ID, "--yes").status)
	for _, mail := range mailJSON(t, m.where...).Messages {
		if mail.Subject == actions[1].Subject {
			require.NoError(t, m.server.Person().MoveToInbox(t.Context(), mail.ID))
		}
	}
	run.stop()
	runOnce(t, m.where...)

	left := apply("--dry-run")
	require.Equal(t, 2, left.LeftAlone)
	require.Empty(t, left.Actions)
	require.Equal(t, 1, left.AlreadySo)
	r := m.postroomd("rules", "apply", "--dry-run")
	require.Contains(t, r.stdout, "2 actions, since you have changed this by hand, undone or rejected it")
	require.Equal(t, map[string]int{"archive": 2}, apply("--dry-run", "--again").Actions)
}
