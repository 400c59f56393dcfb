package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// AddLogs implements [driver.Finisher].
func (db *engine) AddLogs(ctx context.Context, tx *driver.WriteTx, lines []driver.LogLine) error {
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
