package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// TestMain is the program itself in a process that a test starts.
func TestMain(m *testing.M) {
	if os.Getenv("LONGJOB_ITSELF") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// startWorker starts the program with its command work.
func startWorker(t *testing.T) *exec.Cmd {
	t.Helper()
	itself, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(itself, "work")
	cmd.Env = append(os.Environ(), "LONGJOB_ITSELF=1")
	cmd.Stderr = t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return cmd
}

func program(t *testing.T, args ...string) string {
	t.Helper()
	said, err := run(t.Context(), args)
	require.NoError(t, err)
	return said
}

// theQueue is the database of the program, seen by another one.
func theQueue(t *testing.T) *queue.Queue {
	t.Helper()
	db, err := sqlite.Open(t.Context(), "longjob.db", nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// reach waits until a job has stored a position that is at least as far, and returns it.
func reach(t *testing.T, q *queue.Queue, id string, next int) (at position) {
	t.Helper()
	require.Eventually(t, func() bool {
		steps, err := q.Steps(t.Context(), id)
		require.NoError(t, err)
		for _, s := range steps {
			if s.Name == "blocks" && s.Cursor != nil {
				require.NoError(t, json.Unmarshal(s.Cursor, &at))
			}
		}
		return at.Next >= next
	}, time.Minute, 10*time.Millisecond)
	return at
}

// The process is killed at work, and another one goes on: each number is counted once.
func TestGoesOnAfterAKill(t *testing.T) {
	t.Chdir(t.TempDir())
	id := program(t, "start", "3000000")
	q := theQueue(t)

	first := startWorker(t)
	before := reach(t, q, id, 300_000)
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait())
	require.Less(t, before.Next, 3_000_000)
	require.Contains(t, program(t, "progress", id), `at {"Next":`)

	second := startWorker(t)
	job, err := q.Wait(t.Context(), id)
	require.NoError(t, err)
	counted, err := queue.Result[int](job)
	require.NoError(t, err)
	require.Equal(t, 216_816, counted, "the number of primes below three millions")
	require.Equal(t, 1, job.Crashes)
	require.Zero(t, job.Failures)
	attempts, err := q.Attempts(t.Context(), id)
	require.NoError(t, err)
	rested := 0
	for _, a := range attempts {
		if a.Kind == queue.KindWaiting {
			rested++
		}
	}
	require.Equal(t, 2, rested, "at each million")

	require.NoError(t, second.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.Wait(), "it ends in good order")
}

func TestCancelWithAReason(t *testing.T) {
	t.Chdir(t.TempDir())
	id := program(t, "start", "100000000000")
	q := theQueue(t)
	worker := startWorker(t)
	reach(t, q, id, block)
	require.Equal(t, "1 canceled", program(t, "cancel", id, "not", "needed"))
	said := program(t, "progress", id)
	require.True(t, strings.HasPrefix(said, "canceled, at {"), said)
	require.True(t, strings.HasSuffix(said, "not needed"), said)

	// The handler has returned: a stop does not wait for it.
	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	require.NoError(t, worker.Wait())
	_, err := run(t.Context(), []string{"cancle", id})
	require.ErrorContains(t, err, "say start NUMBER")
}

// A process that is told to stop gives the job back, and it is no failure.
func TestAStopIsNoFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	id := program(t, "start", "100000000000")
	q := theQueue(t)
	worker := startWorker(t)
	at := reach(t, q, id, block)
	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	require.NoError(t, worker.Wait())
	job, err := q.Job(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, queue.StateQueued, job.State)
	require.Zero(t, job.Failures)
	require.GreaterOrEqual(t, reach(t, q, id, at.Next).Next, at.Next)
	queuetest.RequireEnqueued(t, q, Count.New(100_000_000_000, nil))
}
