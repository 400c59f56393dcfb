package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// killEnv names the database of a child process that is there to be killed.
const killEnv = "POSTROOM_TEST_KILL_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(killEnv); path != "" {
		if err := grow(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// A node is a job with an effect and two children, down to the depth.
type node struct {
	Name  string
	Depth int
}

const (
	growNode  queue.Type[node] = "grow"
	roots                      = 48
	treeDepth                  = 7
	treeSize                   = 1<<treeDepth - 1
)

func newNode(n node) queue.NewJob {
	opts := &queue.Options{Key: queue.Forever(n.Name), Priority: n.Depth % 3}
	if n.Depth%2 == 1 {
		opts.Key = queue.WhileUnfinished(n.Name)
	}
	return growNode.New(n, opts)
}

// forest is a queue whose jobs note their effects in a table of the user's own.
func forest(ctx context.Context, db *sqlite.DB) (*queue.Queue, error) {
	if err := queue.Migrate(ctx, db); err != nil {
		return nil, err
	}
	err := db.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		// No key: an effect that happens twice must be seen.
		_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS effects (name TEXT NOT NULL)")
		return err
	})
	if err != nil {
		return nil, err
	}
	return queue.New(db, &queue.Config{Budget: queue.Budget{Crashes: 1000}})
}

func handleNode(ctx context.Context, w *queue.Work[node]) error {
	begun, err := queue.StepTx(ctx, w, "begin", func(ctx context.Context, tx *queue.Tx) (bool, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO effects (name) VALUES ($1)", w.Payload.Name+" begun")
		return true, err
	})
	if err != nil || !begun {
		return err
	}
	return w.Complete(ctx, func(ctx context.Context, tx *queue.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO effects (name) VALUES ($1)", w.Payload.Name); err != nil {
			return err
		}
		if w.Payload.Depth == treeDepth {
			return nil
		}
		for _, side := range []string{"l", "r"} {
			child := newNode(node{Name: w.Payload.Name + side, Depth: w.Payload.Depth + 1})
			if _, err := w.Queue().EnqueueTx(ctx, tx, child); err != nil {
				return err
			}
		}
		return nil
	})
}

// grow is what the child does: it works, and says so line by line, until it is killed or nothing is left to do.
func grow(path string) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, path, &sqlite.Config{Durability: sqlite.Normal})
	if err != nil {
		return err
	}
	q, err := forest(ctx, db)
	if err != nil {
		return err
	}
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 8, Lease: time.Second, PollInterval: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	queue.Handle(d, growNode, func(ctx context.Context, w *queue.Work[node]) error {
		err := handleNode(ctx, w)
		fmt.Println(w.Payload.Name)
		return err
	})
	if err := d.RunUntilIdle(ctx); err != nil {
		return err
	}
	return db.Close()
}

// Two processes at a time work on one file and are killed again and again, at any instruction. Every effect happens
// exactly once, and nothing is left behind.
func TestKilledProcessesLoseAndDoubleNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills 24 processes; left out by -short")
	}
	path := filepath.Join(t.TempDir(), "forest.db")
	db := openPath(t, path, &sqlite.Config{Durability: sqlite.Normal})
	q, err := forest(t.Context(), db)
	require.NoError(t, err)
	for i := range roots {
		_, err := q.Enqueue(t.Context(), newNode(node{Name: fmt.Sprintf("%02d-", i), Depth: 1}))
		require.NoError(t, err)
	}

	var wg sync.WaitGroup
	killed := make([]int, 2)
	for i := range killed {
		wg.Go(func() {
			for killed[i] < 12 {
				if err := killOne(path, 1+rand.IntN(120)); err != nil {
					t.Error(err)
					return
				}
				killed[i]++
			}
		})
	}
	wg.Wait()
	counts, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}})
	require.NoError(t, err)
	require.NotEmpty(t, counts, "the processes were killed at work")

	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true})
	require.NoError(t, err)
	queue.Handle(d, growNode, handleNode)
	require.NoError(t, d.RunUntilIdle(t.Context()))
	requireWholeForest(t, db)
}

// killOne starts a process, lets it do some jobs, and kills it.
func killOne(path string, lines int) error {
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), killEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	for progress := bufio.NewScanner(out); lines > 0 && progress.Scan(); lines-- {
	}
	if err := child.Process.Kill(); err != nil {
		return err
	}
	err = child.Wait()
	if child.ProcessState.Exited() {
		return fmt.Errorf("the process ended by itself: %w", err)
	}
	return nil
}

func requireWholeForest(t *testing.T, db *sqlite.DB) {
	t.Helper()
	count := func(query string) (n int) {
		t.Helper()
		require.NoError(t, db.Reader().Get(&n, query), query)
		return n
	}
	const jobs = roots * treeSize
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM jobs"))
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM jobs WHERE state = 'completed'"))
	require.Equal(t, 2*jobs, count("SELECT COUNT(DISTINCT name) FROM effects"), "every effect")
	require.Equal(t, 2*jobs, count("SELECT COUNT(*) FROM effects"), "exactly once")
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM job_steps WHERE finished_at IS NOT NULL"))
	require.Zero(t, count("SELECT COUNT(*) FROM job_workers"))
	require.Zero(t, count("SELECT COUNT(*) FROM job_keys WHERE scope = 'unfinished'"))
	require.Equal(t, count("SELECT COUNT(*) FROM jobs WHERE key_scope = 'forever'"), count("SELECT COUNT(*) FROM job_keys"))
	require.NotZero(t, count("SELECT COUNT(*) FROM job_attempts WHERE kind = 'crashed'"), "some were killed at work")
	var check string
	require.NoError(t, db.Reader().Get(&check, "PRAGMA integrity_check"))
	require.Equal(t, "ok", check)
}
