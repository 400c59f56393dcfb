//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens a file with flock, which ends with the process.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil, errors.Join(lockError(err), f.Close())
	}
	return f, nil
}

// lockError is the error of flock. ENOLCK is that of network file systems whose server has no locks.
func lockError(err error) error {
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errHeld
	case errors.Is(err, syscall.ENOLCK):
		return errors.Join(err, errors.ErrUnsupported)
	}
	return err
}
