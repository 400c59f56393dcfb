package jobsql

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// A table is a table whose rows move to another database. Its name and columns are the same on every engine.
type table struct {
	columns []column
	keys    int    // the number of leading columns that are the primary key
	jobID   string // the column with the job's id; empty if there is none
	only    string // the rows that are read in pages; empty means all
}

var tables = map[driver.Table]table{
	driver.TableJobs: {columns: jobColumns, keys: 1, jobID: "id"},
	// The keys that outlive their jobs. The others move with their jobs, and are free when those have ended.
	driver.TableKeys: {columns: slices.Concat(of(text, "key", "job_id", "scope", "fingerprint"),
		of(instant, "expires_at"), of(optional, "type")),
		keys: 1, jobID: "job_id", only: "scope IN ('forever', 'period')"},
	driver.TableSteps: {columns: slices.Concat(of(text, "job_id", "name"), of(number, "attempt"),
		of(instant, "started_at", "finished_at"), of(optional, "result_json")), keys: 2, jobID: "job_id"},
	driver.TableSignals: {columns: slices.Concat(of(text, "job_id", "name"), of(number, "number", "attempt"),
		of(instant, "awaited_at", "until_at", "answered_at"), of(optional, "payload_json")), keys: 3, jobID: "job_id"},
	driver.TableAttempts: {columns: slices.Concat(of(text, "job_id"), of(number, "attempt"),
		of(text, "worker_id", "kind", "error", "stack"), of(instant, "started_at", "finished_at")), keys: 2,
		jobID: "job_id"},
	driver.TableLogs: {columns: slices.Concat(of(text, "job_id"), of(number, "attempt", "line"), of(instant, "at"),
		of(text, "level", "message"), of(optional, "attrs_json")), keys: 3, jobID: "job_id"},
	driver.TableLimits: {columns: slices.Concat(of(text, "kind", "name"), of(truth, "paused"),
		of(number, "max_running", "rate", "period_us", "burst"), of(instant, "updated_at")), keys: 2},
	driver.TableFlows: {columns: slices.Concat(of(text, "id", "name", "state"), of(number, "nodes", "ended", "failed",
		"canceled"), of(instant, "deadline", "created_at", "updated_at", "finished_at")), keys: 1, jobID: "id"},
	driver.TableNodes: {columns: slices.Concat(of(text, "id", "flow_id", "name", "state"), of(number, "waits", "total",
		"completed", "failed", "canceled", "moving"), of(instant, "updated_at", "finished_at")), keys: 1, jobID: "flow_id"},
	driver.TableEdges: {columns: slices.Concat(of(text, "from_node", "to_node", "policy"), of(number, "passed")), keys: 2,
		jobID: "from_node"},
	driver.TableTurns: {columns: slices.Concat(of(number, "number"), of(text, "sequence", "job_id"), of(number, "turn",
		"moving")), keys: 1, jobID: "job_id"},
	driver.TableRates: {columns: slices.Concat(of(text, "kind", "name"), of(instant, "arrival")), keys: 2},
}

func of(k kind, names ...string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{name: name, kind: k}
	}
	return columns
}

func tableOf(name driver.Table) (table, error) {
	t, ok := tables[name]
	if !ok {
		return table{}, fmt.Errorf("no table %q moves", name)
	}
	return t, nil
}

func (t *table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

func (t *table) selectFrom(name driver.Table) string {
	return "SELECT " + strings.Join(t.names(), ", ") + "\nFROM /*q.*/" + string(name)
}

// scan reads a row of all columns.
func (t *table) scan(row Scanner) ([]any, error) {
	cells := make([]nullable, len(t.columns))
	dest := make([]any, len(t.columns))
	for i, c := range t.columns {
		dest[i] = cells[i].dest(c.kind)
	}
	if err := row.Scan(dest...); err != nil {
		return nil, err
	}
	values := make([]any, len(t.columns))
	for i, c := range t.columns {
		values[i] = cells[i].value(c.kind)
	}
	return values, nil
}

// A nullable is a value of any kind as it is read.
type nullable struct {
	text   sql.NullString
	number sql.NullInt64
	truth  sql.NullBool
	at     dbtime.Time
}

func (n *nullable) dest(k kind) any {
	switch k {
	case number:
		return &n.number
	case instant:
		return &n.at
	case truth:
		return &n.truth
	default:
		return &n.text
	}
}

// value returns nil for NULL.
func (n *nullable) value(k kind) any {
	switch {
	case k == number && n.number.Valid:
		return n.number.Int64
	case k == instant && !n.at.IsZero():
		return n.at.Time
	case k == truth && n.truth.Valid:
		return n.truth.Bool
	case (k == text || k == optional) && n.text.Valid:
		return n.text.String
	}
	return nil
}

// argument returns a value of [driver.Rows] as statements take it.
func argument(v any) any {
	if at, ok := v.(time.Time); ok {
		return dbtime.Of(at)
	}
	return v
}
