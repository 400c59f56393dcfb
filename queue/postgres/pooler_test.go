package postgres_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver/drivertest"
	"github.com/postroom-go/postroom/queue/postgres"
)

// pgbouncer returns the program, or skips the test.
func pgbouncer(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("Config.Pooled is not tested: install PgBouncer (Debian's package pgbouncer), so that pgbouncer is in PATH")
	}
	return program
}

// All that a driver promises holds when each transaction may get another connection of a pool of three.
func TestDriverBehindAPooler(t *testing.T) {
	costtest.SkipUnderRace(t)
	program := pgbouncer(t)
	if testing.Short() {
		t.Skip("the suite behind a pooler is left out of short tests")
	}
	drivertest.Run(t, func(t *testing.T) queue.DB {
		return openDSN(t, pooler(t, program), &postgres.Config{Pooled: true})
	})
}

// Who has forgotten the setting is told its name.
func TestAPoolerWithoutTheSettingIsNamed(t *testing.T) {
	dsn := pooler(t, pgbouncer(t))
	pooled, err := postgres.Open(t.Context(), dsn, &postgres.Config{Pooled: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, pooled.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), pooled))
	db, err := postgres.Open(t.Context(), dsn, nil)
	if err == nil {
		defer func() { require.NoError(t, db.Close()) }()
		var q *queue.Queue
		q, err = queue.New(db, nil)
		require.NoError(t, err)
		for i := 0; err == nil && i < 100; i++ {
			var group errgroup.Group
			for range 10 {
				group.Go(func() error {
					_, err := q.Enqueue(t.Context(), count.New(1, &queue.Options{LimitKey: "k"}))
					return err
				})
			}
			err = group.Wait()
		}
	}
	require.ErrorContains(t, err, "Config.Pooled")
}

const poolerConfig = `
[databases]
pooled = host=%s port=%d dbname=%s user=%s %s connect_query='SET synchronous_commit TO off; SET search_path TO %s'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`

// pooler runs PgBouncer in transaction mode before an empty schema and returns its URL.
func pooler(t *testing.T, program string) string {
	t.Helper()
	server, err := pgx.ParseConfig(dbtest.MigratedDSN(t))
	require.NoError(t, err)
	port, password := freePort(t), ""
	if server.Password != "" {
		password = "password='" + server.Password + "'"
	}
	config := fmt.Sprintf(poolerConfig, server.Host, server.Port, server.Database, server.User, password,
		server.RuntimeParams["search_path"], port)
	// It gives up the rights of root, and must be able to read this all the same.
	folder, err := os.MkdirTemp("", "pooler") //nolint:usetesting // t.TempDir is closed to others
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	file := filepath.Join(folder, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o644))
	arguments := []string{file}
	if os.Getuid() == 0 {
		arguments = append(arguments, "-u", "nobody")
	}
	command := exec.Command(program, arguments...)
	output, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		require.NoError(t, command.Process.Kill())
		_ = command.Wait() // killed
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.Contains(lines.Text(), "process up") {
		t.Log(lines.Text())
	}
	require.Contains(t, lines.Text(), "process up", "PgBouncer must start")
	go func() {
		for lines.Scan() { // so that it can go on writing
		}
	}()
	return fmt.Sprintf("postgres://any@127.0.0.1:%d/pooled?sslmode=disable", port)
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
