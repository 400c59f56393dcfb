package jobsql

import (
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The columns of the table jobs, by who reads them. A new one stands in one of these lists and in the table jobColumns; all
// inserting and reading, and moving to another database, goes by that.
const (
	// What a claim cannot know of a queued job.
	claimedColumns = `id, type, payload_json, priority, not_before, attempt, failures, interruptions, crashes, max_attempts, created_at`
	// What few jobs have. A claim on SQLite reads them as one column, so that the others do not pay for them.
	rareColumns = `idempotency_key, key_scope, limit_key, user_id, tags_json, expires_at, trace, result_json, last_error`
	// What a claim writes.
	otherColumns = `state, worker_id, updated_at, started_at, finished_at`

	// Columns are those of a [driver.Job].
	Columns = claimedColumns + `, ` + rareColumns + `, ` + otherColumns
)

// jobColumns is the table of columns: the name, the kind of what is stored, the field of a [driver.Job] that has it, and the
// value that a new job has in it.
var jobColumns = []column{
	{"id", text, func(j *driver.Job) any { return &j.ID }, textOf(func(j *NewJob) string { return j.ID })},
	{"type", text, func(j *driver.Job) any { return &j.Type }, textOf(func(j *NewJob) string { return j.Type })},
	{"payload_json", text, func(j *driver.Job) any { return &j.Payload }, textOf(func(j *NewJob) string { return string(j.Payload) })},
	{"priority", number, func(j *driver.Job) any { return &j.Priority }, numberOf(func(j *NewJob) int { return j.Priority })},
	{"state", text, func(j *driver.Job) any { return &j.State }, newState},
	{"hold", number, nil, newHold}, // no field: it follows from the others, and from limits
	{"not_before", instant, func(j *driver.Job) any { return &j.NotBefore }, newDue},
	{"attempt", number, func(j *driver.Job) any { return &j.Attempt }, unset},
	{"failures", number, func(j *driver.Job) any { return &j.Failures }, unset},
	{"interruptions", number, func(j *driver.Job) any { return &j.Interruptions }, unset},
	{"crashes", number, func(j *driver.Job) any { return &j.Crashes }, unset},
	{"max_attempts", number, func(j *driver.Job) any { return &j.MaxAttempts }, numberOf(func(j *NewJob) int { return j.MaxAttempts })},
	{"worker_id", optional, func(j *driver.Job) any { return &j.WorkerID }, unset},
	{"idempotency_key", optional, func(j *driver.Job) any { return &j.Key }, textOrNull(func(j *NewJob) string { return j.Key.Name })},
	{"key_scope", optional, func(j *driver.Job) any { return &j.KeyScope }, textOrNull(func(j *NewJob) string { return string(j.Key.Scope) })},
	{"limit_key", optional, func(j *driver.Job) any { return &j.LimitKey }, textOrNull(func(j *NewJob) string { return j.LimitKey })},
	{"user_id", optional, func(j *driver.Job) any { return &j.UserID }, textOrNull(func(j *NewJob) string { return j.UserID })},
	{"tags_json", optional, func(j *driver.Job) any { return &j.Tags }, textOrNull(func(j *NewJob) string { return NullTags(j.Tags).String })},
	{"expires_at", instant, func(j *driver.Job) any { return &j.ExpiresAt }, instantOrNull(func(j *NewJob) time.Time { return j.ExpiresAt })},
	{"trace", optional, func(j *driver.Job) any { return &j.TraceParent }, textOrNull(func(j *NewJob) string { return j.TraceParent })},
	{"result_json", optional, func(j *driver.Job) any { return &j.Result }, unset},
	{"last_error", optional, func(j *driver.Job) any { return &j.LastError }, unset},
	{"created_at", instant, func(j *driver.Job) any { return &j.CreatedAt }, newNow},
	{"updated_at", instant, func(j *driver.Job) any { return &j.UpdatedAt }, newNow},
	{"started_at", instant, func(j *driver.Job) any { return &j.StartedAt }, unset},
	{"finished_at", instant, func(j *driver.Job) any { return &j.FinishedAt }, unset},
}

// A column is one of a table of the queue's, the same on every engine.
type column struct {
	name string
	kind kind
	// field returns the address of what has the column in a job; nil where nothing does.
	field func(*driver.Job) any
	// new is what is inserted; the zero value leaves the column to its default.
	new InsertColumn
}

// unset is of the columns that are left to their defaults.
var unset InsertColumn

// A kind is what is stored in a column. JSON is text.
type kind int

const (
	text     kind = iota // never NULL
	optional             // text, or NULL
	number
	instant
	truth
)

var (
	claimed = named(claimedColumns)
	rare    = named(rareColumns)
	ofJob   = named(Columns)
)

// named returns the columns of a list of names.
func named(list string) []column {
	var found []column
	for name := range strings.SplitSeq(list, ", ") {
		found = append(found, columnOf(name))
	}
	return found
}

func columnOf(name string) column {
	for _, c := range jobColumns {
		if c.name == name {
			return c
		}
	}
	panic(fmt.Sprintf("jobsql: the table of columns has no %q", name))
}
