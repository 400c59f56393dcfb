package flow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/txlock"
)

var (
	// ErrUnsupported reports a database whose driver stores no flows.
	ErrUnsupported = errors.New("the database stores no flows: its driver implements no driver.FlowStore")
	// ErrDuplicate reports a job of a flow whose key another job has: nobody could say when it has ended.
	ErrDuplicate = errors.New("a job of the flow is a duplicate: another job has its key")
)

// Enqueue stores a flow with all its jobs in one transaction, and returns its id. On any error nothing is stored. The
// error of a job names its node and the job's number in it, counted from 0. A SQLite database takes no other write
// meanwhile, which is some seconds for a million jobs: a flow that large may also be grown, with [AddTx].
func Enqueue(ctx context.Context, q *queue.Queue, f *Flow) (id string, err error) {
	if q == nil {
		return "", wrap("enqueue", "", errNoQueue)
	}
	if err := f.validate(nil); err != nil {
		return "", wrap("enqueue", "", err)
	}
	err = q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		id, err = EnqueueTx(ctx, q, tx, f)
		return err
	})
	if err != nil {
		return "", wrap("enqueue", "", err)
	}
	return id, nil
}

// EnqueueTx is Enqueue as part of a transaction: the flow exists if and when that commits. After an error that
// transaction must be rolled back.
func EnqueueTx(ctx context.Context, q *queue.Queue, tx queue.Tx, f *Flow) (id string, err error) {
	if q == nil {
		return "", wrap("enqueue", "", errNoQueue)
	}
	if err := f.validate(nil); err != nil {
		return "", wrap("enqueue", "", err)
	}
	w, err := writerOf(q, tx)
	if err != nil {
		return "", wrap("enqueue", "", err)
	}
	unique, err := uuid.NewV7()
	if err != nil {
		return "", err
	}
	w.flow = unique.String()
	err = w.call(ctx, func(tx *driver.WriteTx) error {
		return w.store.AddFlow(ctx, tx, driver.Flow{ID: w.flow, Name: f.name, Deadline: f.opts.Deadline})
	})
	if err == nil {
		err = w.add(ctx, f, time.Time{})
	}
	if err != nil {
		return "", wrap("enqueue", "", err)
	}
	return w.flow, nil
}

// A writer writes about one flow in a transaction.
type writer struct {
	q     *queue.Queue
	store driver.FlowStore
	tx    queue.Tx // as it is given
	flow  string

	// Jobs that are not stored yet, and their nodes.
	waiting []queue.NewJob
	nodes   []driver.NodeRef

	// Of a flow that grows:
	deadline time.Time
	canceled bool
}

func writerOf(q *queue.Queue, tx queue.Tx) (*writer, error) {
	store, err := storeOf(q)
	if err != nil {
		return nil, err
	}
	return &writer{q: q, store: store, tx: tx}, nil
}

// call calls fn while no other call works in the transaction. What iterates over jobs may make calls in it, and is not
// called by fn.
func (w *writer) call(ctx context.Context, fn func(tx *driver.WriteTx) error) error {
	d := w.q.DB().Driver()
	tx, leave, err := txlock.Adopt(ctx, d, w.tx, driver.Now(d))
	if err != nil {
		return err
	}
	defer leave()
	return fn(tx)
}

var errNoQueue = errors.New("the Queue is nil: make one with queue.New")

func storeOf(q *queue.Queue) (driver.FlowStore, error) {
	if q == nil || q.DB() == nil {
		return nil, errNoQueue
	}
	store, ok := driver.As[driver.FlowStore](q.DB().Driver())
	if !ok {
		return nil, ErrUnsupported
	}
	return store, nil
}

// add stores the nodes of a graph that is valid, with their jobs.
func (w *writer) add(ctx context.Context, f *Flow, deadline time.Time) error {
	nodes := make([]driver.Node, len(f.nodes))
	var edges []driver.Edge
	for i, n := range f.nodes {
		id := driver.NodeID(w.flow, n.name)
		for _, e := range n.after {
			edges = append(edges, driver.Edge{From: driver.NodeID(w.flow, e.name), To: id, Policy: e.policy})
		}
		total, err := w.jobs(ctx, driver.NodeRef{ID: id, Waits: len(n.after) > 0}, n.jobs, earlier(n.deadline, deadline))
		if err != nil {
			return err
		}
		nodes[i] = driver.Node{ID: id, Name: n.name, Total: total}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	return w.call(ctx, func(tx *driver.WriteTx) error { return w.store.AddNodes(ctx, tx, w.flow, nodes, edges) })
}

// portion is the number of jobs in memory at a time.
const portion = 1000

// jobs stores the jobs of a node, the last of them with the next flush, and returns their number.
func (w *writer) jobs(
	ctx context.Context, node driver.NodeRef, jobs iter.Seq[queue.NewJob], deadline time.Time,
) (total int, err error) {
	if jobs == nil {
		return 0, nil
	}
	for job := range jobs {
		job.ExpiresAt, node.Number, node.Deadline = earlier(job.ExpiresAt, deadline), total, deadline
		w.waiting, w.nodes = append(w.waiting, job), append(w.nodes, node)
		total++
		if len(w.waiting) == portion {
			if err := w.flush(ctx); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// flush stores the jobs that are in memory.
func (w *writer) flush(ctx context.Context) error {
	if len(w.waiting) == 0 {
		return nil
	}
	results, err := w.q.EnqueueManyTx(driver.WithNodes(ctx, w.nodes), w.tx, w.waiting)
	if err != nil {
		return err
	}
	for i := range results {
		if results[i].Duplicate {
			return w.duplicate(ctx, i, results[i].ID)
		}
	}
	w.waiting, w.nodes = w.waiting[:0], w.nodes[:0]
	return nil
}

// duplicate returns the error of a job whose key another one has. That one may be of the flow, and not exist any more
// when the transaction has been rolled back.
func (w *writer) duplicate(ctx context.Context, i int, id string) error {
	key, holder := w.waiting[i].Key.Name, "job "+id
	if other, err := w.q.JobTx(ctx, w.tx, id); err == nil {
		key = other.Key.Name // as it is stored: what UniqueBy returns cannot be read
		if flow, node, _ := strings.Cut(other.Node, "/"); flow == w.flow {
			holder = fmt.Sprintf("another job of the flow, in node %q,", node)
		}
	}
	key = strings.Join(strings.FieldsFunc(key, unicode.IsControl), " ")
	return fmt.Errorf("%w: %s: key %q of type %s, which %s has", ErrDuplicate, w.nodes[i], key, w.waiting[i].Type, holder)
}
