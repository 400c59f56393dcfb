package fileid_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/sqlite/internal/fileid"
)

func TestAFileIsTheSameUnderEachName(t *testing.T) {
	dir := t.TempDir()
	file, link, moved := filepath.Join(dir, "a.db"), filepath.Join(dir, "link.db"), filepath.Join(dir, "b.db")
	require.NoError(t, os.WriteFile(file, []byte("tea"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	first, size, err := fileid.Of(file)
	require.NoError(t, err)
	require.EqualValues(t, 3, size)
	led, _, err := fileid.Of(link)
	require.NoError(t, err)
	require.True(t, led.Same(first))

	require.NoError(t, os.Rename(file, moved))
	_, _, err = fileid.Of(file)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, file)
	require.NoError(t, os.WriteFile(file, []byte("coffee"), 0o600))
	second, size, err := fileid.Of(file)
	require.NoError(t, err)
	require.EqualValues(t, 6, size)
	require.False(t, second.Same(first))
	again, _, err := fileid.Of(moved)
	require.NoError(t, err)
	require.True(t, again.Same(first))
}
