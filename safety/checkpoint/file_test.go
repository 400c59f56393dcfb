package checkpoint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFile(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "checkpoint"))
	loads := func(head, step string) {
		t.Helper()
		gotHead, gotStep, err := f.Load()
		require.NoError(t, err)
		require.Equal(t, head, gotHead)
		require.Equal(t, step, gotStep)
	}
	loads("", "")
	require.NoError(t, f.SetStep("a 2"))
	loads("", "a 2")
	require.NoError(t, f.SetHead("a long head 17"))
	require.NoError(t, f.SetStep("a long step 3"))
	require.NoError(t, f.SetHead("head 2"))
	require.NoError(t, f.SetStep("b 3"))
	loads("head 2", "b 3")

	file, err := os.OpenFile(string(f), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("c 4\n"), lineSize)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	loads("head 2", "")
}

// TestFileOfVersion01 added a line for each step.
func TestFileOfVersion01(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "checkpoint"))
	require.NoError(t, f.SetHead("a 2"))
	file, err := os.OpenFile(string(f), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.WriteString("\na 2 .\n\nb 3 .\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	head, _, err := f.Load()
	require.NoError(t, err)
	require.Equal(t, "a 2", head)
	require.NoError(t, f.SetStep("c 4"))
	_, step, err := f.Load()
	require.NoError(t, err)
	require.Equal(t, "c 4", step)
}
