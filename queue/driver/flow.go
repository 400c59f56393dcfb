package driver

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A FlowStore is a [Driver] that stores flows, which are graphs of jobs. Package queue/flow requires it.
//
// A flow has nodes, a node has jobs (see [Job].Node), and edges connect nodes. Whatever ends a job of a node, or has it
// run again, is counted in the node by the same transaction, whoever writes it: a deleted job that had not ended counts
// as canceled. When all jobs of a node have ended, that transaction also ends the node, and opens, or has canceled, the
// nodes that wait for it.
type FlowStore interface {
	FlowWriter
	FlowReader
}

// A FlowWriter writes flows. All but DoTasks lock the flow until the transaction ends.
type FlowWriter interface {
	// AddFlow stores a flow without nodes: its ID, Name and Deadline.
	AddFlow(ctx context.Context, tx *WriteTx, f Flow) error
	// LockFlow returns a flow and its nodes as the transaction sees them, or [ErrFlowNotFound].
	LockFlow(ctx context.Context, tx *WriteTx, flowID string) (*Flow, []Node, error)
	// AddNodes adds nodes to a flow, which runs again if it had ended, and edges to them: the ID, Name and Total of
	// each node, whose jobs the transaction has inserted, as waiting if the node has predecessors. A node waits for
	// those of its predecessors that have not ended. A predecessor that has ended, and not as the edge demands, cancels
	// it, and by [EdgeFail] all nodes that have not ended. The error is [ErrFinished] for a flow that is canceled.
	AddNodes(ctx context.Context, tx *WriteTx, flowID string, nodes []Node, edges []Edge) error
	// AddJobs counts n more jobs of a node that has not ended, which the transaction has inserted.
	AddJobs(ctx context.Context, tx *WriteTx, nodeID string, n int) error
	// CancelFlow has all nodes of a flow canceled that have not ended. It returns [ErrFinished] or [ErrFlowNotFound]
	// if there is nothing to cancel, or [ErrJobMoves] while a node is frozen.
	CancelFlow(ctx context.Context, tx *WriteTx, flowID string) error
	// RetryFlow has the failed and canceled jobs of a flow run again, in its nodes that have not completed. Of these,
	// one that has an edge from another waits for it, whatever its policy. It returns [ErrFlowNotFound],
	// [ErrNotFinished] if the flow goes on, [ErrFinished] if there is none of them, or [ErrJobMoves] while a node
	// is frozen. A flow goes on that has not ended, unless all its nodes that are left wait and DoTasks has nothing to do
	// about them.
	RetryFlow(ctx context.Context, tx *WriteTx, flowID string) error
	// DoTasks does a portion of what is to be done about many jobs: those of nodes that have opened, been canceled or
	// are retried. Claims do it too. It reports whether more may be left, other than what another transaction is doing.
	DoTasks(ctx context.Context, tx *WriteTx) (more bool, err error)
	// PruneFlows deletes those of the flows that have ended and whose jobs have all been deleted.
	PruneFlows(ctx context.Context, tx *WriteTx, flowIDs []string) error
}

// A FlowReader reads flows.
type FlowReader interface {
	// Flow returns a flow, or [ErrFlowNotFound].
	Flow(ctx context.Context, flowID string) (*Flow, error)
	// Flows returns at most limit flows with lower ids than before, newest first; before may be empty.
	Flows(ctx context.Context, before string, limit int) ([]Flow, error)
	// Nodes returns the nodes of a flow by name.
	Nodes(ctx context.Context, flowID string) ([]Node, error)
	// Node returns a node, or [ErrFlowNotFound].
	Node(ctx context.Context, nodeID string) (*Node, error)
	// Edges returns the edges of a flow by From and To.
	Edges(ctx context.Context, flowID string) ([]Edge, error)
	// OldFlows returns the ids of at most limit flows that finished before the given time and whose jobs have all been
	// deleted.
	OldFlows(ctx context.Context, before time.Time, limit int) ([]string, error)
	// TasksLeft reports whether DoTasks has something to do.
	TasksLeft(ctx context.Context) (bool, error)
	// NodeJobs returns at most limit jobs of a node with higher ids than after, by id; after may be empty.
	NodeJobs(ctx context.Context, nodeID, after string, limit int) ([]Job, error)
}

