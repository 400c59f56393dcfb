package peers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// A dialect is the part of an engine's SQL that multiplying rows needs.
type dialect struct {
	columns  string // query for the names of a table's columns
	sequence string // rows i = 1 … $1
}

var (
	sqliteDialect = dialect{
		columns:  "SELECT name FROM pragma_table_info($1)",
		sequence: "(WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i FROM s) AS s",
	}
	postgresDialect = dialect{
		columns:  "SELECT column_name FROM information_schema.columns WHERE table_schema || '.' || table_name = $1",
		sequence: "generate_series(1, %d) AS s (i)",
	}
)

// clone writes n rows like the one that where finds, with some columns set to an expression of i; a column set to "" is
// left to its default. It makes a store with many finished jobs where a peer would need minutes for them.
func clone(ctx context.Context, db *sql.DB, d dialect, table, where string, n int, set map[string]string) error {
	if n < 1 {
		return nil
	}
	rows, err := db.QueryContext(ctx, d.columns, table)
	if err != nil {
		return err
	}
	defer rows.Close()
	var all, columns, values []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		all = append(all, name)
		value, ok := set[name]
		switch {
		case !ok:
			value = "one." + name
		case value == "":
			continue
		}
		columns, values = append(columns, name), append(values, value)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM "+d.sequence+
		" CROSS JOIN (SELECT %s FROM %s WHERE %s LIMIT 1) AS one",
		table, strings.Join(columns, ", "), strings.Join(values, ", "), n, strings.Join(all, ", "), table, where)
	result, err := db.ExecContext(ctx, statement)
	if err != nil {
		return fmt.Errorf("multiply a row of %s: %w", table, err)
	}
	if written, err := result.RowsAffected(); err != nil || written != int64(n) {
		return errors.Join(err, fmt.Errorf("%d rows of %s were written, and not %d: none has %s", written, table, n, where))
	}
	return nil
}
