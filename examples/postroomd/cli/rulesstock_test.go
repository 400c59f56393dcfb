package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesInStockArePrinted(t *testing.T) {
	r := postroomd(t, "rules", "stock")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "screener")
	r = postroomd(t, "rules", "stock", "cold", "--domain", "example.com")
	require.Equal(t, 0, r.status, r.stderr)
	path := filepath.Join(t.TempDir(), "cold.yaml")
	require.NoError(t, os.WriteFile(path, []byte(r.stdout), 0o600))
	r = postroomd(t, "rules", "test", path)
	require.Equal(t, 0, r.status, r.stdout+r.stderr)
	require.NotZero(t, postroomd(t, "rules", "stock", "skreener").status)
}
