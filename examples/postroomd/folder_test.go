package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first folder of a file system, such as that of a volume, has a folder that is the file system's own.
func TestLostAndFoundIsNothingElse(t *testing.T) {
	f := folder(t.TempDir())
	require.NoError(t, os.Mkdir(filepath.Join(string(f), "lost+found"), 0o700))
	require.NoError(t, f.check())
	require.NoError(t, f.checkRun())
	require.True(t, f.isBeside())
	require.NoError(t, os.Mkdir(f.tokens(), 0o700))
	require.NoError(t, f.checkRun())

	require.NoError(t, os.WriteFile(filepath.Join(string(f), "thesis.txt"), nil, 0o600))
	require.ErrorContains(t, f.check(), "holds other things")
	require.ErrorContains(t, f.checkRun(), "holds other things")
}
