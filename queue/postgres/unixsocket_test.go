package postgres_test

import (
	"net"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// The options of TCP are none of a Unix socket's.
func TestOpenByAUnixSocket(t *testing.T) {
	folder := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	require.NoError(t, err)
	dsn, err := url.Parse(dbtest.PostgresDSN(t))
	require.NoError(t, err)
	startSilentProxyOn(t, listener, dsn.Host)
	dsn.Host = ""
	local := dbtest.With(t, dbtest.With(t, dsn.String(), "host", folder), "port", "5432")
	db, err := postgres.Open(t.Context(), local, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), benchJob.New(1, nil))
	require.NoError(t, err)
}
