package queueadmin_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// nodesOf describes the nodes of a flow.
func nodesOf(t *testing.T, q *queue.Queue, id string) string {
	t.Helper()
	nodes, err := flow.Nodes(t.Context(), q, id)
	require.NoError(t, err)
	var text strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&text, "%s %s: %v; ", n.Name, n.State, n.Counts)
	}
	return text.String()
}

// gathered waits until a flow has ended.
func gathered(t *testing.T, q *queue.Queue, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		f, err := flow.Get(t.Context(), q, id)
		return err == nil && f.State == flow.Completed
	}, time.Minute, 20*time.Millisecond)
}

// Jobs of a flow run in both databases while it moves, and are gathered in the new one.
func TestMoveMovesFlowsThatRun(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		handle := func(context.Context, *queue.Work[int]) error { return nil }
		f := flow.New("moves", nil)
		many := make([]queue.NewJob, 150)
		for i := range many {
			many[i] = ping.New(i, nil)
		}
		f.Add("first", ping.New(0, nil))
		f.AddMany("many", slices.Values(many))
		f.AddMany("join", nil, flow.After("many"))
		f.Add("last", ping.New(0, nil), flow.After("first", "join"))
		id, err := flow.Enqueue(t.Context(), from, f)
		require.NoError(t, err)
		cfg := &queue.DispatcherConfig{Workers: 2, PollInterval: 20 * time.Millisecond}
		stopFrom, stopTo := start(t, from, cfg, handle), start(t, to, cfg, handle)
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), &queueadmin.MoveConfig{Batch: 10})
		require.NoError(t, err)
		gathered(t, to, id)
		require.NoError(t, stopFrom())
		require.NoError(t, stopTo())
		require.Equal(t, "first completed: 1 of 1 completed, 0 failed, 0 canceled; "+
			"join completed: 0 of 0 completed, 0 failed, 0 canceled; last completed: 1 of 1 completed, 0 failed, 0 canceled; "+
			"many completed: 150 of 150 completed, 0 failed, 0 canceled; ", nodesOf(t, to, id))
		_, err = flow.Get(t.Context(), from, id)
		require.ErrorIs(t, err, flow.ErrNotFound)
		for _, q := range []*queue.Queue{from, to} {
			found, err := queueadmin.Verify(t.Context(), q)
			require.NoError(t, err)
			require.Empty(t, found)
		}
	})
}

// A dyingFlows is a dying database that moves flows.
type dyingFlows struct {
	dying
	driver.FlowStore
	driver.FlowMover
}

func dyingAt(t *testing.T, db queue.DB, left *int) queue.DB {
	t.Helper()
	store, ok := driver.As[driver.FlowStore](db.Driver())
	require.True(t, ok)
	mover, ok := driver.As[driver.FlowMover](db.Driver())
	require.True(t, ok)
	return queue.NewDB(dyingFlows{dying{db.Driver().(movable), left}, store, mover})
}

// A flow is gathered once, wherever the move has died.
func TestMoveGoesOnWithFlowsAfterDyingAnywhere(t *testing.T) {
	for n := range 40 {
		from, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "from.db"),
			&sqlite.Config{Durability: sqlite.Normal})
		require.NoError(t, err)
		to, err := sqlite.OpenMemory(t.Context())
		require.NoError(t, err)
		require.NoError(t, queue.Migrate(t.Context(), from))
		require.NoError(t, queue.Migrate(t.Context(), to))
		old, young := on(t, from, nil), on(t, to, nil)
		id, err := flow.Enqueue(t.Context(), old, flow.Batch(ping.New(1, nil), ping.New(2, nil), ping.New(3, nil)).
			Then(ping.New(4, nil)))
		require.NoError(t, err)
		run := func(q *queue.Queue, limit int) (n int) {
			claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, limit)
			require.NoError(t, err)
			for _, a := range claimed {
				require.NoError(t, a.Complete(t.Context(), nil))
			}
			return len(claimed)
		}
		ran := run(old, 1)
		left := n
		_, err = queueadmin.Move(t.Context(), dyingAt(t, from, &left), dyingAt(t, to, &left),
			&queueadmin.MoveConfig{Batch: 1})
		died := err != nil
		ran += run(old, 1) + run(young, 100)
		_, err = queueadmin.Move(t.Context(), from, to, nil)
		require.NoError(t, err)
		for more := 1; more > 0; ran += more {
			more = run(young, 100)
		}
		require.Equal(t, 4, ran, "died at write %d", n)
		require.Equal(t, "batch completed: 3 of 3 completed, 0 failed, 0 canceled; "+
			"then completed: 1 of 1 completed, 0 failed, 0 canceled; ", nodesOf(t, young, id), "died at write %d", n)
		found, err := queueadmin.Verify(t.Context(), young)
		require.NoError(t, err)
		require.Empty(t, found)
		_, err = flow.Get(t.Context(), old, id)
		require.ErrorIs(t, err, flow.ErrNotFound)
		require.NoError(t, errors.Join(from.Close(), to.Close()))
		if !died {
			return
		}
	}
	t.Fatal("it dies at every write: the last one should not be reached")
}

