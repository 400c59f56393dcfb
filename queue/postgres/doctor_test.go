package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func TestDoctorWarnsOfAServerWithoutAutovacuum(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	var setting string
	require.NoError(t, db.Reader().Get(&setting, "SHOW autovacuum"))
	findings, err := db.Driver().(driver.HealthChecker).CheckHealth(t.Context())
	require.NoError(t, err)
	require.Equal(t, setting == "off", strings.Contains(fmt.Sprint(findings),
		"warning: autovacuum is off on this server"), setting)
}
