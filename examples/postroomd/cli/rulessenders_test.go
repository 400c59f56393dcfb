package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules/backtest"
)

const newSenders = "rules: [{name: New, condition: {op: not, children: [{type: sender_seen}]}, action: star}]"

// A backtest knows who had written before each message, in a mailbox that is kept and in an mbox.
func TestBacktestsKnowTheSenders(t *testing.T) {
	path := writeFile(t, "new.yaml", newSenders)
	var mbox strings.Builder
	for _, line := range []string{"ann@a.example Thu Jan  1 10:00:00 2026", "bob@b.example Fri Jan  2 10:00:00 2026",
		"ann@a.example Sat Jan  3 10:00:00 2026"} {
		from, at, _ := strings.Cut(line, " ")
		mbox.WriteString("From " + line + "\nFrom: " + from + "\nDate: " + at[:3] + ", 0" + at[9:10] +
			" Jan 2026 10:00:00 +0000\nSubject: x\n\ntext\n\n")
	}
	backtest := func(args ...string) (report backtest.Report) {
		t.Helper()
		r := postroomd(t, append([]string{"rules", "backtest", path, "--json"}, args...)...)
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &report), r.stdout)
		require.Empty(t, report.Broken)
		return report
	}
	foreign := backtest("--mbox", writeFile(t, "mail.mbox", mbox.String()))
	require.Equal(t, 3, foreign.Messages)
	require.Equal(t, 2, foreign.Matched)

	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	stored := backtest("--data", dir)
	require.Positive(t, stored.Matched)
	require.Less(t, stored.Matched, stored.Messages)
	require.NotZero(t, stored.Changed)
}
