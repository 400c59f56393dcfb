package jobsql

import (
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A NewJob is a job in the form of its row.
type NewJob struct {
	*driver.InsertJob
	Now  time.Time // of the transaction
	Due  time.Time
	Hold driver.Hold
}

// NewJobOf returns the row of a job in a transaction at the given instant.
func NewJobOf(job *driver.InsertJob, now time.Time) NewJob {
	j := NewJob{InsertJob: job, Now: now, Due: now, Hold: NewHold(job, now)}
	if job.NotBefore.After(now) {
		j.Due = job.NotBefore
	}
	return j
}

// NewHold returns the hold of a job that is inserted.
func NewHold(job *driver.InsertJob, now time.Time) driver.Hold {
	if job.Waits || job.Sequence != "" {
		return driver.HoldWaiting
	}
	return HoldFor(job.NotBefore, now, job.LimitKey)
}

// An InsertColumn is a column that the insert of a job writes: the value of one of the functions, or the same for all
// jobs.
type InsertColumn struct {
	Name string

	Text    func(*NewJob) string
	Number  func(*NewJob) int
	Instant func(*NewJob) time.Time
	Same    Fixed // of all jobs
	Plain   Fixed // of all jobs that are [NewJob.Plain]

	Nullable bool // "" and the zero time are NULL
	Small    bool // a number of 16 bits
}

// A Fixed value is the text of a value that several jobs share; empty if they share none.
type Fixed string

// AtNow is the instant of the transaction.
const AtNow Fixed = "now"

// Inserted are the columns that the insert of a job writes. All inserts are made from this list, in its order.
var Inserted = insertColumns()

var mayBeNull = slices.DeleteFunc(slices.Clone(Inserted), func(c InsertColumn) bool { return !c.Nullable })

func insertColumns() (inserted []InsertColumn) {
	for i := range jobColumns {
		if in, ok := jobColumns[i].inserted(); ok {
			inserted = append(inserted, in)
		}
	}
	return inserted
}

// Plain reports whether the job is a usual one: due, and with NULL in every optional column.
func (j *NewJob) Plain() bool { return j.Node == "" && j.PlainInNode() }

// PlainInNode is Plain for a job that may belong to a node.
func (j *NewJob) PlainInNode() bool {
	return j.Hold == driver.HoldNone && !slices.ContainsFunc(mayBeNull,
		func(c InsertColumn) bool { return !c.IsNull(j) && c.Name != NodeColumn })
}

// NodeColumn is the name of the column with the node of a job.
const NodeColumn = "node"

// IsNull reports whether the job has NULL in the column.
func (c *InsertColumn) IsNull(j *NewJob) bool {
	switch {
	case !c.Nullable:
		return false
	case c.Text != nil:
		return c.Text(j) == ""
	}
	return c.Instant(j).IsZero()
}

// JSON reports whether the column is of type json where the engine has that.
func (c *InsertColumn) JSON() bool { return strings.HasSuffix(c.Name, "_json") }

// SQL returns a value that several jobs have in the column, for a statement in which now is the instant.
func (c *InsertColumn) SQL(value Fixed, now string) string {
	switch {
	case value == AtNow:
		return now
	case c.Number != nil:
		return string(value)
	}
	return "'" + string(value) + "'"
}

// Names lists the names of columns as statements do.
func Names(columns []InsertColumn) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}
