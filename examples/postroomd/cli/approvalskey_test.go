package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Approvals are signed by a key that is made once. With another one, what waits is asked for again.
func TestApprovalsAreSigned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	path := filepath.Join(dir, "approval.key")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	key, err := os.ReadFile(path)
	require.NoError(t, err)

	waiting := idPattern.FindAllString(postroomd(t, "approvals", "list", "--data", dir).stdout, -1)
	require.GreaterOrEqual(t, len(waiting), 2)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, key, again)

	require.NoError(t, os.WriteFile(path, []byte("abc\n"), 0o600))
	r := postroomd(t, "approvals", "list", "--data", dir)
	require.NotZero(t, r.status)
	require.Contains(t, r.stderr, "remove it to have one made")

	require.NoError(t, os.Remove(path))
	r = postroomd(t, "approvals", "approve", waiting[0], "--data", dir)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "it was made under another key")
	require.NoError(t, os.WriteFile(path, key, 0o600))
	r = postroomd(t, "approvals", "renew", waiting[0], "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	r = postroomd(t, "approvals", "approve", waiting[0], "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "completed")
	r = postroomd(t, "approvals", "reject", waiting[0], "--data", dir)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, " has approved it on ")
	r = postroomd(t, "approvals", "renew", waiting[0], "--data", dir)
	require.Equal(t, exitUsage, r.status)
}
