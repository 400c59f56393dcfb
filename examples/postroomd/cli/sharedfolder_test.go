package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

// What was seen of the log of one database says nothing about another, though both share a folder.
func TestDatabasesThatShareAFolder(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	for range 2 {
		m := newTeatime(t, deleteTea, onPostgres(t), letterNamed(1))
		m.where = append(m.where, "--data", data)
		runOnce(t, m.where...)
		r := m.postroomd("approvals", "approve", m.actions()[0].ID)
		require.Equal(t, 0, r.status, r.stderr)
		runOnce(t, m.where...)
		require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 1}, m.states())
	}
	files, err := filepath.Glob(filepath.Join(data, "checkpoint-*"))
	require.NoError(t, err)
	require.Len(t, files, 2)
}
