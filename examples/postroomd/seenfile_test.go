package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
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
	dsn := dbtest.PostgresDSN(t)
	at := func(database, data, file string) string {
		s := site{folder: folder(data)}
		s.cfg.Paths.Database, s.cfg.Safety.SeenFile = config.Database(database), config.Path(file)
		var db queue.DB
		if s.cfg.Paths.Database.Postgres() {
			opened, err := postgres.Open(t.Context(), database, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, opened.Close()) }()
			db = opened
		}
		path, err := s.seenFile(t.Context(), db)
		require.NoError(t, err)
		return path
	}
	require.Equal(t, "/data/log.seen", at("", "/data", ""))
	require.Equal(t, "/elsewhere/jobs.db.seen", at("/elsewhere/jobs.db", "/data", ""))
	require.Equal(t, "/named", at(dsn, "/data", "/named"))
	require.Empty(t, at(dsn, "", ""))
	here := at(dsn, "/data", "")
	require.Equal(t, here, at(dbtest.With(t, dsn, "application_name", "x"), "/data", ""))
	require.NotEqual(t, here, at(dbtest.With(t, dsn, "search_path", "public"), "/data", ""))
}
