package cli

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// The heap grows to five times what is live, up to a bound, unless the environment says otherwise.
func TestTheHeapGrowsUpToABound(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "2GiB")
	collectLess()
	require.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1), "the environment has its way")
	t.Setenv("GOMEMLIMIT", "")
	collectLess()
	require.EqualValues(t, 512<<20, debug.SetMemoryLimit(-1))
	require.Equal(t, 400, debug.SetGCPercent(100))
}
