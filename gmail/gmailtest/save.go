package gmailtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
)

// Save writes the state of the server into a new folder, from which [Open] starts another server: a test prepares a mailbox once
// and begins each case with a copy. A folder that already has a mailbox is refused. If Save fails, or the process dies, the
// folder has no mailbox.
func (s *Server) Save(ctx context.Context, dir string) error {
	path := filepath.Join(dir, stateFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("gmailtest: save: %w", err)
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("gmailtest: save: %s has a mailbox already; give a new folder", dir)
	}
	// An unfinished copy must not be mistaken for a mailbox.
	unfinished, err := os.CreateTemp(dir, stateFile+".*")
	if err != nil {
		return fmt.Errorf("gmailtest: save: %w", err)
	}
	err = errors.Join(unfinished.Close(), s.copyInto(ctx, unfinished.Name()))
	if err == nil {
		err = os.Rename(unfinished.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("gmailtest: save: %w", errors.Join(err, os.Remove(unfinished.Name())))
	}
	return nil
}

// copyInto writes the state into an empty file.
func (s *Server) copyInto(ctx context.Context, path string) error {
	conn, err := s.db.Reader().Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Reading connections refuse to write, even into another file.
	_, err = conn.ExecContext(ctx, "PRAGMA query_only = FALSE")
	if err == nil {
		_, err = conn.ExecContext(ctx, "VACUUM INTO $1", onDisk(path))
	}
	_, onlyErr := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = TRUE")
	return errors.Join(err, onlyErr)
}

// onDisk returns SQLite's name of a file, even if the state is in memory, where a plain name would be saved.
func onDisk(path string) string {
	vfs := "unix"
	if runtime.GOOS == "windows" {
		vfs = "win32"
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "vfs=" + vfs}).String()
}
