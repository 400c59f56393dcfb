//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package folder

import (
	"errors"
	"os"
)

func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
