package flow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// AddTx adds jobs to a node of the attempt's flow, in a transaction of its handler ([queue.Attempt.Write] or
// [queue.Attempt.Complete]), and returns their number. The node must not have ended: it is one that waits for the
// attempt's own, or that runs. Other ends of the flow wait until the transaction ends, with all that is ended in one
// transaction with them: keep it short.
//
// An attempt that fails after [queue.Attempt.Write] has committed is repeated, and would add them twice: add them in
// Complete, or in a [queue.StepTx]. So does a handler that adds jobs to its own node, which may end with it: it calls
// AddTx before it completes.
func AddTx(
	ctx context.Context, tx queue.Tx, a *queue.Attempt, name string, jobs iter.Seq[queue.NewJob],
) (added int, err error) {
	w, nodes, err := growing(ctx, tx, a)
	if err != nil {
		return 0, wrap("add", "", err)
	}
	n, ok := nodes[name]
	if !ok {
		return 0, wrap("add", w.flow, fmt.Errorf("%w: %q", ErrNoNode, name))
	}
	if n.ID == a.Job.Node {
		if err := w.ownRuns(ctx, a); err != nil {
			return 0, wrap("add", w.flow, err)
		}
	}
	if n.State.Finished() || w.canceled {
		return 0, wrap("add", w.flow, fmt.Errorf("node %q: %w", name, ErrEnded))
	}
	added, err = w.jobs(ctx, driver.NodeRef{ID: n.ID, Waits: n.Waits > 0}, jobs, w.deadline)
	if err == nil {
		err = w.flush(ctx)
	}
	if err == nil {
		err = w.call(ctx, func(tx *driver.WriteTx) error { return w.store.AddJobs(ctx, tx, n.ID, added) })
	}
	return added, wrap("add", w.flow, err)
}

// ownRuns refuses an attempt that the transaction has completed: its node may have ended.
func (w *writer) ownRuns(ctx context.Context, a *queue.Attempt) error {
	job, err := w.q.JobTx(ctx, w.tx, a.Job.ID)
	if err == nil && job.State.Finished() {
		err = fmt.Errorf("%w: the job adds to its own node before it completes: use a queue.StepTx", ErrEnded)
	}
	return err
}

// GrowTx adds the nodes of f to the attempt's flow, in a transaction of its handler. They may wait for nodes that the
// flow has. A flow whose last node ends with the same transaction goes on. The name of f has no effect, and
// its deadline is one of the nodes that it adds. Call it in Complete, or in a [queue.StepTx]: an attempt that is
// repeated would find that the names are taken.
func GrowTx(ctx context.Context, tx queue.Tx, a *queue.Attempt, f *Flow) error {
	w, nodes, err := growing(ctx, tx, a)
	if err != nil {
		return wrap("grow", "", err)
	}
	existing := make(map[string]bool, len(nodes))
	for name := range nodes {
		existing[name] = true
	}
	if err := f.validate(existing); err != nil {
		return wrap("grow", w.flow, err)
	}
	err = w.add(ctx, f, w.deadline)
	if errors.Is(err, driver.ErrFinished) {
		err = fmt.Errorf("%w: the flow is canceled", ErrEnded)
	}
	return wrap("grow", w.flow, err)
}

// growing locks the flow of the attempt.
func growing(ctx context.Context, tx queue.Tx, a *queue.Attempt) (*writer, map[string]driver.Node, error) {
	id, err := flowOf(a)
	if err != nil {
		return nil, nil, err
	}
	w, err := writerOf(a.Queue(), tx)
	if err != nil {
		return nil, nil, err
	}
	w.flow = id
	var f *driver.Flow
	var nodes []driver.Node
	err = w.call(ctx, func(tx *driver.WriteTx) error {
		f, nodes, err = w.store.LockFlow(ctx, tx, id)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	w.deadline, w.canceled = f.Deadline, f.State == driver.FlowCanceling || f.State == driver.FlowCanceled
	byName := make(map[string]driver.Node, len(nodes))
	for _, n := range nodes {
		byName[n.Name] = n
	}
	return w, byName, nil
}

// flowOf returns the id of the attempt's flow.
func flowOf(a *queue.Attempt) (string, error) {
	if a == nil || a.Queue() == nil || a.Job.Node == "" {
		return "", ErrNotInFlow
	}
	id, _, _ := strings.Cut(a.Job.Node, "/")
	return id, nil
}

// Of returns the id of the attempt's flow and the name of its node; both are empty if it belongs to none.
func Of(a *queue.Attempt) (flowID, node string) {
	if a == nil {
		return "", ""
	}
	flowID, node, _ = strings.Cut(a.Job.Node, "/")
	return flowID, node
}
