package agefile_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/internal/scrypt"
)

// What trying a passphrase takes of memory is given back, and does not let the heap grow afterwards.
func TestThePassphraseLeavesNoMemory(t *testing.T) {
	factor, percent := scrypt.WorkFactor, debug.SetGCPercent(400)
	t.Cleanup(func() {
		scrypt.WorkFactor = factor
		debug.SetGCPercent(percent)
	})
	scrypt.WorkFactor = 16 // 64 MB
	cfg := agefile.Config{Dir: t.TempDir(), Passphrase: "open sesame"}
	open(t, cfg)
	open(t, cfg)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	require.Less(t, after.NextGC, uint64(48<<20), "the heap may grow to")
	require.Less(t, after.HeapSys-after.HeapReleased, uint64(48<<20), "the process holds")
}
