package costtest

import (
	"runtime"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// CPUTime returns the time that the processor spends in f, whatever else the machine is doing.
func CPUTime(t require.TestingT, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD
	var before, after syscall.Rusage
	require.NoError(t, syscall.Getrusage(thread, &before))
	f()
	require.NoError(t, syscall.Getrusage(thread, &after))
	return time.Duration(after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano())
}
