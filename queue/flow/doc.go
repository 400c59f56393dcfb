// Package flow enqueues graphs of jobs: fan-out, fan-in, batches and chains.
//
//	f := flow.New("report", nil)
//	f.Add("split", Split.New(file, nil))
//	f.AddMany("resize", slices.Values(jobs), flow.After("split"))
//	f.Add("gather", Gather.New(file, nil), flow.After("resize"))
//	id, err := flow.Enqueue(ctx, q, f)
//
// The jobs are jobs of package queue in every respect: their handlers are registered with queue.Handle, and they have
// priorities, retries, limits and keys.
//
// # Nodes
//
// A node is a set of jobs that may start together: one ([Flow.Add]) or very many ([Flow.AddMany]). It waits for the
// nodes that [After], [AfterEnd] and [AfterOrFail] name. They differ in what happens when a job fails for good or is
// canceled: what depends on it is canceled, runs anyway, or the whole flow is canceled. [Batch] and [Chain] are the
// usual graphs in one call.
//
// A node ends when all its jobs have ended. It has failed if one of them has failed, else it is canceled if one was
// canceled, else it has completed. All ends are counted, also those that no handler sees: by a crash budget, an expiry,
// a cancellation, a payload that cannot be read, a deletion, or by a person who writes SQL. A job that was deleted
// before it had ended counts as canceled.
//
// The transaction that ends the last job of a node also ends the node, and opens those that wait for it. A process that
// dies leaves nothing half done. Of a node with more than 100 jobs the first claims after that release the jobs, a
// thousand at a time, so that no write waits for a transaction that writes a million rows. It is the same for the jobs
// that are canceled or retried.
//
// # Results
//
// A handler reads with [Result] and [Results] what the jobs of earlier nodes have stored with
// [queue.Attempt.SetResult], and with [CountsOf] how they have ended. The jobs of a flow are kept until the flow has
// ended, whatever [queue.Retention] says, and the flow until all its jobs are deleted. A flow that is retried after
// results have been pruned finds that they are gone: [Results] ends with [ErrNoResult].
//
// # Growth
//
// A handler adds jobs to a node with [AddTx], and nodes with [GrowTx], in the transaction of [queue.Attempt.Complete]
// or [queue.Attempt.Write]. So a flow whose size is not known has a node without jobs, to which an earlier one adds
// them. A flow may be part of another: [Flow.AddFlow].
//
// # Operation
//
// [Get] and [Nodes] report progress from rows of flows and nodes; their cost does not depend on the number of jobs.
// [Cancel] cancels a flow, and [Retry] runs again what has failed and what was canceled because of that. A job that
// alone is canceled or retried ([queue.Queue.Retry]) is counted as well: a node that had ended has not ended then.
// Explain, Doctor and Verify of package queueadmin know flows, and Move moves them. The events of
// [queue.Queue.Subscribe] and the metric postroom.queue.ended tell of the jobs that a handler or a person ends, and not
// of those that their flow cancels or retries.
//
// # Costs
//
// Jobs without a flow cost what they did before. The end of a job of a flow updates the row of its node: on PostgreSQL
// once for each transaction and node, when it commits, so that others wait for the row no longer than for the commit.
// On PostgreSQL a node that opens sends a notification, whose commits follow each other.
package flow
