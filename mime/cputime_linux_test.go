package mime_test

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is the time that the processor spends in f, whatever else the machine is doing.
func cpuTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD
	var before, after syscall.Rusage
	_ = syscall.Getrusage(thread, &before) // fails for a wrong constant only
	f()
	_ = syscall.Getrusage(thread, &after)
	return time.Duration(after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano())
}