// What is to be done about a node when its flow begins to move is done where the flow goes on: here it could not end.
func TestMoveTakesWhatIsToBeDoneAboutANode(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		f := flow.New("moves", nil)
		f.Add("first", ping.New(0, nil))
		f.AddMany("join", nil, flow.After("first"))
		f.Add("last", ping.New(0, nil), flow.After("join"))
		id, err := flow.Enqueue(t.Context(), from, f)
		require.NoError(t, err)
		claim := func(q *queue.Queue) []*queue.Attempt {
			t.Helper()
			claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 10)
			require.NoError(t, err)
			for _, a := range claimed {
				require.NoError(t, a.Complete(t.Context(), nil))
			}
			return claimed
		}
		require.Len(t, claim(from), 1) // the join has opened, and nobody has ended it yet
		mover, ok := driver.As[driver.FlowMover](from.DB().Driver())
		require.True(t, ok)
		require.NoError(t, driver.Write(t.Context(), from.DB(), func(ctx context.Context, tx *driver.WriteTx) error {
			return mover.FreezeFlows(ctx, tx, []string{id})
		}))
		require.Empty(t, claim(from))
		reader, ok := driver.As[driver.FlowReader](from.DB().Driver())
		require.True(t, ok)
		left, err := reader.TasksLeft(t.Context())
		require.NoError(t, err)
		require.False(t, left, "a claim has nothing to do")

		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		ran := claim(to)
		for range 3 { // a claim does what is to be done about nodes, and the next finds what that has released
			ran = append(ran, claim(to)...)
		}
		require.Len(t, ran, 1)
		gathered(t, to, id)
	})
}

// A growingFlows is a database in which a flow grows before rows of a table are read.
type growingFlows struct {
	dyingFlows
	table driver.Table
	once  *sync.Once
	by    func()
}

func (d growingFlows) JobRows(ctx context.Context, name driver.Table, ids []string) (driver.Rows, error) {
	if name == d.table {
		d.once.Do(d.by)
	}
	return d.dyingFlows.JobRows(ctx, name, ids)
}

