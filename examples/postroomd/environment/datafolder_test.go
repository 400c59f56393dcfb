package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first folder of a file system, such as that of a volume, has a folder that is the file system's own.
func TestLostAndFoundIsNothingElse(t *testing.T) {
	f := Folder(t.TempDir())
	require.NoError(t, os.Mkdir(filepath.Join(string(f), "lost+found"), 0o700))
	require.NoError(t, f.Check())
	require.NoError(t, f.CheckRun())
	require.True(t, f.IsBeside())
	require.NoError(t, os.Mkdir(f.Tokens(), 0o700))
	require.NoError(t, f.CheckRun())

	require.NoError(t, os.WriteFile(filepath.Join(string(f), "thesis.txt"), nil, 0o600))
	require.ErrorContains(t, f.Check(), "holds other things")
	require.ErrorContains(t, f.CheckRun(), "holds other things")
}
