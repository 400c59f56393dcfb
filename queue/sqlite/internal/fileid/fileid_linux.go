package fileid

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// An ID tells a file from others.
type ID struct {
	major, minor uint32
	inode        uint64
}

// Same reports whether both are IDs of one file.
func (id ID) Same(other ID) bool { return id == other }

// Of returns the ID and the size of the file that a path leads to. It does not ask for the times of the file, as
// os.Stat does: since Linux 6.13 a write gets a time of its own if somebody has seen the last one, and each fsync then
// writes that to the journal of the file system, which takes as long as the data.
func Of(path string) (id ID, size int64, err error) {
	var s unix.Statx_t
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_SIZE, &s)
	}
	switch {
	case err == nil:
		return ID{s.Dev_major, s.Dev_minor, s.Ino}, int64(s.Size), nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		return before(path)
	}
	return ID{}, 0, &os.PathError{Op: "statx", Path: path, Err: err}
}

// before is Of where there is no statx: before Linux 4.11, and in containers of that time.
func before(path string) (id ID, size int64, err error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return ID{}, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	dev := uint64(s.Dev) //nolint:unconvert // its type differs by processor
	return ID{unix.Major(dev), unix.Minor(dev), s.Ino}, s.Size, nil
}
