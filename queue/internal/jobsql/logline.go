package jobsql

import (
	"github.com/postroom-go/postroom/queue/driver"
)

// ScanLogLine reads job_id, attempt, line, at, level, message, attrs_json.
func ScanLogLine(row Scanner) (driver.LogLine, error) {
	var l driver.LogLine
	var at Instant
	var level string
	var attrs []byte
	if err := row.Scan(&l.JobID, &l.Attempt, &l.Line, &at, &level, &l.Message, &attrs); err != nil {
		return l, err
	}
	l.At, l.Attrs = at.Time, attrs
	return l, l.Level.UnmarshalText([]byte(level))
}
