package jobsql

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// jobColumns is the table of the columns of jobs: the name, the kind of the value, its readers, its value in a new job,
// and the field of a [driver.Job] that has it. All statements that insert, read and move whole jobs are made from it.
// CONTRIBUTING.md lists the other places that a new column affects.
var jobColumns = []column{
	{"id", text, atClaim, given, func(j *driver.Job) any { return &j.ID }},
	{"type", text, atClaim, given, func(j *driver.Job) any { return &j.Type }},
	{"payload_json", text, atClaim, given, func(j *driver.Job) any { return &j.Payload }},
	{"priority", number, atClaim, given, func(j *driver.Job) any { return &j.Priority }},
	{"state", text, written, newState, func(j *driver.Job) any { return &j.State }},
	{"hold", number, unread, newHold, nil}, // no field: it follows from the others, and from limits
	{"not_before", instant, atClaim, newDue, func(j *driver.Job) any { return &j.NotBefore }},
	{"attempt", number, atClaim, unset, func(j *driver.Job) any { return &j.Attempt }},
	{"failures", number, atClaim, unset, func(j *driver.Job) any { return &j.Failures }},
	{"interruptions", number, atClaim, unset, func(j *driver.Job) any { return &j.Interruptions }},
	{"crashes", number, atClaim, unset, func(j *driver.Job) any { return &j.Crashes }},
	{"max_attempts", number, atClaim, given, func(j *driver.Job) any { return &j.MaxAttempts }},
	{"worker_id", optional, written, unset, func(j *driver.Job) any { return &j.WorkerID }},
	{"idempotency_key", optional, rare, given, func(j *driver.Job) any { return &j.Key.Name }},
	{"key_scope", optional, rare, given, func(j *driver.Job) any { return &j.Key.Scope }},
	{"limit_key", optional, rare, given, func(j *driver.Job) any { return &j.LimitKey }},
	{"user_id", optional, rare, given, func(j *driver.Job) any { return &j.UserID }},
	{"tags_json", optional, rare, given, func(j *driver.Job) any { return &j.Tags }},
	{"expires_at", instant, rare, given, func(j *driver.Job) any { return &j.ExpiresAt }},
	{"node", optional, rare, given, func(j *driver.Job) any { return &j.Node }},
	{"timeout", optional, rare, given, func(j *driver.Job) any { return &j.Timeout }},
	{"payload_version", optional, rare, given, func(j *driver.Job) any { return &j.PayloadVersion }},
	{"sequence", optional, rare, given, func(j *driver.Job) any { return &j.Sequence }},
	{"sequence_goes_on", optional, rare, given, func(j *driver.Job) any { return &j.SequenceGoesOn }},
	{"trace", optional, rare, given, func(j *driver.Job) any { return &j.TraceParent }},
	{"result_json", optional, rare, unset, func(j *driver.Job) any { return &j.Result }},
	{"last_error", optional, rare, unset, func(j *driver.Job) any { return &j.LastError }},
	{"created_at", instant, atClaim, newNow, func(j *driver.Job) any { return &j.CreatedAt }},
	{"updated_at", instant, written, newNow, func(j *driver.Job) any { return &j.UpdatedAt }},
	{"started_at", instant, written, unset, func(j *driver.Job) any { return &j.StartedAt }},
	{"finished_at", instant, written, unset, func(j *driver.Job) any { return &j.FinishedAt }},
}

// A column is a column of one of the queue's tables, the same on every engine.
type column struct {
	name string
	kind kind

	// Of a column of jobs:
	read  reader
	new   origin
	field func(*driver.Job) any // returns the address of the column's field; nil if there is none
}

// A kind is the kind of a column's values. JSON is text.
type kind int

const (
	text     kind = iota // never NULL
	optional             // text, or NULL
	number
	instant // or NULL
	truth
)

// A reader is the set of statements that read a column of jobs.
type reader int

const (
	unread  reader = iota // nobody
	atClaim               // a claim, too: it cannot know this of a queued job
	// as atClaim, but few jobs have it: SQLite reads all of these as one column, so that the others do not pay.
	rare
	written // not a claim, which writes it
)

// An origin is the source of a column's value in a new job.
type origin int

const (
	unset origin = iota // the column's default
	given               // what its field has; of an optional text and of an instant, NULL for nothing
	newState
	newHold
	newDue
	newNow
)

var (
	claimColumns = readBy(atClaim)
	rareColumns  = readBy(rare)
	allColumns   = slices.Concat(claimColumns, rareColumns, readBy(written))

	// Columns returns the columns of a [driver.Job].
	Columns = namesOf(allColumns)
)

func readBy(who reader) (columns []column) {
	for _, c := range jobColumns {
		if c.read == who {
			columns = append(columns, c)
		}
	}
	return columns
}

// namesOf lists the names of columns as statements do.
func namesOf(columns []column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// inserted returns how the insert of a job writes the column; false: it does not.
func (c *column) inserted() (InsertColumn, bool) {
	in := InsertColumn{Name: c.name}
	switch c.new {
	case unset:
		return in, false
	case given:
		c.insertField(&in)
	case newState:
		in.Same = Fixed(driver.StateQueued)
	case newHold:
		in.Number, in.Plain, in.Small = func(j *NewJob) int { return int(j.Hold) }, Fixed(None), true
	case newDue:
		in.Instant, in.Plain = func(j *NewJob) time.Time { return j.Due }, AtNow
	case newNow:
		in.Instant, in.Same = func(j *NewJob) time.Time { return j.Now }, AtNow
	}
	return in, true
}

// insertField has the column written as its field has it.
func (c *column) insertField(in *InsertColumn) {
	field := c.field
	switch f := field(&driver.Job{}).(type) {
	case *string:
		in.Text = func(j *NewJob) string { return valueOf[string](field(&j.Job)) }
	case *driver.KeyScope:
		in.Text = func(j *NewJob) string { return string(valueOf[driver.KeyScope](field(&j.Job))) }
	case *json.RawMessage:
		in.Text = func(j *NewJob) string { return string(valueOf[json.RawMessage](field(&j.Job))) }
	case *[]string:
		in.Text = func(j *NewJob) string { return NullTags(valueOf[[]string](field(&j.Job))).String }
	case *time.Duration:
		in.Text = func(j *NewJob) string { return numberText(valueOf[time.Duration](field(&j.Job)), time.Duration.String) }
	case *int:
		if c.kind == optional {
			in.Text = func(j *NewJob) string { return numberText(valueOf[int](field(&j.Job)), strconv.Itoa) }
			break
		}
		in.Number = func(j *NewJob) int { return valueOf[int](field(&j.Job)) }
	case *bool:
		in.Text = func(j *NewJob) string { return trueText(valueOf[bool](field(&j.Job))) }
	case *time.Time:
		in.Instant = func(j *NewJob) time.Time { return valueOf[time.Time](field(&j.Job)) }
	default:
		panic(fmt.Sprintf("jobsql: the column %s is a field of type %T, which nothing inserts", c.name, f))
	}
	in.Nullable = c.kind == optional || c.kind == instant
}

// numberText is the text of a number that is stored as one; empty for 0.
func numberText[N int | time.Duration](n N, text func(N) string) string {
	if n == 0 {
		return ""
	}
	return text(n)
}

// trueText is the text of true; empty for false.
func trueText(v bool) string {
	if v {
		return "true"
	}
	return ""
}

// valueOf returns what a field has whose address and type are known.
func valueOf[T any](field any) T {
	value, _ := field.(*T)
	return *value
}
