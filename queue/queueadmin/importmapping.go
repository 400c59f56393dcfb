package queueadmin

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A Mapping says how [Import] reads a table of jobs of another queue. Its fields name columns; an empty one means that
// the table has none. Times may be of a type of the database, texts in ISO 8601, or numbers of seconds since 1970;
// those without a zone are UTC.
type Mapping struct {
	Table string // may have a schema before it, and a dot
	// ID, Type and State must be there. An ID is kept; it has at most 100 bytes.
	ID, Type, State string
	// States are the states of the table and what they are here. Jobs of [StateSkip] are left out. A running job must
	// not be one here: its worker is not one of this queue, so that it is queued.
	States map[string]queue.State
	// Payload and Result have JSON. Default of the payload: null.
	Payload, Result string
	Priority        string
	// Attempts has the number of attempts so far, or Retries that of failed ones.
	Attempts, Retries string
	// MaxAttempts has how many failures end a job, or MaxRetries how many more than one.
	MaxAttempts, MaxRetries string
	NotBefore, ExpiresAt    string
	// Key has an idempotency key, whose scope is KeyScope; default [queue.Forever]'s.
	Key      string
	KeyScope driver.KeyScope
	LimitKey string
	UserID   string
	Error    string
	// CreatedAt, UpdatedAt, StartedAt and FinishedAt have times. A finished job without a time of its end has finished
	// when it was last written, otherwise at the import.
	CreatedAt, UpdatedAt, StartedAt, FinishedAt string
}

// StateSkip is what [Mapping].States has for jobs that are left out.
const StateSkip queue.State = "skip"

// Mappings returns the tables that [Import] knows by name:
//
//   - job_queue: id, type, payload_json, priority, state (queued, running, completed, failed, canceled), attempts,
//     max_attempts, not_before, idempotency_key, last_error, created_at, updated_at.
//   - universal_job_queue: id, user_id, job_type, status (pending, claimed, running, complete, failed), input, output,
//     error, priority, retry_count, max_retries, scheduled_for, expires_at, started_at, completed_at, created_at,
//     updated_at.
func Mappings() map[string]Mapping {
	return map[string]Mapping{
		"job_queue": {
			Table: "jobs", ID: "id", Type: "type", Payload: "payload_json", Priority: "priority", State: "state",
			States: map[string]queue.State{
				"queued": queue.StateQueued, "running": queue.StateQueued, "completed": queue.StateCompleted,
				"failed": queue.StateFailed, "canceled": queue.StateCanceled,
			},
			Attempts: "attempts", MaxAttempts: "max_attempts", NotBefore: "not_before", Key: "idempotency_key",
			Error: "last_error", CreatedAt: "created_at", UpdatedAt: "updated_at",
		},
		"universal_job_queue": {
			Table: "jobs", ID: "id", UserID: "user_id", Type: "job_type", State: "status",
			States: map[string]queue.State{
				"pending": queue.StateQueued, "claimed": queue.StateQueued, "running": queue.StateQueued,
				"complete": queue.StateCompleted, "failed": queue.StateFailed,
			},
			Payload: "input", Result: "output", Error: "error", Priority: "priority", Retries: "retry_count",
			MaxRetries: "max_retries", NotBefore: "scheduled_for", ExpiresAt: "expires_at", StartedAt: "started_at",
			FinishedAt: "completed_at", CreatedAt: "created_at", UpdatedAt: "updated_at",
		},
	}
}

var (
	columnName = regexp.MustCompile(`^[\pL_][\pL\pN_$]*$`)
	tableName  = regexp.MustCompile(`^[\pL_][\pL\pN_$]*(\.[\pL_][\pL\pN_$]*)?$`)
)

// A sourceColumn is a column of the mapping, and whether it is read as text.
type sourceColumn struct {
	field, column string
	text          bool
}

func (m *Mapping) columns() []sourceColumn {
	return []sourceColumn{
		{"ID", m.ID, true}, {"Type", m.Type, true}, {"State", m.State, true}, {"Payload", m.Payload, true},
		{"Result", m.Result, true}, {"Priority", m.Priority, false}, {"Attempts", m.Attempts, false},
		{"Retries", m.Retries, false}, {"MaxAttempts", m.MaxAttempts, false}, {"MaxRetries", m.MaxRetries, false},
		{"NotBefore", m.NotBefore, false}, {"ExpiresAt", m.ExpiresAt, false}, {"Key", m.Key, true},
		{"LimitKey", m.LimitKey, true}, {"UserID", m.UserID, true}, {"Error", m.Error, true},
		{"CreatedAt", m.CreatedAt, false}, {"UpdatedAt", m.UpdatedAt, false}, {"StartedAt", m.StartedAt, false},
		{"FinishedAt", m.FinishedAt, false},
	}
}

func (m *Mapping) validate() error {
	if !tableName.MatchString(m.Table) {
		return fmt.Errorf("Mapping.Table is %q; it must be the name of a table", m.Table)
	}
	for _, c := range m.columns() {
		required := c.field == "ID" || c.field == "Type" || c.field == "State"
		if (c.column != "" || required) && !columnName.MatchString(c.column) {
			return fmt.Errorf("field Mapping.%s is %q; it must be the name of a column", c.field, c.column)
		}
	}
	known := append(queue.States(), StateSkip)
	for _, name := range slices.Sorted(maps.Keys(m.States)) {
		if state := m.States[name]; state == queue.StateRunning || !slices.Contains(known, state) {
			return fmt.Errorf("Mapping.States has %q for %q; it must be queued, completed, failed, canceled or skip", state,
				name)
		}
	}
	switch m.KeyScope {
	case "", driver.KeyForever, driver.KeyUnfinished:
		return nil
	}
	return fmt.Errorf("Mapping.KeyScope is %q; it must be %q or %q", m.KeyScope, driver.KeyForever, driver.KeyUnfinished)
}

func (m *Mapping) scope() driver.KeyScope { return cmp.Or(m.KeyScope, driver.KeyForever) }

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, ".", `"."`) + `"` }

// columnOf names a column. SQLite takes a quoted name that is none for a text, unless it is of a table.
func columnOf(name string) string { return "source." + quoteName(name) }

// valueOf is the value of a column as it is stored. Libraries of SQLite make times and booleans of what stands in a
// column itself by its declared type, and the zero time of what they cannot read.
func valueOf(name string) string { return "COALESCE(" + columnOf(name) + ", NULL)" }

// selectRows reads all rows, oldest ids first. Absent columns are NULL.
func (m *Mapping) selectRows() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, c := range m.columns() {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case c.column == "":
			b.WriteString("NULL")
		case c.text:
			b.WriteString("CAST(" + columnOf(c.column) + " AS TEXT)")
		default:
			b.WriteString(valueOf(c.column))
		}
	}
	return b.String() + "\nFROM " + quoteName(m.Table) + " AS source\nORDER BY 1"
}

// countStates counts the rows by state.
func (m *Mapping) countStates() string {
	return "SELECT COALESCE(CAST(" + columnOf(m.State) + " AS TEXT), ''), COUNT(*)\nFROM " + quoteName(m.Table) +
		" AS source\nGROUP BY 1"
}
