// Package costtest measures what a function costs, for tests of bounds of time and memory.
package costtest

import (
	"runtime"
	"testing"
)

// NeedsExactCosts skips a test of time or memory under the race detector, which takes much of both.
func NeedsExactCosts(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("time and memory are measured without the race detector")
	}
}

// SkipUnderRace skips a test that takes minutes under the race detector and runs no code there that other tests do not.
// CI runs all tests without it as well.
func SkipUnderRace(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("it is run without the race detector")
	}
}

// Allocated returns the bytes that f takes from the heap, including those that are free again.
func Allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
