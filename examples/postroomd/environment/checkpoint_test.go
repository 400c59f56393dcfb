package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

func TestSeenFile(t *testing.T) {
	dsn := dbtest.PostgresDSN(t)
	at := func(database, data, file string) string {
		s := Environment{Folder: Folder(data)}
		s.Config.Paths.Database, s.Config.Safety.SeenFile = config.Database(database), config.Path(file)
		var db queue.DB
		if s.Config.Paths.Database.Postgres() {
			opened, err := postgres.Open(t.Context(), database, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, opened.Close()) }()
			db = opened
		}
		path, err := s.Checkpoint(t.Context(), db)
		require.NoError(t, err)
		return path
	}
	require.Equal(t, "/data/checkpoint", at("", "/data", ""))
	require.Equal(t, "/elsewhere/jobs.db.checkpoint", at("/elsewhere/jobs.db", "/data", ""))
	require.Equal(t, "/named", at(dsn, "/data", "/named"))
	require.Empty(t, at(dsn, "", ""))
	here := at(dsn, "/data", "")
	require.Equal(t, here, at(dbtest.With(t, dsn, "application_name", "x"), "/data", ""))
	require.NotEqual(t, here, at(dbtest.With(t, dsn, "search_path", "public"), "/data", ""))
}
