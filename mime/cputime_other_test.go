//go:build !linux

package mime_test

import "time"

// cpuTime is the time that f takes.
func cpuTime(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
