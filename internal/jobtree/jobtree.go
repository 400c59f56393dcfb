// Package jobtree is a workload of trees of jobs that reveals lost and repeated work. A job is a node of a tree: it
// records two effects in a table of its own, one in a step and one with its completion, which also enqueues its two
// children. Some nodes have keys, some wait for a limit, some fail at first, and the leaves of a tree are a sequence.
package jobtree

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

type node struct {
	Name  string // the root's name, a dash, and the path from there
	Depth int    // 1 for a root
}

const (
	growth queue.Type[node] = "grow"
	depth  int              = 5
	// TreeSize is the number of jobs that one root becomes.
	TreeSize = 1<<depth - 1
)

// A Workload is a queue on which trees grow.
type Workload struct {
	*queue.Queue
}

// Open creates missing tables. Several processes may call it once one call has returned.
func Open(ctx context.Context, db queue.DB) (*Workload, error) {
	if err := queue.Migrate(ctx, db); err != nil {
		return nil, err
	}
	err := db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		// No key: a repeated effect must be visible.
		number := "INTEGER PRIMARY KEY"
		if db.Dialect() == driver.Postgres {
			number = "BIGINT GENERATED ALWAYS AS IDENTITY"
		}
		_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS effects (number "+number+", name TEXT NOT NULL)")
		return err
	})
	if err != nil {
		return nil, err
	}
	q, err := queue.New(db, &queue.Config{
		Retry:  queue.RetryPolicy{Base: 10 * time.Millisecond, Factor: 2, Cap: 100 * time.Millisecond},
		Budget: queue.Budget{Crashes: 1000, Interruptions: 1000},
	})
	if err != nil {
		return nil, err
	}
	return &Workload{q}, q.SetLimit(ctx, queue.ForKeyPrefix("side:"), queue.Limit{MaxRunning: 4})
}

// Plant enqueues a root. It may be repeated until it succeeds; the result is one tree.
func (f *Workload) Plant(ctx context.Context, root string) error {
	_, err := f.Enqueue(ctx, newNode(node{Name: root + "-", Depth: 1}))
	return err
}

func newNode(n node) queue.NewJob {
	// An unreachable database makes an attempt fail like any failure; it must not end the job.
	opts := &queue.Options{Key: queue.WhileUnfinished(n.Name), Priority: n.Depth % 3, MaxAttempts: 1000}
	if n.Depth%2 == 1 {
		opts.Key = queue.Forever(n.Name)
	}
	if n.Depth == 4 {
		opts.LimitKey = "side:" + n.Name[len(n.Name)-1:]
	}
	if n.Depth == depth {
		root, _, _ := strings.Cut(n.Name, "-")
		opts.Sequence = root
	}
	return growth.New(n, opts)
}

// Handle registers the handlers. grown is called after each completed node.
func (f *Workload) Handle(d *queue.Dispatcher, grown func(name string)) {
	queue.Handle(d, growth, func(ctx context.Context, w *queue.Work[node]) error {
		err := f.grow(ctx, w)
		if err == nil {
			grown(w.Payload.Name)
		}
		return err
	})
}

var errFirst = errors.New("the first attempt fails")

func (f *Workload) grow(ctx context.Context, w *queue.Work[node]) error {
	n := w.Payload
	begun, err := queue.StepTx(ctx, w, "begin", func(ctx context.Context, tx queue.Tx) (bool, error) {
		return true, note(ctx, tx, n.Name+" begun")
	})
	if err != nil || !begun {
		return err
	}
	if strings.HasSuffix(n.Name, "rl") && w.Job.Attempt == 1 {
		return queue.RetryAfter(errFirst, time.Millisecond)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := note(ctx, tx, n.Name); err != nil || n.Depth == depth {
			return err
		}
		for _, side := range []string{"l", "r"} {
			if _, err := f.EnqueueTx(ctx, tx, newNode(node{Name: n.Name + side, Depth: n.Depth + 1})); err != nil {
				return err
			}
		}
		return nil
	})
}

func note(ctx context.Context, tx queue.Tx, effect string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO effects (name) VALUES ($1)", effect)
	return err
}

// Finish lets a dispatcher work until nothing is left to do, in any process.
func (f *Workload) Finish(ctx context.Context, cfg *queue.DispatcherConfig) error {
	d, err := queue.NewDispatcher(f.Queue, cfg)
	if err != nil {
		return err
	}
	f.Handle(d, func(string) {})
	return d.RunUntilIdle(ctx)
}

// requireInTurn fails the test if the effects of a leaf have one of another leaf of the tree between them.
func (f *Workload) requireInTurn(t *testing.T) {
	t.Helper()
	var names []string
	require.NoError(t, f.DB().Reader().Select(&names, "SELECT name FROM effects ORDER BY number"))
	begun := make(map[string]string)
	for _, name := range names {
		root, path, _ := strings.Cut(name, "-")
		path, begins := strings.CutSuffix(path, " begun")
		if len(path) != depth-1 {
			continue
		}
		if begins {
			require.Empty(t, begun[root], "%s began before another of its sequence had ended", name)
			begun[root] = path
			continue
		}
		require.Equal(t, begun[root], path)
		begun[root] = ""
	}
}

// RequireWhole fails the test unless every planted tree has grown exactly once without leftovers. It is called when
// nothing is left to do.
func (f *Workload) RequireWhole(t *testing.T, planted []string) {
	t.Helper()
	count := func(query string) (n int) {
		t.Helper()
		require.NoError(t, f.DB().Reader().Get(&n, query), query)
		return n
	}
	var roots []string
	require.NoError(t, f.DB().Reader().Select(&roots, "SELECT name FROM effects WHERE name LIKE '%-'"))
	for i := range roots {
		roots[i] = strings.TrimSuffix(roots[i], "-")
	}
	require.Subset(t, roots, planted, "what was acknowledged is there")

	// There may be more than was acknowledged: a response can get lost.
	jobs := len(roots) * TreeSize
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM jobs"))
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM jobs WHERE state = 'completed'"))
	require.Equal(t, 2*jobs, count("SELECT COUNT(DISTINCT name) FROM effects"), "every effect")
	require.Equal(t, 2*jobs, count("SELECT COUNT(*) FROM effects"), "exactly once")
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM job_steps WHERE finished_at IS NOT NULL"))
	require.Equal(t, jobs, count("SELECT COUNT(*) FROM job_steps"))
	require.Zero(t, count("SELECT COUNT(*) FROM job_turns"))
	f.requireInTurn(t)
	require.Zero(t, count("SELECT COUNT(*) FROM job_workers"))
	require.Zero(t, count("SELECT COUNT(*) FROM job_keys WHERE scope = 'unfinished'"))
	require.Equal(t, count("SELECT COUNT(*) FROM jobs WHERE key_scope = 'forever'"),
		count("SELECT COUNT(*) FROM job_keys"))
	violations, err := queueadmin.Verify(t.Context(), f.Queue)
	require.NoError(t, err)
	require.Empty(t, violations)
	t.Logf("%d jobs, %d attempts, of which %d failed, %d were interrupted and %d crashed", jobs,
		count("SELECT COALESCE(SUM(attempt), 0) FROM jobs"),
		count("SELECT COALESCE(SUM(failures), 0) FROM jobs"), count("SELECT COALESCE(SUM(interruptions), 0) FROM jobs"),
		count("SELECT COALESCE(SUM(crashes), 0) FROM jobs"))
}
