package driver

import "context"

// A SequenceStore is a [Driver] that stores sequences, whose jobs run one after the other ([Options].Sequence). A job
// of a sequence is inserted with [HoldWaiting] and joins the end of its line. It leaves the line when it ends, unless
// it fails and stops its sequence. Claims release the first job of a line.
type SequenceStore interface {
	// Place returns the first job of the line that a job stands in, and how many jobs are ahead of it, at most limit.
	// First is empty if it stands in none.
	Place(ctx context.Context, jobID string, limit int) (first string, ahead int, err error)
	// Stopped returns at most limit sequences that a failed job stops, by name.
	Stopped(ctx context.Context, limit int) ([]StoppedSequence, error)
	// CountStopped counts the queued jobs of the types behind failed jobs that stop their sequences, and behind jobs that
	// are due at [Never] or later, since they wait for a signal.
	CountStopped(ctx context.Context, types []string) (int, error)
	// ThawTurns goes on with the lines that jobs were moved into.
	ThawTurns(ctx context.Context, tx *WriteTx) error
}

// A StoppedSequence is a sequence that a failed job stops.
type StoppedSequence struct {
	Name    string
	JobID   string // the failed job
	Waiting int    // jobs behind it
}
