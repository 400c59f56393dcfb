package sqlite_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever has no C compiler reads one line, and not what the library for SQLite lacks without one.
func TestWithoutCgoOneLineSaysWhatToDo(t *testing.T) {
	build := exec.CommandContext(t.Context(), "go", "build", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=") // the race detector needs cgo
	out, err := build.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "needs_cgo__install_a_C_compiler_such_as_gcc_and_build_with_CGO_ENABLED_1")
	require.Len(t, strings.Split(strings.TrimSpace(string(out)), "\n"), 2, "the package and the line: %s", out)
}
