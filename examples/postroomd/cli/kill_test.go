package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/scrypt"
)

// asProgram makes the test binary be postroomd, so that a test can kill it.
const asProgram = "TEST_AS_POSTROOMD"

func TestMain(m *testing.M) {
	if err := os.Setenv("COLUMNS", "1000"); err != nil { // what is printed is compared whole
		panic(err)
	}
	scrypt.WorkFactor = 10 // a passphrase costs a millisecond, also in the processes that tests start
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
	if dir := os.Getenv(asGmail); dir != "" {
		serveGmail(dir)
	}
	flag.Parse()
	if err := errors.Join(noonHere(), flag.Set("test.parallel", "8")); err != nil { // most of them wait for processes
		panic(err)
	}
	os.Exit(atHome(m))
}

// atHome runs the tests with a home folder of their own: what a person keeps in theirs is not touched, nor what other
// runs have kept.
func atHome(m *testing.M) int {
	home, err := os.MkdirTemp("", "postroomd-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for name, folder := range map[string]string{"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_CACHE_HOME": ".cache"} {
		if err := os.Setenv(name, filepath.Join(home, folder)); err != nil {
			panic(err)
		}
	}
	return dbtest.Run(m, app.Migrate)
}

// noonHere sets the time zone, of this process and those that it starts, to one where it is noon: no test runs into
// the next day.
func noonHere() (err error) {
	zone := fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12)
	if time.Local, err = time.LoadLocation(zone); err != nil {
		return err
	}
	return os.Setenv("TZ", zone)
}

// program runs postroomd as a process of its own; it ends by itself or is killed after the limit.
func program(t *testing.T, limit time.Duration, args ...string) (stdout string, killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...) // Cancel is Process.Kill: SIGKILL
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", true
	}
	require.NoError(t, err, errs.String()+out.String())
	return out.String(), false
}

// endState is everything that must not depend on how often the demo was killed.
type endState struct {
	Summary view.Summary
	Mailbox string
	Ledger  map[string]int // action, state and subject of each entry
}

func stateOf(t *testing.T, dir string, s view.Summary) endState {
	t.Helper()
	s.New, s.Seconds, s.Jobs = 0, 0, nil
	for i := range s.Broken {
		s.Broken[i].JobID = ""
	}
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: environment.Folder(dir).Gmail()})
	require.NoError(t, err)
	mail, err := server.Snapshot(t.Context())
	require.NoError(t, err)
	for i := range mail {
		if m := &mail[i]; m.Mailbox == "" { // its draft, which is another message each time
			m.ID, m.MessageID, m.Received = "", "", time.Time{}
		}
	}
	snapshot, err := json.Marshal(mail)
	require.NoError(t, err)
	require.NoError(t, server.Close())

	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	rows, err := h.DB.Reader().QueryContext(t.Context(), `
SELECT a.type || ' ' || a.state || ' ' || m.provider_message_id
FROM actions a JOIN messages m ON m.id = a.message_id`)
	require.NoError(t, err)
	defer rows.Close()
	ledger := map[string]int{}
	for rows.Next() {
		var entry string
		require.NoError(t, rows.Scan(&entry))
		ledger[entry]++
	}
	require.NoError(t, rows.Err())
	return endState{s, string(snapshot), ledger}
}

// The demo is killed at random instants, over and over, and ends where an undisturbed one does.
func TestKilledDemoLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	const kills = 25
	tmp := t.TempDir()

	undisturbed := filepath.Join(tmp, "undisturbed")
	began := time.Now()
	out, killed := program(t, 5*time.Minute, "demo", "--json", "--data", undisturbed)
	require.False(t, killed)
	// Beside other tests it takes long. Each run goes on where the one before was killed, so all of it is reached.
	length := min(time.Since(began), 4*time.Second)
	var s view.Summary
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	want := stateOf(t, undisturbed, s)

	done := 0
	for round := 0; done < kills; round++ {
		dir := filepath.Join(tmp, "killed")
		require.NoError(t, os.RemoveAll(dir))
		// A demo that has ended before it could be killed often enough is followed by another.
		for ended := false; !ended && done < kills; {
			_, killed = program(t, time.Duration(rand.Int64N(int64(length))), "demo", "--json", "--data", dir)
			ended = !killed
			if killed {
				done++
			}
		}
		out, killed = program(t, 5*time.Minute, "demo", "--json", "--data", dir)
		require.False(t, killed)
		var s view.Summary
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		require.Equal(t, want, stateOf(t, dir, s), "round %d", round)
	}
}

// An interrupt stops the demo in good order, says how to go on, and loses nothing.
func TestInterruptedDemoGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "demo", "--data", dir)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(errs)
	require.True(t, lines.Scan(), "it says where it keeps everything")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
	}
	said := text.String()
	var status *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &status)
	require.Equal(t, exitInterrupted, status.ExitCode(), said)
	require.Contains(t, said, "run the same command again")
	require.GreaterOrEqual(t, demoJSON(t, "--data", dir).Messages, 60)
}
