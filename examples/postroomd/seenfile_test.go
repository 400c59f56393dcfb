package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/internal/dbtest"
)

// What was seen of the log of one database says nothing about another, though both share a folder.
func TestDatabasesThatShareAFolder(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, dsn := range []string{dbtest.PostgresDSN(t), dbtest.PostgresDSN(t)} {
		t.Setenv("DATABASE_URL", dsn)
		m := newTeatime(t, deleteTea, "database = \"env:DATABASE_URL\"\n", letterNamed(1))
		m.where = append(m.where, "--data", data)
		runOnce(t, m.where...)
		r := m.postroomd("approvals", "approve", m.actions()[0].ID)
		require.Equal(t, 0, r.status, r.stderr)
		runOnce(t, m.where...)
		require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 1}, m.states())
	}
	files, err := filepath.Glob(filepath.Join(data, "log.seen-*"))
	require.NoError(t, err)
	require.Len(t, files, 2)
}

func TestSeenFile(t *testing.T) {
	at := func(database, data, file string) string {
		s := site{folder: folder(data)}
		s.cfg.Paths.Database, s.cfg.Safety.SeenFile = config.Database(database), config.Path(file)
		path, err := s.seenFile()
		require.NoError(t, err)
		return path
	}
	require.Equal(t, "/data/log.seen", at("", "/data", ""))
	require.Equal(t, "/elsewhere/jobs.db.seen", at("/elsewhere/jobs.db", "/data", ""))
	require.Equal(t, "/named", at("postgres://a@b/c", "/data", "/named"))
	require.Empty(t, at("postgres://a@b/c", "", ""))
	here := at("postgres://a@b/c", "/data", "")
	require.Equal(t, here, at("postgresql://a:password@b:5432/c?application_name=x", "/data", ""))
	for _, other := range []string{"postgres://a@b/d", "postgres://a@b:5433/c", "postgres://a@b/c?search_path=x", "postgres://z@b/c"} {
		require.NotEqual(t, here, at(other, "/data", ""), other)
	}
}
