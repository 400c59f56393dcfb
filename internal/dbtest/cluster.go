package dbtest

import (
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Cluster is a PostgreSQL server for one test, which may be stopped and broken. It listens on a socket in its folder.
type Cluster struct {
	bin, folder string
}

// NewCluster makes and starts a server for the duration of the test. If PostgreSQL's programs are not installed, the
// test is skipped, except under CI, where it fails.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	bin := binaries()
	if bin == "" {
		message := "a PostgreSQL server that is stopped under load is not tested: initdb and pg_ctl are not installed in /usr/lib/postgresql or the PATH"
		if os.Getenv("CI") != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	// Not t.TempDir, which the server's own user may not enter. Socket paths must be short.
	folder, err := os.MkdirTemp("", "postroom-pg-") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	c := &Cluster{bin: bin, folder: folder}
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		require.NoError(t, err, "PostgreSQL does not run as root")
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		require.NoError(t, os.Chown(folder, uid, gid))
	}
	c.run(t, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
	c.start(t)
	t.Cleanup(func() { c.stop(t, Immediate) })
	return c
}

// binaries is the folder of PostgreSQL's programs, where Debian or the PATH has them.
func binaries() string {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if found, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(found)
	}
	return ""
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// DSN returns the DSN of the server's database.
func (c *Cluster) DSN() string {
	return "postgres:///postgres?user=postgres&host=" + url.QueryEscape(c.folder)
}

// start returns when the server accepts connections.
func (c *Cluster) start(t testing.TB) {
	t.Helper()
	options := "-c listen_addresses='' -k " + c.folder
	c.run(t, "pg_ctl", "start", "-D", c.data(), "-w", "-l", filepath.Join(c.folder, "log"), "-o", options)
}

// A Shutdown is a way to stop a server while clients are connected.
type Shutdown string

const (
	// Fast rolls back the active transactions, like a service manager.
	Fast Shutdown = "fast"
	// Immediate is like a power failure: the server recovers from its log at the next start.
	Immediate Shutdown = "immediate"
)

// Restart stops the server and starts it again.
func (c *Cluster) Restart(t testing.TB, how Shutdown) {
	t.Helper()
	c.stop(t, how)
	c.start(t)
}

// SkipMultixacts makes the numbers of the locks that several transactions share larger than all transactions' numbers,
// as they are on a server where such locks are frequent.
func (c *Cluster) SkipMultixacts(t testing.TB) {
	t.Helper()
	c.stop(t, Fast)
	c.run(t, "pg_resetwal", "-m", "1048576,1048576", "-D", c.data())
	c.start(t)
}

func (c *Cluster) stop(t testing.TB, how Shutdown) {
	t.Helper()
	c.run(t, "pg_ctl", "stop", "-D", c.data(), "-m", string(how))
}

func (c *Cluster) run(t testing.TB, program string, args ...string) {
	t.Helper()
	args = append([]string{filepath.Join(c.bin, program)}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	command := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // PostgreSQL's own programs; they end by themselves
	command.Dir = c.folder
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s: %s", program, out)
}