// A Flow is a graph of jobs.
type Flow struct {
	ID         string // UUIDv7
	Name       string
	State      FlowState
	Nodes      int       // how many it has
	Ended      int       // of these
	Deadline   time.Time // zero: none
	CreatedAt  time.Time
	UpdatedAt  time.Time
	FinishedAt time.Time
}

// A FlowState is the state of a flow or a node.
type FlowState string

// The states of flows and nodes. A flow is running from the beginning, and a node is never canceling.
const (
	FlowWaiting   FlowState = "waiting" // a node for others
	FlowRunning   FlowState = "running"
	FlowRetrying  FlowState = "retrying"  // the jobs of a node are being retried
	FlowCanceling FlowState = "canceling" // the nodes of a flow are being canceled
	FlowCompleted FlowState = "completed" // all jobs of a node; all nodes of a flow
	FlowFailed    FlowState = "failed"    // at least one
	FlowCanceled  FlowState = "canceled"  // at least one, and none has failed
)

// Finished reports whether a flow or node stays in the state unless a job of it is retried.
func (s FlowState) Finished() bool { return s == FlowCompleted || s == FlowFailed || s == FlowCanceled }

// A Node is a set of jobs of a flow that open together.
type Node struct {
	ID         string // the flow's, a slash and the name: see [NodeID]
	FlowID     string
	Name       string
	State      FlowState
	Waits      int // the number of predecessors that have not ended
	Total      int // jobs, and how they have ended:
	Completed  int
	Failed     int
	Canceled   int
	Moving     bool // its flow is in two databases; see [FlowMover]
	UpdatedAt  time.Time
	FinishedAt time.Time
}

// NodeID returns the id of a node.
func NodeID(flowID, name string) string { return flowID + "/" + name }

// An Edge makes a node wait for another one of its flow.
type Edge struct {
	From, To string // ids of nodes
	Policy   EdgePolicy
	Passed   bool // From has ended, and To no longer waits for it
}

// An EdgePolicy is what happens to the later node of an edge if a job of the earlier one fails or is canceled.
type EdgePolicy string

// The policies of edges.
const (
	EdgeCancel EdgePolicy = "cancel" // the later node is canceled
	EdgeRun    EdgePolicy = "run"    // it opens anyway
	EdgeFail   EdgePolicy = "fail"   // all nodes that have not ended are canceled
)

// PruneFlows deletes, at most limit with each transaction, the flows that finished before the given time and whose jobs
// have all been deleted. A driver that stores no flows has none.
func PruneFlows(ctx context.Context, d Driver, before time.Time, limit int) error {
	store, ok := As[FlowStore](d)
	for ok {
		old, err := store.OldFlows(ctx, before, limit)
		if err != nil || len(old) == 0 {
			return err
		}
		err = Write(ctx, d, func(ctx context.Context, tx *WriteTx) error { return store.PruneFlows(ctx, tx, old) })
		if err != nil || len(old) < limit {
			return err
		}
	}
	return nil
}

// TasksLeft is [FlowReader].TasksLeft of a driver that may store no flows.
func TasksLeft(ctx context.Context, d Driver) (bool, error) {
	store, ok := As[FlowStore](d)
	if !ok {
		return false, nil
	}
	return store.TasksLeft(ctx)
}

// A NodeRef is the node of a job that is enqueued.
type NodeRef struct {
	ID     string
	Waits  bool // the node has not opened
	Number int  // of the job among those that are enqueued for the node, counted from 0: for errors
	// Deadline is the time at which the job expires at the latest, whatever a hook has made of it; zero: none.
	Deadline time.Time
}

// String names the job in errors.
func (r NodeRef) String() string {
	_, name, _ := strings.Cut(r.ID, "/")
	return fmt.Sprintf("node %q, jobs[%d]", name, r.Number)
}

type nodeKey struct{}

// WithNodes returns a copy of ctx under which package queue enqueues jobs of nodes, as many as there are nodes. The
// caller counts them with [FlowWriter].AddNodes or AddJobs in the same transaction.
func WithNodes(ctx context.Context, nodes []NodeRef) context.Context {
	return context.WithValue(ctx, nodeKey{}, nodes)
}

// NodesOf returns the nodes of the jobs that are enqueued under ctx, in order; nil without any.
func NodesOf(ctx context.Context) []NodeRef {
	nodes, _ := ctx.Value(nodeKey{}).([]NodeRef)
	return nodes
}
