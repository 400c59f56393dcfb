package jobrow

import (
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// LogLine reads job_id, attempt, line, at, level, message, attrs_json.
func LogLine(row Scanner) (queue.LogLine, error) {
	var l queue.LogLine
	var at dbtime.Time
	var level string
	var attrs []byte
	if err := row.Scan(&l.JobID, &l.Attempt, &l.Line, &at, &level, &l.Message, &attrs); err != nil {
		return l, err
	}
	l.At, l.Attrs = at.Time, attrs
	return l, l.Level.UnmarshalText([]byte(level))
}
