// Package safefolder writes files with names and contents of strangers into a folder of the user. No name and no
// symbolic link leads out of the folder, a file that somebody else has made or changed is never written over, and a
// crash leaves nothing half written.
package safefolder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/postroom-go/postroom/queue"
)

// The permissions of what is made: mail is for the owner alone. A file that is replaced keeps its own.
const (
	filePerm = 0o600
	dirPerm  = 0o700
)

// MostFile bounds what is read of a file to compare it, in bytes.
const MostFile = 64 << 20

// MostAlike bounds the files of one name.
const MostAlike = 1000

// Words are what errors call a folder.
type Words struct {
	Package string // such as notes
	What    string // such as the vault
	Instead string // what is configured instead where a link leads out, such as another path of notes
	Full    string // what to do when there are too many files of one name
}

// A Folder is one that is open. Paths are relative, with slashes.
type Folder struct {
	root  *os.Root
	words Words
}

// Open opens a folder, which must be there.
func Open(name string, words Words) (Folder, error) {
	root, err := os.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Folder{}, fmt.Errorf("%s: the folder of %s is missing: make it, or mount what it is on: %w", words.Package,
			words.What, err)
	}
	if err != nil {
		return Folder{}, fmt.Errorf("%s: open the folder of %s: %w", words.Package, words.What, err)
	}
	return Folder{root, words}, nil
}

// Check returns an error if there can be no such folder at the path. The folder itself may be missing.
func Check(name, example string, words Words) error {
	if !filepath.IsAbs(name) {
		return fmt.Errorf("%s: the folder %q is not an absolute path; write one, such as %s", words.Package, name, example)
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: %s is a file; name the folder of %s", words.Package, name, words.What)
	}
	return nil
}

// Close closes the folder.
func (f Folder) Close() error { return f.root.Close() }

// fails is the error of an operation.
func (f Folder) fails(operation, name string, err error) error {
	return fmt.Errorf("%s: %s %s: %w", f.words.Package, operation, name, err)
}

// Explain adds to an error about a path that leads out of the folder what to do about it. It does not pass by itself.
func (f Folder) Explain(err error) error {
	_, outside := f.root.Lstat("..") // package os does not export the error
	if escape, ok := errors.AsType[*fs.PathError](outside); ok && errors.Is(err, escape.Err) {
		return queue.Fatal(fmt.Errorf("%w: a symbolic link in %s leads out of it, or has an absolute path: put a folder in "+
			"its place, or configure %s", err, f.words.What, f.words.Instead))
	}
	return err
}

// A File is one that is to be written.
type File struct {
	At     string // where it was written before; empty: nowhere
	Before string // the hash of what was written there
	Dir    string // of a new file
	Base   string // its name, without Digits and Ending
	Digits string // what makes the name unique
	Ending string // such as .md

	Content []byte
}

// Put writes a file: over what was written before, if that is as it was, or else as a new one. It returns its path, and
// whether it is the one of before. An earlier attempt may have written it.
func (f Folder) Put(file File) (at string, same bool, err error) {
	if file.At != "" {
		found, err := f.Hash(file.At)
		if err != nil || found == HashOf(file.Content) {
			return file.At, true, err
		}
		if replaced, err := f.Replace(file.At, file.Before, file.Content); err != nil || replaced {
			return file.At, true, err
		}
	}
	at, err = f.Create(file.Dir, file.Base, file.Digits, file.Ending, file.Content)
	return at, false, err
}

