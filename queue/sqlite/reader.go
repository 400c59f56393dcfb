package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"runtime"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// A readerConn is a connection of [DB.Reader]. Its statements bind $1, $2, … by their numbers, as those of transactions
// do.
type readerConn struct {
	libsqlite.Conn

	texts  map[string]string // by what they were: to read one again takes as long as to run a short statement
	yields bool              // see ownConnections
}

var (
	_ sqldriver.QueryerContext     = readerConn{}
	_ sqldriver.ExecerContext      = readerConn{}
	_ sqldriver.ConnPrepareContext = readerConn{}
)

func (c readerConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	text, err := c.numbered(query)
	if err != nil {
		return nil, err
	}
	rows, err := c.patiently(ctx, text, args)
	if code, _ := libsqlite.ErrorOf(err); !c.yields || code != libsqlite.General {
		return rows, err
	}
	// SQLite compiles a statement for the schema that the connection has read last. If the statement does not fit, it
	// looks whether the schema is newer, but not while the writer commits: then a new table is said to be missing.
	schema, schemaErr := c.patiently(ctx, "SELECT 1 FROM sqlite_schema LIMIT 1", nil)
	if schemaErr != nil {
		return nil, err
	}
	if closeErr := schema.Close(); closeErr != nil {
		return nil, closeErr
	}
	return c.patiently(ctx, text, args)
}

// patiently runs a query, and in memory waits for the writer.
func (c readerConn) patiently(
	ctx context.Context, text string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	for deadline := time.Now().Add(memoryPatience); ; runtime.Gosched() {
		rows, err := c.Conn.QueryContext(ctx, text, args)
		if !c.yields || !busy(err) || time.Now().After(deadline) {
			return rows, err
		}
	}
}

func (c readerConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	text, err := c.numbered(query)
	if err != nil {
		return nil, err
	}
	return c.Conn.ExecContext(ctx, text, args)
}

func (c readerConn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	text, err := c.numbered(query)
	if err != nil {
		return nil, err
	}
	return c.Conn.PrepareContext(ctx, text)
}

// ResetSession implements [sqldriver.SessionResetter].
func (c readerConn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(sqldriver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements [sqldriver.Validator].
func (c readerConn) IsValid() bool {
	v, ok := c.Conn.(sqldriver.Validator)
	return !ok || v.IsValid()
}

func (c readerConn) numbered(query string) (string, error) {
	if text, ok := c.texts[query]; ok {
		return text, nil
	}
	if err := single(query); err != nil {
		return "", err
	}
	text := numbered(query)
	if len(c.texts) < keptStatements {
		c.texts[query] = text
	}
	return text, nil
}

// memoryPatience is how long a reader waits for the writer of a database in memory.
const memoryPatience = 10 * time.Second

// A readerConnector opens connections.
type readerConnector struct {
	dsn    string
	yields bool // see ownConnections
}

func (r readerConnector) Driver() sqldriver.Driver { return libsqlite.Driver() }

func (r readerConnector) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := r.Driver().Open(r.dsn)
	if err != nil {
		return nil, err
	}
	own, ok := libsqlite.ConnOf(conn)
	if !ok {
		return nil, fmt.Errorf("the connection is a %T", conn)
	}
	return readerConn{own, make(map[string]string), r.yields}, nil
}

// Stats implements [driver.Inspector].
func (db *engine) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return jobsql.ReadStats(ctx, db.names.Reader(db.reader), driver.SQLite, query, workers)
}

const selectTables = `
SELECT tables.name, columns.name
FROM sqlite_schema AS tables
JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table'
  AND tables.name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY tables.name, columns.cid`

var _ driver.TableLister = (*engine)(nil)

// Tables implements [driver.TableLister].
func (db *engine) Tables(ctx context.Context) (map[string][]string, error) {
	type column struct{ table, name string }
	rows, err := db.query(ctx, selectTables)
	columns, err := jobsql.Collect(rows, err, func(row jobsql.Scanner) (c column, err error) {
		err = row.Scan(&c.table, &c.name)
		return c, err
	})
	tables := make(map[string][]string)
	for _, c := range columns {
		tables[c.table] = append(tables[c.table], c.name)
	}
	return tables, err
}
