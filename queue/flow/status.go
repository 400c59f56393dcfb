package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A State is the state of a flow or a node. Its method Finished reports whether it stays there unless a job of it is
// retried.
type State = driver.FlowState

// The states. A flow is running from the beginning. It has failed if one of its nodes has failed that no node comes
// after with [AfterEnd], else it is canceled if one was canceled so, or by [Cancel].
const (
	Waiting   = driver.FlowWaiting   // a node: for others
	Running   = driver.FlowRunning   // a node: its jobs may start
	Retrying  = driver.FlowRetrying  // a node: its jobs are being retried
	Canceling = driver.FlowCanceling // a flow: its nodes are being canceled
	Completed = driver.FlowCompleted
	Failed    = driver.FlowFailed
	Canceled  = driver.FlowCanceled
)

// Counts are the jobs of a node and how they have ended. A job that was deleted before it had ended counts as canceled.
type Counts struct {
	Total     int
	Completed int
	Failed    int
	Canceled  int
}

// Left returns how many jobs have not ended.
func (c Counts) Left() int { return c.Total - c.Completed - c.Failed - c.Canceled }

// String formats the counts for people.
func (c Counts) String() string {
	return fmt.Sprintf("%d of %d completed, %d failed, %d canceled", c.Completed, c.Total, c.Failed, c.Canceled)
}

// A Status is a stored flow.
type Status struct {
	ID         string // UUIDv7
	Name       string
	State      State
	Nodes      int // how many there are
	Ended      int // of these
	Deadline   time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	FinishedAt time.Time // zero until it has ended
}

// A Node is a stored node.
type Node struct {
	Name  string
	State State
	Counts
	// After are the nodes that it waits for, or has waited for.
	After      []Edge
	UpdatedAt  time.Time
	FinishedAt time.Time // zero until it has ended
}

// An Edge is a node that another one waits for.
type Edge struct {
	Name   string
	Policy Policy
	Passed bool // it has ended, and the other no longer waits for it
}

// A Policy is what happens to a node if one that it waits for does not complete: cancel ([After]), run ([AfterEnd]) or
// fail ([AfterOrFail]).
type Policy = driver.EdgePolicy

// Get returns a flow, or [ErrNotFound]. It reads one row, however many jobs the flow has.
func Get(ctx context.Context, q *queue.Queue, id string) (*Status, error) {
	store, err := storeOf(q)
	if err != nil {
		return nil, wrap("get", id, err)
	}
	f, err := store.Flow(ctx, id)
	if err != nil {
		return nil, wrap("get", id, err)
	}
	return statusOf(f), nil
}

func statusOf(f *driver.Flow) *Status {
	s := Status(*f)
	return &s
}

// List returns flows, newest first: at most limit, within 1 and 1000, whose ids are lower than before; an empty before
// is none.
func List(ctx context.Context, q *queue.Queue, before string, limit int) ([]Status, error) {
	store, err := storeOf(q)
	if err == nil && (limit < 1 || limit > 1000) {
		err = fmt.Errorf("limit is %d; it must be within 1 and 1000", limit)
	}
	if err != nil {
		return nil, wrap("list", "", err)
	}
	flows, err := store.Flows(ctx, before, limit)
	list := make([]Status, len(flows))
	for i := range flows {
		list[i] = Status(flows[i])
	}
	return list, wrap("list", "", err)
}

// Nodes returns the nodes of a flow by name, with their counts. It reads rows of nodes and edges, however many jobs the
// flow has.
func Nodes(ctx context.Context, q *queue.Queue, id string) ([]Node, error) {
	store, err := storeOf(q)
	if err != nil {
		return nil, wrap("nodes", id, err)
	}
	stored, err := store.Nodes(ctx, id)
	if err == nil && len(stored) == 0 {
		_, err = store.Flow(ctx, id)
	}
	if err != nil {
		return nil, wrap("nodes", id, err)
	}
	edges, err := store.Edges(ctx, id)
	after := make(map[string][]Edge)
	for _, e := range edges {
		after[e.To] = append(after[e.To], Edge{Name: e.From[len(id)+1:], Policy: e.Policy, Passed: e.Passed})
	}
	nodes := make([]Node, len(stored))
	for i, n := range stored {
		nodes[i] = Node{
			Name: n.Name, State: n.State, Counts: countsOf(n), After: after[n.ID], UpdatedAt: n.UpdatedAt,
			FinishedAt: n.FinishedAt,
		}
	}
	return nodes, wrap("nodes", id, err)
}

