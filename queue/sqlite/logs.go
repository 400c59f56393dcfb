package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

// AddLogs implements [driver.Finisher].
func (db *engine) AddLogs(ctx context.Context, tx *driver.WriteTx, lines []driver.LogLine) error {
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
