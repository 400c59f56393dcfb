//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileSystemWithoutLocksIsNotALockedOne(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		require.ErrorIs(t, lockError(errno), errors.ErrUnsupported, errno)
	}
	require.ErrorIs(t, lockError(syscall.EWOULDBLOCK), errHeld)
	require.NotErrorIs(t, lockError(syscall.EIO), errors.ErrUnsupported)
}
