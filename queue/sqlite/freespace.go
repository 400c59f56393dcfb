//go:build linux || darwin

package sqlite

import "syscall"

// freeSpace returns how many bytes the disk of the folder has left for this user.
func freeSpace(folder string) (int64, error) {
	var stat syscall.Statfs_t
	err := syscall.Statfs(folder, &stat)
	return int64(min(stat.Bavail, 1<<40)) * int64(stat.Bsize), err //nolint:unconvert // types differ by system
}
