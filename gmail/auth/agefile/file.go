package agefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// replace writes the file so that it is the old one or the new one whenever the process or the machine stops.
func replace(file string, content []byte) error {
	return write(file, content, func(draft string) error { return os.Rename(draft, file) })
}

// create is replace for a file that is written once: one that is there is left as it is.
func create(file string, content []byte) error {
	return write(file, content, func(draft string) error {
		err := os.Link(draft, file)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return errors.Join(err, os.Remove(draft))
	})
}

// A draft that is older than draftLife was left by a process that was killed: it takes a moment to write one.
const (
	draftLife   = time.Hour
	draftPrefix = ".draft-"
)

// removeDrafts removes what killed processes have left in the directory, as far as it can: what others have left fails no save.
// Drafts that are being written now stay, whoever writes them.
func removeDrafts(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), draftPrefix) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > draftLife {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// write writes a draft beside the file, puts it in place, and syncs both. A draft that a killed process leaves is encrypted too,
// no reader takes it for a grant, and a later write removes it.
func write(file string, content []byte, place func(draft string) error) (err error) {
	removeDrafts(filepath.Dir(file))
	draft, err := os.CreateTemp(filepath.Dir(file), draftPrefix+"*") // for its owner only
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = place(draft.Name())
	}
	if err != nil {
		return errors.Join(err, removed(draft.Name()))
	}
	return syncDir(filepath.Dir(file))
}

func removed(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes a rename durable.
func syncDir(name string) error {
	if runtime.GOOS == "windows" { // directories cannot be synced there
		return nil
	}
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