func countsOf(n driver.Node) Counts {
	return Counts{Total: n.Total, Completed: n.Completed, Failed: n.Failed, Canceled: n.Canceled}
}

// CountsOf returns the counts of a node of the attempt's flow, or [ErrNoNode]. While the flow is being moved, its error
// is that of [Results].
func CountsOf(ctx context.Context, a *queue.Attempt, name string) (Counts, error) {
	id, err := flowOf(a)
	if err != nil {
		return Counts{}, wrap("counts", "", err)
	}
	store, err := storeOf(a.Queue())
	if err != nil {
		return Counts{}, wrap("counts", id, err)
	}
	n, err := nodeOf(ctx, store, id, name)
	if err != nil {
		return Counts{}, wrap("counts", id, err)
	}
	return countsOf(*n), nil
}

// Cancel cancels all jobs of a flow that have not ended, as [queue.Queue.Cancel] does each, in transactions of 1,000,
// and returns when they are canceled, or others are canceling the rest. A handler that runs learns of it at its next
// heartbeat. A flow whose jobs all end by themselves meanwhile has ended as they have. The error is [queue.ErrFinished]
// if the flow has ended, [ErrNotFound], or [driver.ErrJobMoves] while queueadmin.Move moves the flow. If the process
// dies meanwhile, dispatchers go on with it. [queue.Queue.Subscribe] does not report the jobs that are canceled.
func Cancel(ctx context.Context, q *queue.Queue, id string) error {
	return change(ctx, q, "cancel", id, driver.FlowStore.CancelFlow)
}

// Retry retries the failed and the canceled jobs of a flow that has ended, as [queue.Queue.Retry] does each: those of
// nodes that were canceled wait again for the others, and so does a node that ran after the end of another one which is
// retried, too. It does the same to a flow that stands still: a job of a canceled node was retried by itself, and
// nothing else is left. A job whose ExpiresAt, or whose flow's deadline, is over is canceled again. A job whose key
// another has taken stays as it is. Retry returns when the jobs are queued. The error is [queue.ErrNotFinished] if the
// flow goes on, [queue.ErrFinished] if there is no such job nor a canceled node that has none, [ErrNotFound], or
// [driver.ErrJobMoves] while queueadmin.Move moves the flow. [queue.Queue.Subscribe] does not report the jobs that are
// retried.
func Retry(ctx context.Context, q *queue.Queue, id string) error {
	return change(ctx, q, "retry", id, driver.FlowStore.RetryFlow)
}

// change writes what is to be done, and does it.
func change(
	ctx context.Context, q *queue.Queue, op, id string,
	begin func(driver.FlowStore, context.Context, *driver.WriteTx, string) error,
) error {
	store, err := storeOf(q)
	if err != nil {
		return wrap(op, id, err)
	}
	err = write(ctx, q, func(ctx context.Context, tx *driver.WriteTx) error { return begin(store, ctx, tx, id) })
	for more := err == nil; more && err == nil; {
		err = write(ctx, q, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			if more, err = store.DoTasks(ctx, tx); err != nil {
				return err
			}
			return q.DB().Driver().Notify(ctx, tx)
		})
	}
	return wrap(op, id, err)
}

// maxTries bounds how often a transaction that yielded to others is begun again.
const maxTries = 20

func write(ctx context.Context, q *queue.Queue, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	for tries := 1; ; tries++ {
		err := driver.Write(ctx, q.DB(), fn)
		if !errors.Is(err, driver.ErrDeadlock) || tries == maxTries {
			return err
		}
	}
}

func isNoResult(err error) bool { return errors.Is(err, ErrNoResult) }
