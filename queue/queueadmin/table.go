package queueadmin

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// A table is one of the queue's, as [Move] reads and writes it: the same columns on every engine.
type table struct {
	name    string
	keys    int    // how many of the first columns are the primary key
	jobID   string // the column that names a job; empty: none
	columns []column
	only    string // which rows page returns; empty: all
}

type column struct {
	name string
	kind columnKind
}

type columnKind int

const (
	text columnKind = iota
	number
	instant
	truth
)

var (
	jobsTable = table{name: "jobs", keys: 1, jobID: "id", columns: columns(
		"id", "type", "payload_json", "state", "worker_id", "idempotency_key", "key_scope", "limit_key", "user_id", "tags_json",
		"trace", "result_json", "last_error").and(number,
		"priority", "hold", "attempt", "failures", "interruptions", "crashes", "max_attempts").and(instant,
		"not_before", "expires_at", "created_at", "updated_at", "started_at", "finished_at")}
	keysTable = table{name: "job_keys", keys: 1, jobID: "job_id", columns: columns(
		"key", "job_id", "scope", "fingerprint").and(instant, "expires_at")}
	stepsTable = table{name: "job_steps", keys: 2, jobID: "job_id", columns: columns(
		"job_id", "name", "result_json").and(number, "attempt").and(instant, "started_at", "finished_at")}
	attemptsTable = table{name: "job_attempts", keys: 1, jobID: "job_id", columns: columns(
		"job_id", "worker_id", "kind", "error", "stack").and(number, "attempt").and(instant, "started_at", "finished_at")}
	logsTable = table{name: "job_logs", keys: 1, jobID: "job_id", columns: columns(
		"job_id", "level", "message", "attrs_json").and(number, "attempt", "line").and(instant, "at")}
	limitsTable = table{name: "job_limits", keys: 2, columns: columns(
		"kind", "name").and(number, "max_running", "rate", "period_us", "burst").and(truth, "paused").and(instant, "updated_at")}
	ratesTable = table{name: "job_rates", keys: 2, columns: columns("kind", "name").and(instant, "arrival")}
)

type columnList []column

// columns begins a list with those that hold text.
func columns(names ...string) columnList { return columnList(nil).and(text, names...) }

func (l columnList) and(kind columnKind, names ...string) columnList {
	for _, name := range names {
		l = append(l, column{name: name, kind: kind})
	}
	return l
}

// lastingKeys are those that outlive their jobs. The others move with their jobs, and are free when those have ended, in
// whichever database that was.
func lastingKeys() table {
	t := keysTable
	t.only = "scope IN ('forever', 'period')"
	return t
}

func (t table) names() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// read returns the rows of the jobs.
func (t table) read(ctx context.Context, db driver.DB, jobIDs []string) ([][]any, error) {
	query, args, err := inQuery(db.Dialect(), fmt.Sprintf("SELECT %s FROM %s WHERE %s IN (?)", t.names(), t.name, t.jobID), jobIDs)
	if err != nil {
		return nil, err
	}
	return t.query(ctx, db, query, args...)
}

// page returns rows in the order of the first columns, which are the key, after the row with the given one.
func (t table) page(ctx context.Context, db driver.DB, after []any, limit int) ([][]any, error) {
	key := make([]string, t.keys)
	holders := make([]string, t.keys)
	for i := range t.keys {
		key[i], holders[i] = t.columns[i].name, fmt.Sprintf("$%d", i+1)
	}
	where, args := "TRUE", []any{}
	if t.only != "" {
		where = t.only
	}
	if after != nil {
		where += fmt.Sprintf(" AND (%s) > (%s)", strings.Join(key, ", "), strings.Join(holders, ", "))
		args = append(args, after[:t.keys]...)
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d", t.names(), t.name, where, strings.Join(key, ", "), limit)
	return t.query(ctx, db, query, args...)
}

func (t table) query(ctx context.Context, db driver.DB, query string, args ...any) ([][]any, error) {
	rows, err := db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][]any
	for rows.Next() {
		row := t.row()
		if err := rows.Scan(row...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// row makes what a row is scanned into, and written from.
func (t table) row() []any {
	row := make([]any, len(t.columns))
	for i, c := range t.columns {
		switch c.kind {
		case number:
			row[i] = new(sql.NullInt64)
		case instant:
			row[i] = new(dbtime.Time)
		case truth:
			row[i] = new(sql.NullBool)
		default:
			row[i] = new(sql.NullString)
		}
	}
	return row
}

// write inserts the rows that are not there yet and returns how many it did.
func (t table) write(ctx context.Context, tx *driver.WriteTx, rows [][]any) (written int, err error) {
	holders := make([]string, len(t.columns))
	for i := range holders {
		holders[i] = fmt.Sprintf("$%d", i+1)
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING", t.name, t.names(), strings.Join(holders, ", "))
	for _, row := range rows {
		res, err := tx.ExecContext(ctx, statement, row...)
		if err != nil {
			return written, fmt.Errorf("%s: %w", t.name, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return written, err
		}
		written += int(n)
	}
	return written, nil
}

// textOf and instantOf are what row has made of a column.
func textOf(value any) *sql.NullString {
	s, _ := value.(*sql.NullString)
	return s
}

func instantOf(value any) *dbtime.Time {
	t, _ := value.(*dbtime.Time)
	return t
}
