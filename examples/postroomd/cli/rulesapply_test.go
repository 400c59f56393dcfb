package cli

import (
	"encoding/json"
	"testing"

	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/stretchr/testify/require"
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
		r := m.postroomd(append([]string{"rules", "apply"}, args...)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	require.NotContains(t, apply("--rule", "Star", "--dry-run"), "take")
	require.Regexp(t, `(?m)^what it does cannot be taken back: auto_reply$`, apply("--rule", "Tea", "--batch", "tea"))
	require.Regexp(t, `(?m)^'postroomd undo --batch rest' takes it back, but not what cannot be taken back: forward$`,
		apply("--rule", "Star", "--rule", "Bill", "--batch", "rest"))
	require.NotContains(t, apply("--rule", "Star", "--batch", "again"), "undo", "nothing was done")
	require.Equal(t, exitUsage, m.postroomd("undo", "--batch", "tea").status)
	require.Contains(t, m.postroomd("undo", "--batch", "rest").stdout, "1 action taken back, 1 not\n")
	require.Regexp(t, `(?m)^'postroomd undo --batch star' takes it back$`, apply("--rule", "Star", "--batch", "star"))

	var v view.Applied
	require.NoError(t, json.Unmarshal([]byte(apply("--rule", "Bill", "--rule", "Star", "--dry-run", "--json")), &v))
	require.Equal(t, []string{"forward"}, v.Irreversible)
}
