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

// replace writes the file atomically: after a crash of the process or the machine, it is the old one or the new one.
func replace(file string, content []byte) error {
	return write(file, content, func(draft string) error { return os.Rename(draft, file) })
}

// create is replace for a file that is written once. An existing file is left unchanged.
func create(file string, content []byte) error {
	return write(file, content, func(draft string) error {
		err := os.Link(draft, file)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return errors.Join(err, os.Remove(draft))
	})
}

// A draft that is older than draftLife was left by a killed process: writing one takes a moment.
const (
	draftLife   = time.Hour
	draftPrefix = ".draft-"
)

// removeDrafts removes the drafts of killed processes from the directory. Errors do not make a save fail. Drafts that
// any process is writing now stay.
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

// write writes a draft next to the file, renames it, and syncs both. A draft that a killed process leaves is
// encrypted too, no reader mistakes it for a grant, and a later write removes it.
func write(file string, content []byte, place func(draft string) error) (err error) {
	removeDrafts(filepath.Dir(file))
	draft, err := os.CreateTemp(filepath.Dir(file), draftPrefix+"*") // readable by its owner only
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
