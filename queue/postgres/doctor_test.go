package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A server whose disk is full answers as before what only reads.
func TestDoctorFindsThatTheServersDiskIsFull(t *testing.T) {
	// Not t.TempDir, which the server's own user may not enter.
	disk, err := os.MkdirTemp("", "postroom-disk-") //nolint:usetesting // see above
	require.NoError(t, err)
	require.NoError(t, os.Chmod(disk, 0o755)) // for the server's own user
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(disk)) })
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=128m,mode=1777", "postroom-test", disk).
		CombinedOutput(); err != nil {
		t.Skipf("this test is left out: mount: %v: %s", err, out)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", disk).Run()) })
	t.Setenv("TMPDIR", disk)
	cluster := dbtest.NewCluster(t)
	db, err := postgres.Open(t.Context(), cluster.DSN(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	says := func() string {
		findings, err := db.Driver().(driver.HealthChecker).CheckHealth(t.Context())
		require.NoError(t, err)
		return fmt.Sprint(findings)
	}
	require.NotContains(t, says(), "problem")
	ballast, err := os.Create(filepath.Join(disk, "ballast"))
	require.NoError(t, err)
	for block := make([]byte, 4096); err == nil; {
		_, err = ballast.Write(block)
	}
	require.NoError(t, ballast.Close())
	defer func() { require.NoError(t, os.Remove(ballast.Name())) }()
	require.Contains(t, says(), "problem: the disk of the server is full")
}

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
