package environment

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

// The docs list each action with all of its parameters.
func TestTheDocsListAllActions(t *testing.T) {
	text, err := os.ReadFile("../../../docs/rules.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for name := range strings.SplitSeq(cells[1], ",") {
				rows[strings.Trim(name, " `")] = line
			}
		}
	}
	kinds := (&Environment{}).ActionKinds()
	for _, action := range kinds.Types() {
		if action == postroom.None {
			continue
		}
		kind, err := kinds.Find(action)
		require.NoError(t, err)
		require.Contains(t, rows, string(action))
		for _, p := range kind.Parameters {
			require.Contains(t, rows[string(action)], "`"+p.Name+"`", action)
		}
	}
}
