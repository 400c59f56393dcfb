package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	_ "github.com/postroom-go/postroom/queue/sqlite" // the driver of the lock's file
)

// A folder holds all data of postroomd: the queue and the ledger in one SQLite file, the demo's Gmail in another.
type folder string

func (f folder) database() string { return filepath.Join(string(f), "postroom.db") }
func (f folder) gmail() string    { return filepath.Join(string(f), "gmail") }
func (f folder) lockFile() string { return filepath.Join(string(f), "lock") }

// isOurs reports whether the folder holds a demo.
func (f folder) isOurs() bool {
	_, err := os.Stat(f.lockFile())
	return err == nil
}

// check returns an error if the folder cannot be used for a demo; it writes nothing.
func (f folder) check() error {
	entries, err := os.ReadDir(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (len(entries) == 0 || f.isOurs()):
		return nil
	case err == nil:
		return usage("--data %s: the folder holds other things; name an empty one, or one that does not exist yet", string(f))
	default:
		return usage("--data %s: %w", string(f), err)
	}
}

func (f folder) create() error { return os.MkdirAll(string(f), 0o700) }

// dataFlag adds --data to a command that looks at what a demo has left.
func dataFlag(cmd *cobra.Command) *string {
	dir := cmd.Flags().String("data", "", "the folder of the demo (required)")
	return dir
}

// existing is the folder of an earlier demo.
func existing(dir string) (folder, error) {
	if dir == "" {
		return "", usage("--data DIR is missing: name the folder that the demo has printed")
	}
	f := folder(dir)
	if _, err := os.Stat(dir); err != nil {
		return "", usage("--data %s: there is no such folder; run 'postroomd demo --data %s' first", dir, dir)
	}
	if !f.isOurs() {
		return "", usage("--data %s: no demo has run there; run 'postroomd demo --data %s' first", dir, dir)
	}
	return f, nil
}

// lock keeps other processes that run jobs out of the folder until it is released, or the process dies. It is SQLite's
// own lock on an empty file, which works alike on all systems.
func (f folder) lock(ctx context.Context) (release func() error, err error) {
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: f.lockFile()}).EscapedPath()+"?_busy_timeout=0&_journal_mode=MEMORY")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("another postroomd is working on %s; wait until it has finished, or stop it if it serves a dashboard (%w)", string(f), err), db.Close())
	}
	return func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}
