package driver

import (
	"context"
	"iter"
	"slices"
)

// A SequenceStore is a [Driver] that stores sequences, whose jobs run one after the other ([Options].Sequence). A job
// of a sequence is inserted with [HoldWaiting] and joins the end of its line. It leaves the line when it ends, unless
// it fails and stops its sequence. Claims release the first job of a line.
type SequenceStore interface {
	// Place returns the first job of the line that a job stands in, and how many jobs are ahead of it, at most limit.
	// First is empty if it stands in none.
	Place(ctx context.Context, jobID string, limit int) (first string, ahead int, err error)
	// InSequences returns those of the jobs that are of sequences, ended or not, by their ids.
	InSequences(ctx context.Context, jobIDs []string) ([]string, error)
	// Stopped returns at most limit sequences that a failed job stops, by name.
	Stopped(ctx context.Context, limit int) ([]StoppedSequence, error)
	// CountStopped counts the queued jobs of the types behind failed jobs that stop their sequences, and behind jobs that
	// are due at [Never] or later, since they wait for a signal.
	CountStopped(ctx context.Context, types []string) (int, error)
	// ThawTurns goes on with the lines that jobs were moved into.
	ThawTurns(ctx context.Context, tx *WriteTx) error
}

// SequencesLast puts jobs of sequences, which are to join the ends of their lines, behind the others, in the order in
// which they were enqueued. The ids of the others come as they do in batches. The store may be nil.
func SequencesLast(
	ctx context.Context, store SequenceStore, batches iter.Seq2[[]string, error], size int,
) iter.Seq2[[]string, error] {
	if store == nil {
		return batches
	}
	return func(yield func([]string, error) bool) {
		var last []string
		for ids, err := range batches {
			var lined []string
			if err == nil {
				lined, err = store.InSequences(ctx, ids)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			last = append(last, lined...)
			others := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(lined, id) })
			if len(others) > 0 && !yield(others, nil) {
				return
			}
		}
		slices.Sort(last)
		for ids := range slices.Chunk(last, size) {
			if !yield(ids, nil) {
				return
			}
		}
	}
}

// A StoppedSequence is a sequence that a failed job stops.
type StoppedSequence struct {
	Name    string
	JobID   string // the failed job
	Waiting int    // jobs behind it
}
