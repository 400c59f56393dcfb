package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver/drivertest"
	"github.com/postroom-go/postroom/queue/postgres"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) queue.DB { return openDSN(t, dbtest.MigratedDSN(t), nil) })
}

// openDSN opens a database for the duration of the test.
func openDSN(t testing.TB, dsn string, cfg *postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
