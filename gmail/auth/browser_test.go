package auth

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A browser in the foreground runs for as long as the person likes. A command that fails at once is still an error.
func TestOpenBrowserDoesNotWaitForTheBrowserToClose(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is a shell script")
	}
	name, _ := opener(runtime.GOOS)
	dir := t.TempDir()
	stop, ended := filepath.Join(dir, "stop"), filepath.Join(dir, "ended")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	defer func(d time.Duration) { openTimeout = d }(openTimeout)
	openTimeout = time.Minute
	write("#!/bin/sh\nexit 3\n")
	require.ErrorContains(t, OpenBrowser(t.Context(), "http://127.0.0.1/"), "exit status 3")

	openTimeout = time.Millisecond
	write("#!/bin/sh\nwhile [ ! -e " + stop + " ]; do sleep 0.02; done\ntouch " + ended + "\n")
	require.NoError(t, OpenBrowser(t.Context(), "http://127.0.0.1/"))
	require.NoFileExists(t, ended, "it goes on")
	require.NoError(t, os.WriteFile(stop, nil, 0o600))
	require.Eventually(t, func() bool {
		_, err := os.Stat(ended)
		return err == nil
	}, time.Minute, 10*time.Millisecond, "it was not killed")
}
