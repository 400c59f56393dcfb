package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/statistics"
)

// A person reads what was counted, also where no daemon runs.
func TestStatisticsAreShown(t *testing.T) {
	m := newTeatime(t, "{action: star}", "", letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	read := func(args ...string) (v statistics.View) {
		r := m.postroomd(append([]string{"statistics", "--json"}, args...)...)
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v
	}
	v := read("--now")
	require.EqualValues(t, 2, v.Messages)
	require.Zero(t, v.Days)
	require.EqualValues(t, 2, v.Rules[0].Acted)
	shown := m.postroomd("statistics", "--from", "2020-01-01")
	require.Equal(t, 0, shown.status, shown.stderr)
	require.Contains(t, shown.stdout, "All is counted.")
	require.Contains(t, shown.stdout, "100 %")
	require.Equal(t, v.Mailboxes, read("--mailbox", v.Mailboxes[0]).Mailboxes)
	wrong := m.postroomd("statistics", "--from", "today")
	require.NotZero(t, wrong.status)
	require.Contains(t, wrong.stderr, "write one such as 2026-11-28")
}
