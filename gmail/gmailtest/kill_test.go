package gmailtest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// killDir tells a child of TestImportSurvivesKill where to import to.
const killDir = "GMAILTEST_KILL_DIR"

const killMessages = 2000

// TestImportUntilKilled is no test of its own: it is what the children of TestImportSurvivesKill do.
func TestImportUntilKilled(t *testing.T) {
	dir := os.Getenv(killDir)
	if dir == "" {
		t.Skip("runs only as the child of TestImportSurvivesKill")
	}
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir})
	require.NoError(t, err)
	added, err := server.Import(t.Context(), letters(killMessages), func(done int) { report("done", done) })
	require.NoError(t, err)
	report("finished", added)
	require.NoError(t, server.Close())
}

// report writes to the parent, which waits for it.
func report(what string, count int) { _, _ = fmt.Fprintln(os.Stdout, what, count) }

func TestImportSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	for at := 1; at <= 6; at++ {
		require.False(t, importAndKill(t, dir, at), "killed before the end")
	}
	require.True(t, importAndKill(t, dir, killMessages))

	killed, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir})
	require.NoError(t, err)
	defer func() { require.NoError(t, killed.Close()) }()
	whole, _ := serve(t, letters(killMessages))
	require.Equal(t, snapshot(t, whole), snapshot(t, killed))
	require.Equal(t, historyID(t, client(t, whole)), historyID(t, client(t, killed)), "each came in once")
}

// importAndKill runs an import in a process of its own, which is killed when it has reported its at-th batch. It tells
// whether the import came to its end.
func importAndKill(t *testing.T, dir string, at int) bool {
	t.Helper()
	child := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.run=^TestImportUntilKilled$")
	child.Env = append(os.Environ(), killDir+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	finished, batches := false, 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		finished = finished || strings.HasPrefix(lines.Text(), "finished")
		if strings.HasPrefix(lines.Text(), "done") {
			if batches++; batches == at {
				require.NoError(t, child.Process.Kill())
			}
		}
	}
	err = child.Wait()
	require.Equal(t, finished, err == nil)
	return finished
}
