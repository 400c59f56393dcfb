package cli

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// atTerminal runs a command whose output a terminal shows, and returns the lines that it shows and the status.
func atTerminal(ctx context.Context, t *testing.T, args ...string) (lines <-chan string, ended <-chan int) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ours.Close() })
	var number, locked int32
	control := func(request uintptr, value *int32) {
		_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, failed)
	}
	control(syscall.TIOCSPTLCK, &locked)
	control(syscall.TIOCGPTN, &number)
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	shown, status := make(chan string, 10_000), make(chan int, 1)
	go func() {
		status <- Run(ctx, args, theirs, theirs)
		_ = theirs.Close()
	}()
	go func() {
		defer close(shown)
		for read := bufio.NewScanner(ours); read.Scan(); { // reading ends with an error when nobody has theirs open
			shown <- strings.TrimSuffix(read.Text(), "\r")
		}
	}()
	return shown, status
}

// At a terminal the demo says first where the page is, serves it, and ends when it is interrupted.
func TestDemoServesThePageAtATerminal(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	lines, ended := atTerminal(ctx, t, "demo", "--data", filepath.Join(t.TempDir(), "data"))
	address := regexp.MustCompile(`^The dashboard is at (http://127\.0\.0\.1:\d+/\?token=\S+)$`).FindStringSubmatch(<-lines)
	require.NotNil(t, address)
	answer, err := http.Get(address[1])
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	for line := range lines {
		if strings.Contains(line, "until you press Ctrl-C") {
			interrupt()
		}
	}
	require.Zero(t, <-ended)
}

// Who wants no page, or the summary as JSON, gets no page at a terminal either.
func TestDemoEndsByItselfAtATerminalIfTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"--json"}, {"--dashboard", "none"}} {
		lines, ended := atTerminal(t.Context(), t, append([]string{"demo", "--data", dir}, args...)...)
		for line := range lines {
			require.NotContains(t, line, "The dashboard is at")
		}
		require.Zero(t, <-ended, args)
	}
}
