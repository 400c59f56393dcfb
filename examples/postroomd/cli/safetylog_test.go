package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A start is told of the settings that are others than those of the last, and of nothing when there was none.
func TestSettingsThatChangeAreTold(t *testing.T) {
	m := newTeatime(t, deleteTea, "")
	start := func(settings ...string) string {
		args := []string{"run", "--once"}
		for _, s := range settings {
			args = append(args, "--set", s)
		}
		r := m.postroomd(args...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stderr
	}
	const changed = "the settings of what needs a person have changed"
	require.NotContains(t, start(), changed, "there are none before the first start")
	require.NotContains(t, start(), changed)
	told := start("safety.dry_run=true", "policy.model_free=3")
	require.Contains(t, told, changed)
	require.Contains(t, told, `DryRun="true, before false"`)
	require.Contains(t, told, `ModelFree="3, before 5"`)
	require.NotContains(t, told, "Approvers")
}
