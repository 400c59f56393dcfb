package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// AddLogs implements [queue.Finisher].
func (db *DB) AddLogs(ctx context.Context, tx *queue.Tx, lines []queue.LogLine) error {
	var rows jsonRows
	for i := range lines {
		l := &lines[i]
		rows.begin()
		rows.text(l.JobID)
		rows.int(l.Attempt)
		rows.int(l.Line)
		rows.time(l.At)
		rows.text(l.Level.String())
		rows.text(l.Message)
		rows.text(string(l.Attrs))
	}
	_, err := tx.ExecContext(ctx, insertLogs, rows.end())
	return err
}

// Logs implements [queue.Inspector].
func (db *DB) Logs(ctx context.Context, jobID string) ([]queue.LogLine, error) {
	rows, err := db.reader.QueryxContext(ctx, selectLogs, jobID)
	return jobrow.Collect(rows, err, jobrow.LogLine)
}
