package driver

import (
	"encoding/json"
	"time"
)

// A Schedule is a row of the table of schedules. A driver stores it, and uses only the name and NextAt.
type Schedule struct {
	Name    string
	Cron    string
	Zone    string
	CatchUp string
	Type    string
	Payload json.RawMessage
	Options json.RawMessage // of the job, encoded by the queue

	Paused    bool
	NextAt    time.Time // zero: never due
	LastAt    time.Time // zero before the first firing
	CreatedAt time.Time
	UpdatedAt time.Time
}
