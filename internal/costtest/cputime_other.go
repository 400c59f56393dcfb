//go:build !linux

package costtest

import (
	"time"

	"github.com/stretchr/testify/require"
)

// CPUTime returns the time that f takes.
func CPUTime(_ require.TestingT, f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