// What a handler adds to a flow while that is copied is copied with the next look.
func TestMoveMovesFlowsThatGrow(t *testing.T) {
	for _, table := range []driver.Table{driver.TableNodes, driver.TableEdges} {
		moving(t, func(t *testing.T, from, to *queue.Queue) {
			f := flow.New("grows", nil)
			f.Add("first", ping.New(0, nil))
			id, err := flow.Enqueue(t.Context(), from, f)
			require.NoError(t, err)
			claimed := claimAs(t, from, "w")
			require.Len(t, claimed, 1)
			more := flow.New("more", nil)
			more.AddMany("many", slices.Values([]queue.NewJob{ping.New(1, nil), ping.New(2, nil)}), flow.After("first"))
			more.Add("last", ping.New(3, nil), flow.After("many"))
			left := 1000
			source := growingFlows{dyingAt(t, from.DB(), &left).Driver().(dyingFlows), table, new(sync.Once), func() {
				require.NoError(t, claimed[0].Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					return flow.GrowTx(ctx, tx, claimed[0], more)
				}))
			}}
			_, err = queueadmin.Move(t.Context(), queue.NewDB(source), to.DB(), &queueadmin.MoveConfig{Wait: -1})
			require.ErrorIs(t, err, queueadmin.ErrStillRunning)
			require.NoError(t, claimed[0].Complete(t.Context(), nil))
			_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
			require.NoError(t, err)
			for n := range 3 {
				ran := claimAs(t, to, "w")
				require.Len(t, ran, []int{2, 1, 0}[n])
				for _, a := range ran {
					require.NoError(t, a.Complete(t.Context(), nil))
				}
			}
			require.Equal(t, "first completed: 1 of 1 completed, 0 failed, 0 canceled; "+
				"last completed: 1 of 1 completed, 0 failed, 0 canceled; "+
				"many completed: 2 of 2 completed, 0 failed, 0 canceled; ", nodesOf(t, to, id))
			found, err := queueadmin.Verify(t.Context(), to)
			require.NoError(t, err)
			require.Empty(t, found)
		})
	}
}

// A job of a node that has failed is retried while its flow moves, and completes: so does its node.
func TestMoveEndsNodesAgainWhoseJobsWereRetriedMeanwhile(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		f := flow.New("retried", nil)
		f.Add("bad", ping.New(0, nil))
		f.Add("long", ping.New(1, nil))
		f.Add("last", ping.New(2, nil), flow.AfterEnd("bad"), flow.After("long"))
		id, err := flow.Enqueue(t.Context(), from, f)
		require.NoError(t, err)
		attempts := make(map[string]*queue.Attempt)
		for _, a := range claimAs(t, from, "w") {
			_, node := flow.Of(a)
			attempts[node] = a
		}
		require.NoError(t, attempts["bad"].Fail(t.Context(), queue.Fatal(errBroken)))
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), &queueadmin.MoveConfig{Wait: -1})
		require.ErrorIs(t, err, queueadmin.ErrStillRunning)
		require.NoError(t, to.Retry(t.Context(), attempts["bad"].Job.ID))
		complete := func() {
			t.Helper()
			claimed := claimAs(t, to, "w")
			require.Len(t, claimed, 1)
			require.NoError(t, claimed[0].Complete(t.Context(), nil))
		}
		complete()
		require.NoError(t, attempts["long"].Complete(t.Context(), nil))
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		complete()
		require.Equal(t, "bad completed: 1 of 1 completed, 0 failed, 0 canceled; "+
			"last completed: 1 of 1 completed, 0 failed, 0 canceled; long completed: 1 of 1 completed, 0 failed, 0 canceled; ",
			nodesOf(t, to, id))
		gathered(t, to, id)
	})
}

// The jobs of a flow that was canceled when a process died do not run in the new database while others still move.
func TestMoveCancelsWhatIsToBeCanceledFirst(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		enqueue(t, from, nil)
		long := claimAs(t, from, "w")
		require.Len(t, long, 1)
		many := make([]queue.NewJob, 1200) // more than are canceled at a time
		for i := range many {
			many[i] = ping.New(i, nil)
		}
		id, err := flow.Enqueue(t.Context(), from, flow.Batch(many...))
		require.NoError(t, err)
		store, ok := driver.As[driver.FlowStore](from.DB().Driver())
		require.True(t, ok)
		require.NoError(t, driver.Write(t.Context(), from.DB(), func(ctx context.Context, tx *driver.WriteTx) error {
			return store.CancelFlow(ctx, tx, id)
		}))
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), &queueadmin.MoveConfig{Wait: -1})
		require.ErrorIs(t, err, queueadmin.ErrStillRunning)
		require.Empty(t, claimAs(t, to, "w"))
		require.NoError(t, long[0].Complete(t.Context(), nil))
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		status, err := flow.Get(t.Context(), to, id)
		require.NoError(t, err)
		require.Equal(t, flow.Canceled, status.State)
	})
}
