package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// A cluster is a PostgreSQL server of this program's own, with room for the connections of many machines. All else is
// PostgreSQL's default.
type cluster struct{ bin, folder string }

// startCluster makes a server in a new folder. It listens on a socket there.
func startCluster(ctx context.Context, dir string, connections int) (*cluster, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dir, "postroom-pg-")
	if err != nil {
		return nil, err
	}
	c := &cluster{bin: bin, folder: folder}
	if os.Getuid() == 0 {
		if err := chownToPostgres(folder); err != nil {
			return nil, errors.Join(err, os.RemoveAll(folder))
		}
	}
	options := fmt.Sprintf("-c listen_addresses='' -c max_connections=%d -k %s", connections, folder)
	err = c.run(ctx, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8")
	if err == nil {
		err = c.run(ctx, "pg_ctl", "start", "-D", c.data(), "-w", "-l", filepath.Join(folder, "log"), "-o", options)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return c, nil
}

// postgresPrograms is the folder of PostgreSQL's programs, where Debian or the PATH has them.
func postgresPrograms() (string, error) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	found, err := exec.LookPath("initdb")
	if err != nil {
		return "", fmt.Errorf("initdb and pg_ctl are neither in /usr/lib/postgresql nor in the PATH: %w", err)
	}
	return filepath.Dir(found), nil
}

// chownToPostgres gives a folder to the user postgres: a server does not run as root.
func chownToPostgres(folder string) error {
	owner, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(owner.Gid)
	if err != nil {
		return err
	}
	return os.Chown(folder, uid, gid)
}

func (c *cluster) data() string { return filepath.Join(c.folder, "data") }

func (c *cluster) dsn() string {
	return "postgres:///postgres?user=postgres&host=" + url.QueryEscape(c.folder)
}

func (c *cluster) stop(ctx context.Context) error {
	err := c.run(context.WithoutCancel(ctx), "pg_ctl", "stop", "-D", c.data(), "-m", "immediate")
	return errors.Join(err, os.RemoveAll(c.folder))
}

func (c *cluster) run(ctx context.Context, program string, args ...string) error {
	args = append([]string{filepath.Join(c.bin, program)}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // PostgreSQL's own programs
	command.Dir = c.folder
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	return nil
}
