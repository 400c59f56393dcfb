package editor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	for name, c := range map[string]struct {
		there, before string
		existed       bool
		want          string
		gone          bool
	}{
		"changed back":         {"new", "old", true, "old", false},
		"there was none":       {"new", "", false, "", true},
		"it was empty":         {"new", "", true, "", false},
		"edited since":         {"by hand", "old", true, "by hand", false},
		"edited, and was none": {"by hand", "", false, "by hand", false},
	} {
		write(c.there)
		require.NoError(t, putBack(path, c.before, "new", c.existed), name)
		text, err := os.ReadFile(path)
		require.Equal(t, c.gone, errors.Is(err, os.ErrNotExist), name)
		require.Equal(t, c.want, string(text), name)
	}
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, putBack(path, "old", "new", true), "a person has removed it")
	require.NoFileExists(t, path)
}
