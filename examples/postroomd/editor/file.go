package editor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// readRulesFile returns the text of a rules file, empty if there is none.
func readRulesFile(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// Rewrite writes a rules file atomically, or creates it, unless a person has edited it since it was read as
// before.
func Rewrite(path, before, text string) error {
	there, err := readRulesFile(path)
	if err != nil {
		return err
	}
	if there != before {
		return usage.Errorf(
			"%s has been edited meanwhile, and is left as it is; nothing is changed: look at it, and give the command again",
			path)
	}
	err = replaceFile(path, []byte(text))
	if errors.Is(err, fs.ErrNotExist) {
		err = makeFile(path, []byte(text))
	}
	return err
}

// makeFile creates a file. If somebody creates it meanwhile, it returns an error.
func makeFile(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// putBack restores the rules file after a failed change, unless a person has edited it since. existed reports whether
// there was a file.
func putBack(path, before, written string, existed bool) error {
	there, err := readRulesFile(path)
	switch {
	case err != nil || there != written:
		return err
	case !existed:
		return os.Remove(path)
	}
	return replaceFile(path, []byte(before))
}

// replaceFile replaces a file atomically: readers find the old content or the new one.
func replaceFile(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
