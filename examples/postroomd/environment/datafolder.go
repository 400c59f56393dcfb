package environment

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A Folder holds all data of postroomd: the queue and the ledger in one SQLite file, the demo's Gmail in another.
type Folder string

// Database is the file of the queue, the mail and the ledger.
func (f Folder) Database() string { return filepath.Join(string(f), "postroom.db") }

// Gmail is the folder of the Gmail of a demo.
func (f Folder) Gmail() string { return filepath.Join(string(f), "gmail") }

// Agents is the folder of the profiles of a demo's agents.
func (f Folder) Agents() string { return filepath.Join(string(f), "agents") }

// Enriched is the file that has a demo find out what mail means. It holds a date: the letters from which the demo
// learns came in the weeks before it.
func (f Folder) Enriched() string { return filepath.Join(string(f), "enriched") }

// Notes is the folder in which such a demo keeps notes.
func (f Folder) Notes() string { return filepath.Join(string(f), "notes") }

// Calendar is the folder in which such a demo keeps appointments.
func (f Folder) Calendar() string { return filepath.Join(string(f), "calendar") }

// Checkpoint is the file that remembers how far the database has come.
func (f Folder) Checkpoint() string { return filepath.Join(string(f), "checkpoint") }

// Tokens is the folder of the grants, where they are kept in files.
func (f Folder) Tokens() string { return filepath.Join(string(f), "tokens") }

// pageFile has the address that signs in to the page.
func (f Folder) pageFile() string { return filepath.Join(string(f), "page") }

func (f Folder) keyFile() string     { return filepath.Join(string(f), "approval.key") }
func (f Folder) pageKeyFile() string { return filepath.Join(string(f), "page.key") }
func (f Folder) stopFile() string    { return filepath.Join(string(f), "stop") }
func (f Folder) lockFile() string    { return filepath.Join(string(f), "lock") }

// isOurs reports whether postroomd has worked in the folder.
func (f Folder) isOurs() bool {
	_, err := os.Stat(f.lockFile())
	return err == nil
}

// RunFile marks the folder of postroomd run.
func (f Folder) RunFile() string { return filepath.Join(string(f), "run") }

func (f Folder) isRun() bool {
	_, err := os.Stat(f.RunFile())
	return err == nil
}

// IsDemo reports whether the folder holds a demo.
func (f Folder) IsDemo() bool { return f.isOurs() && !f.isRun() }

// Check returns an error if the folder cannot be used for a demo; it writes nothing.
func (f Folder) Check() error {
	if f.isRun() {
		return usage.Errorf("--data %s: 'postroomd run' keeps a mailbox there; name another folder", string(f))
	}
	return f.checkEmpty()
}

// CheckRun returns an error if the folder cannot be used for a mailbox; it writes nothing.
func (f Folder) CheckRun() error {
	if f.IsDemo() {
		return usage.Errorf("--data %s holds a demo; name another folder", string(f))
	}
	if f.IsBeside() {
		return nil
	}
	return f.checkEmpty()
}

// IsBeside reports whether the folder has only the files that are kept next to a PostgreSQL database: stored grants,
// the stop file, the address and the key of the page, and the seen file.
func (f Folder) IsBeside() bool {
	entries, err := f.entries()
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		path := filepath.Join(string(f), e.Name())
		return path != f.Tokens() && path != f.stopFile() && path != f.pageFile() && path != f.pageKeyFile() &&
			!strings.HasPrefix(path, f.Checkpoint())
	})
}

// createRun creates the folder of a mailbox for run.
func (f Folder) createRun() error {
	if err := f.Create(); err != nil {
		return err
	}
	return os.WriteFile(f.RunFile(), nil, 0o600)
}

// entries are what is in the folder, but for lost+found, which stands in the first folder of a file system: that of a
// volume.
func (f Folder) entries() ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(string(f))
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "lost+found" && e.IsDir() }), err
}

// checkEmpty returns an error if the folder holds what is not postroomd's.
func (f Folder) checkEmpty() error {
	entries, err := f.entries()
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (len(entries) == 0 || f.isOurs() || f.isRun()):
		return nil
	case err == nil:
		return usage.Errorf("--data %s: the folder holds other things; name an empty one, or one that does not exist yet",
			string(f))
	default:
		return usage.Errorf("--data %s: %w", string(f), err)
	}
}

// Create makes the folder and those above it, for its owner alone.
func (f Folder) Create() error { return os.MkdirAll(string(f), 0o700) }

// Lock keeps other processes that run jobs out of the folder until it is released, or the process dies.
func (f Folder) Lock(ctx context.Context) (release func() error, err error) {
	return lockFile(ctx, f.lockFile(), string(f))
}

// lockFile takes SQLite's own lock on an empty file, which works alike on all systems.
func lockFile(ctx context.Context, path, what string) (release func() error, err error) {
	db, err := sql.Open(sqlite.DriverName,
		"file:"+(&url.URL{Path: path}).EscapedPath()+"?_busy_timeout=0&_journal_mode=MEMORY")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = conn.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err != nil {
		return nil,
			errors.Join(
				fmt.Errorf(
					"another postroomd is working on %s; wait until it has finished, or stop it if it serves a dashboard (%w)", what,
					err), db.Close())
	}
	return func() error { return errors.Join(conn.Close(), db.Close()) }, nil
}

// KeepPage keeps the address that signs in to the page for Page, where only the owner of the folder reads it; an empty
// one is removed. Without a folder it does nothing.
func (f Folder) KeepPage(address string) error {
	if f == "" {
		return nil
	}
	if address == "" {
		if err := os.Remove(f.pageFile()); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	written := f.pageFile() + ".new"
	if err := os.WriteFile(written, []byte(address), 0o600); err != nil {
		return err
	}
	return os.Rename(written, f.pageFile())
}

// Page returns the address of KeepPage; empty if there is none.
func (f Folder) Page() (string, error) {
	if f == "" {
		return "", nil
	}
	address, err := os.ReadFile(f.pageFile())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(address), err
}
