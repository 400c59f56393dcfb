package flow

import (
	"slices"
	"strconv"

	"github.com/postroom-go/postroom/queue"
)

// The names of the nodes of [Batch] and what follows it.
const (
	BatchNode   = "batch"
	ThenNode    = "then"
	FinallyNode = "finally"
)

// Batch returns a flow of one level: jobs that may run at the same time, in the node [BatchNode].
func Batch(jobs ...queue.NewJob) *Flow {
	f := New("batch", nil)
	f.AddMany(BatchNode, slices.Values(jobs))
	return f
}

// Then adds the node [ThenNode], whose job runs when all jobs of a [Batch] have completed, and returns f. If one fails
// or is canceled, it is canceled.
func (f *Flow) Then(job queue.NewJob) *Flow {
	f.Add(ThenNode, job, After(BatchNode))
	return f
}

// Finally adds the node [FinallyNode], whose job runs when all jobs of a [Batch] have ended, in whatever way, and
// returns f.
func (f *Flow) Finally(job queue.NewJob) *Flow {
	f.Add(FinallyNode, job, AfterEnd(BatchNode))
	return f
}

// Chain returns a flow in which each job waits until the one before it has completed. Its nodes have the names 1, 2, ….
func Chain(jobs ...queue.NewJob) *Flow {
	f := New("chain", nil)
	for i, job := range jobs {
		var opts []Option
		if i > 0 {
			opts = append(opts, After(strconv.Itoa(i)))
		}
		f.Add(strconv.Itoa(i+1), job, opts...)
	}
	return f
}
