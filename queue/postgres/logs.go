package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// AddLogs implements [queue.Finisher].
func (db *DB) AddLogs(ctx context.Context, tx *queue.Tx, lines []queue.LogLine) error {
	n := len(lines)
	ids, levels, messages := make([]string, n), make([]string, n), make([]string, n)
	attempts, numbers := make([]int, n), make([]int, n)
	at, attrs := make([]time.Time, n), make([]*string, n)
	for i := range lines {
		l := &lines[i]
		ids[i], attempts[i], numbers[i], at[i] = l.JobID, l.Attempt, l.Line, l.At
		levels[i], messages[i], attrs[i] = l.Level.String(), l.Message, nullText(string(l.Attrs))
	}
	return later(ctx, tx, insertLogs, ids, attempts, numbers, at, levels, messages, attrs)
}

// Logs implements [queue.Inspector].
func (db *DB) Logs(ctx context.Context, jobID string) ([]queue.LogLine, error) {
	return read(ctx, db, jobrow.LogLine, selectLogs, jobID)
}
