package jobtree

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

const (
	// KillsEnv names the environment variable with the number of processes that [Kill] kills. Default 24.
	KillsEnv = "POSTROOM_TEST_KILLS"
	// workEnv names the database of a process that will be killed.
	workEnv = "POSTROOM_TEST_KILL_TARGET"
)

// An Opener opens the database that target names, like a separate process.
type Opener func(ctx context.Context, target string) (queue.DB, error)

// Main is the TestMain of packages that call [Kill]. It runs the tests or, in a process that Kill has started, the
// work. The migrations are for dbtest.Main.
func Main(m *testing.M, open Opener, migrations ...dbtest.Migration) {
	target := os.Getenv(workEnv)
	if target == "" {
		dbtest.Main(m, migrations...)
		return
	}
	if err := work(context.Background(), open, target); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

// work prints events line by line until it is killed.
func work(ctx context.Context, open Opener, target string) error {
	say("up", "")
	db, err := open(ctx, target)
	if err != nil {
		return err
	}
	f, err := Open(ctx, db)
	if err != nil {
		return err
	}
	d, err := queue.NewDispatcher(f.Queue, &queue.DispatcherConfig{Workers: 8, Lease: 400 * time.Millisecond,
		PollInterval: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	f.Handle(d, func(name string) { say("grown", name) })
	// It enqueues as much work as it can do before it is killed.
	go func() {
		root := uuid.NewString()
		if err := f.Plant(ctx, root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		say("planted", root)
	}()
	return d.Run(ctx)
}

// say writes one line in one piece.
func say(what, name string) { fmt.Fprintln(os.Stdout, what, name) }

// Kill works on the database with two processes at a time and repeatedly kills them with SIGKILL, at any instruction.
// Nothing acknowledged may be lost, every effect must happen exactly once, and nothing may be left behind.
func Kill(t *testing.T, open Opener, target string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts and kills many processes; left out by -short")
	}
	kills := killsWanted(t)
	db, err := open(t.Context(), target)
	require.NoError(t, err)
	if closer, ok := db.(interface{ Close() error }); ok {
		defer func() { require.NoError(t, closer.Close()) }()
	}
	f, err := Open(t.Context(), db)
	require.NoError(t, err)
	planted := []string{"first", "second", "third", "fourth"}
	for _, root := range planted {
		require.NoError(t, f.Plant(t.Context(), root))
	}

	var processes sync.WaitGroup
	results := make(chan []string, kills)
	for i := range 2 {
		processes.Go(func() {
			for n := i; n < kills && !t.Failed(); n += 2 {
				roots, err := killOne(target, rand.IntN(TreeSize)) //nolint:gosec // nobody must not guess it
				if err != nil {
					t.Error(err)
				}
				results <- roots
			}
		})
	}
	processes.Wait()
	close(results)
	for roots := range results {
		planted = append(planted, roots...)
	}
	counts, err := f.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}})
	require.NoError(t, err)
	require.NotEmpty(t, counts, "the processes were killed at work")

	require.NoError(t, f.Finish(t.Context(), &queue.DispatcherConfig{Exclusive: true}))
	f.RequireWhole(t, planted)
	var crashed int
	require.NoError(t, f.DB().Reader().Get(&crashed, "SELECT COUNT(*) FROM job_attempts WHERE kind = 'crashed'"))
	require.NotZero(t, crashed, "some were killed at work")
	t.Logf("%d processes were killed; %d trees were acknowledged", kills, len(planted))
}

func killsWanted(t *testing.T) int {
	t.Helper()
	value := os.Getenv(KillsEnv)
	if value == "" {
		return 24
	}
	kills, err := strconv.Atoi(value)
	require.NoError(t, err, "%s is a number of processes", KillsEnv)
	require.Positive(t, kills, "%s is a number of processes", KillsEnv)
	return kills
}

// killOne starts a process, kills it after the given number of lines, and returns the roots that it reported as stored.
func killOne(target string, lines int) (planted []string, err error) {
	process := exec.Command(os.Args[0], "-test.run=^$") //nolint:gosec,noctx // this program; it is killed by hand
	process.Env = append(os.Environ(), workEnv+"="+target)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	said := bufio.NewScanner(out)
	for ; said.Scan(); lines-- {
		if root, ok := strings.CutPrefix(said.Text(), "planted "); ok {
			planted = append(planted, root)
		}
		if lines == 0 {
			if err := process.Process.Kill(); err != nil {
				return planted, err
			}
		}
	}
	err = process.Wait()
	if process.ProcessState.Exited() {
		return planted, fmt.Errorf("the process ended by itself: %w", err)
	}
	return planted, nil
}
