package folder

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrLocked reports that another process writes into a folder.
var ErrLocked = errors.New("another process writes into it")

// ErrNoLocks reports that the file system of a folder, or the operating system, has no locks.
var ErrNoLocks = errors.New("the file system has no locks")

// errHeld is the error of an operating system for a file that another process has locked.
var errHeld = errors.New("the file is locked")

// Lock keeps other processes that call it out of the folder until it is released, or the process dies, however it does.
// The error matches [ErrLocked] while another has the lock, and [ErrNoLocks] where there are none. Whoever writes an
// archive calls it once; reading needs no lock. The lock is on the file lock in the folder, which stays and is empty.
func (b *Bucket) Lock() (release func() error, err error) {
	f, err := lockFile(filepath.Join(b.dir, "lock"))
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("archive: the folder %s: %w; stop that one first, or name another folder", b.dir, ErrLocked)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%w: %w", ErrNoLocks, err)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: lock the folder %s: %w", b.dir, err)
	}
	return f.Close, nil
}
