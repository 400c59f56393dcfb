package folder_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive/folder"
)

// holdVariable names the folder that this program locks, instead of running tests, until it is killed.
const holdVariable = "POSTROOM_TEST_HOLD_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		hold(dir)
	}
	os.Exit(m.Run())
}

func hold(dir string) {
	bucket, err := folder.Open(dir)
	if err == nil {
		_, err = bucket.Lock()
	}
	fmt.Fprintln(os.Stdout, err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func TestOneProcessAtATimeHasTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), holdVariable+"="+dir)
	stdin, err := other.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	said, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "<nil>\n", said)

	bucket, err := folder.Open(dir)
	require.NoError(t, err)
	defer bucket.Close()
	_, err = bucket.Lock()
	require.ErrorIs(t, err, folder.ErrLocked)
	require.ErrorContains(t, err, dir)
	require.NoError(t, other.Process.Kill())
	_ = other.Wait()

	release, err := bucket.Lock()
	require.NoError(t, err, "a process that was killed holds nothing")
	_, err = bucket.Lock()
	require.ErrorIs(t, err, folder.ErrLocked)
	require.NoError(t, release())
	release, err = bucket.Lock()
	require.NoError(t, err)
	require.NoError(t, release())
}
