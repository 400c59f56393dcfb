package fileid

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutStatxItIsTheSame(t *testing.T) {
	path := "fileid_linux.go"
	id, size, err := Of(path)
	require.NoError(t, err)
	other, otherSize, err := before(path)
	require.NoError(t, err)
	require.True(t, id.Same(other))
	require.Equal(t, size, otherSize)
	_, _, err = before(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
