package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTryWriteSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, tryWrite(filepath.Join(dir, "postroom.db")))
	require.ErrorContains(t, tryWrite(filepath.Join(dir, "none", "postroom.db")), "no such file or directory")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}