// Hash returns the hash of a file that is no link and no folder; empty if there is none. What is not a file, or is
// larger than any that is written, has the hash "other".
func (f Folder) Hash(name string) (string, error) {
	info, err := f.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", f.fails("look at", name, err)
	case !info.Mode().IsRegular() || info.Size() > MostFile:
		return "other", nil
	}
	file, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", f.fails("read", name, err)
	}
	h := sha256.New()
	_, err = io.Copy(h, io.LimitReader(file, MostFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", f.fails("read", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// HashOf returns the hash of a content.
func HashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Create writes a new file, and returns its path: the first of [Alternative] that is free. A file that has this content
// already is taken for it.
func (f Folder) Create(dir, base, digits, ending string, content []byte) (string, error) {
	for n := range MostAlike {
		name := Alternative(dir, base, digits, ending, n)
		if placed, err := f.Place(name, content); placed || err != nil {
			return name, err
		}
	}
	return "", TooMany(Alternative(dir, base, digits, ending, 0), f.words)
}

// Alternative is the path that is tried after n others of the same name: the given one, then with the digits, and then
// with a number as well, before the ending.
func Alternative(dir, base, digits, ending string, n int) string {
	if n > 0 {
		base += " " + digits
	}
	if n > 1 {
		base += " " + strconv.Itoa(n)
	}
	return path.Join(dir, base+ending)
}

// TooMany is the error when no alternative of a name is free.
func TooMany(name string, words Words) error {
	return fmt.Errorf("%s: there are %d files with the name %s: %s", words.Package, MostAlike, name, words.Full)
}

// Place writes a file, and reports whether it is there: it is not if another one is. One that has this content already
// is taken for it.
func (f Folder) Place(name string, content []byte) (bool, error) {
	found, err := f.Hash(name)
	if err != nil {
		return false, err
	}
	if found == "" {
		if err = f.place(name, content); err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		if found, err = f.Hash(name); err != nil { // somebody was faster
			return false, err
		}
	}
	if found != HashOf(content) {
		return false, nil
	}
	return true, f.clear(beside(name, content))
}

// place writes a file where none is; the error is [fs.ErrExist] if one is there.
func (f Folder) place(name string, content []byte) error {
	return f.write(name, content, filePerm, func(beside string) error {
		err := f.root.Link(beside, name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return errors.Join(err, f.root.Remove(beside))
		}
		if errors.Is(err, fs.ErrNotExist) { // somebody has removed the file or its folder
			return err
		}
		// A file system without links: what is made in between by another program is lost.
		if _, found := f.root.Lstat(name); found == nil {
			return fmt.Errorf("%s: %w", name, fs.ErrExist)
		}
		return f.root.Rename(beside, name)
	})
}

// Replace writes over a file whose hash is that of before; it reports whether it was.
func (f Folder) Replace(name, before string, content []byte) (bool, error) {
	perm := fs.FileMode(filePerm)
	if info, err := f.root.Lstat(name); err == nil {
		perm = info.Mode().Perm()
	}
	same := false
	err := f.write(name, content, perm, func(beside string) error {
		found, err := f.Hash(name)
		if same = found == before; err != nil || !same {
			return errors.Join(err, f.root.Remove(beside))
		}
		return f.root.Rename(beside, name)
	})
	return same, err
}

// write writes a file beside its place, syncs it, and has it put there.
func (f Folder) write(name string, content []byte, perm fs.FileMode, put func(beside string) error) error {
	dir := path.Dir(name)
	err := f.root.MkdirAll(dir, dirPerm)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) { // no other name of the file would help
		return queue.Fatal(fmt.Errorf("%s: make the folder of %s: a file has its name: move the file, or configure %s",
			f.words.Package, name, f.words.Instead))
	}
	if err != nil {
		return f.fails("make the folder of", name, err)
	}
	beside := beside(name, content)
	if err := f.clear(beside); err != nil {
		return err
	}
	file, err := f.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return f.fails("write", name, err)
	}
	_, err = io.Copy(file, bytes.NewReader(content))
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return f.fails("write", name, errors.Join(err, f.root.Remove(beside)))
	}
	if err := put(beside); err != nil {
		return f.fails("write", name, err)
	}
	return f.syncDir(dir)
}

// beside is where a file is written before it is put in its place. An attempt after a crash has the same name, and no
// other file that is written at the same time has it.
func beside(name string, content []byte) string {
	return path.Join(path.Dir(name), ".postroom-"+HashOf([]byte(name + "\n" + HashOf(content)))[:12]+".tmp")
}

// clear removes what an attempt before a crash may have left.
func (f Folder) clear(beside string) error {
	if err := f.root.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.fails("remove", beside, err)
	}
	return nil
}

// syncDir makes the names in a folder durable, and those of the folders above it.
func (f Folder) syncDir(dir string) error {
	for ; ; dir = path.Dir(dir) {
		d, err := f.root.Open(dir)
		if err != nil {
			return f.fails("sync", dir, err)
		}
		// Some file systems cannot sync folders.
		err = d.Sync()
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		if err = errors.Join(err, d.Close()); err != nil {
			return f.fails("sync", dir, err)
		}
		if dir == "." {
			return nil
		}
	}
}

// Remove removes a file whose hash is that of before. One that is gone is removed already. It reports whether the file
// is gone.
func (f Folder) Remove(name, before string) (bool, error) {
	found, err := f.Hash(name)
	if err != nil || found == "" {
		return found == "", err
	}
	if found != before {
		return false, nil
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, f.fails("remove", name, err)
	}
	return true, f.syncDir(path.Dir(name))
}

// RemoveEmpty removes a folder that has nothing in it.
func (f Folder) RemoveEmpty(dir string) { _ = f.root.Remove(dir) }
