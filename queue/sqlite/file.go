package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/postroom-go/postroom/queue/sqlite/internal/fileid"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// ErrFileReplaced is returned by writes, and by [Open], if the database file or its write-ahead log is no longer the
// one that was opened: it was removed, truncated, or replaced by another. Writes would be lost. The error names the
// file and has a hint. A file that was only moved away works again as soon as it is back. Bytes that are written into
// the same file are not noticed, as by cp backup.db queue.db: stop all programs that use a database before you do that.
var ErrFileReplaced = errors.New("sqlite: the database file is not the one that was opened")

// A file is the database's file and its write-ahead log, by which the writer recognizes them at each commit. It is not
// opened for that: closing it would release SQLite's locks on it.
type file struct {
	path string // as it was given, absolute
	log  string // beside the file that a link leads to

	opened, logOpened fileid.ID
	size              atomic.Int64 // of the file when it was last checked
}

// newFile must be called before the file is opened.
func newFile(path string) (*file, error) {
	// SQLite keeps the log beside the file that a link leads to.
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, log: target + "-wal"}
	f.opened, _, err = fileid.Of(path)
	return f, err
}

// identify must be called when a connection has been opened: from then on the log exists, as long as the connection.
func (f *file) identify() (err error) {
	if f == nil {
		return nil
	}
	if f.logOpened, _, err = fileid.Of(f.log); err != nil {
		return err
	}
	size, err := f.stat()
	f.size.Store(size)
	return err
}

// check returns [ErrFileReplaced] unless the file is the one that was opened, with all its pages.
func (f *file) check(q queryer) error {
	if f == nil {
		return nil
	}
	size, err := f.stat()
	if err != nil {
		return err
	}
	if size < f.size.Load() {
		if err := f.checkSize(q, size); err != nil {
			return err
		}
	}
	f.size.Store(size)
	return nil
}

// stat returns the file's size if file and log are the ones that were opened.
func (f *file) stat() (size int64, err error) {
	id, size, err := fileid.Of(f.path)
	if err := compare(f.path, id, f.opened, err); err != nil {
		return 0, err
	}
	id, _, err = fileid.Of(f.log)
	return size, compare(f.log, id, f.logOpened, err)
}

func compare(path string, now, opened fileid.ID, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf(
			"%w: %s was removed while it was open; stop all programs that use it, put it back together with its -wal file "+
				"or restore a backup, and start them again", ErrFileReplaced, path)
	case err != nil:
		return fmt.Errorf("sqlite: check the database file: %w", err)
	case !now.Same(opened):
		return fmt.Errorf(
			"%w: %s was replaced by another file while it was open; stop all programs that use it, see to it that file and "+
				"-wal file belong together, and start them again", ErrFileReplaced, path)
	}
	return nil
}

// checkSize distinguishes a file that was truncated from one that VACUUM has made smaller: pages that such a file lacks
// are in the log.
func (f *file) checkSize(q queryer, size int64) error {
	var pages, pageSize int64
	ctx := context.Background()
	row := q.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size")
	err := row.Scan(&pages, &pageSize)
	if err != nil || size == 0 {
		return f.truncated(size, err)
	}
	logged, _, err := walCheckpoint(ctx, q, "NOOP")
	if err != nil || size+int64(logged)*pageSize < pages*pageSize {
		return f.truncated(size, err)
	}
	return nil
}

func (f *file) truncated(size int64, err error) error {
	return errors.Join(fmt.Errorf(
		"%w: %s was truncated from %d to %d bytes while it was open; stop all programs that use it, and restore a backup",
		ErrFileReplaced, f.path, f.size.Load(), size), err)
}

const (
	// usualLog is the size of the log's file after it is restarted.
	usualLog = 64 << 20
	// logCut bounds the part of the log that is cut off at once, which takes tenths of a second on some file systems.
	logCut = 128 << 20
)

// limitLog is the statement that makes SQLite cut the log at its next restart.
func (f *file) limitLog() string {
	limit := int64(usualLog)
	if info, err := os.Stat(f.log); err == nil {
		limit = max(limit, info.Size()-logCut)
	}
	return fmt.Sprint("PRAGMA journal_size_limit = ", limit)
}

// advice is an error that a person has to resolve, although the program retries. Nothing of the transaction was
// written.
var advice = map[libsqlite.Code]string{
	libsqlite.Full:     "make room on its disk",
	libsqlite.ReadOnly: "let this program write the file and its folder",
	libsqlite.IOError:  "see what its disk and the system's log say",
	libsqlite.Corrupt:  "stop all programs, keep a copy, and restore a backup or use the recover command of SQLite's shell",
}

// advise adds a hint to an error that a person has to resolve.
func advise(err error, what string) error {
	code, _ := libsqlite.ErrorOf(err)
	if advice[code.Primary()] == "" {
		return err
	}
	return fmt.Errorf("%w (%s: %s)", err, what, advice[code.Primary()])
}
