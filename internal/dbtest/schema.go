package dbtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// A schema is a migrated schema of the PostgreSQL server that one test after the other uses.
type schema struct {
	name  string
	dsn   string   // of the tests' connections, which have the name of the schema
	admin *sqlx.DB // of others
	// pool is for one test after the other: what a server learns for the first statements of a connection takes longer
	// than the rest of most tests.
	pool *pgxpool.Pool

	shape  string            // what is in it but rows
	rows   map[string]string // of the tables that the migrations have filled, in JSON
	counts map[string]int64  // what its sequences have come to
}

func newSchema(t testing.TB, admin *sqlx.DB) *schema {
	t.Helper()
	name := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	s := &schema{name: name, admin: admin, dsn: With(t, inSchema(t, server(t), name), "application_name", name)}
	_, err := admin.ExecContext(t.Context(), "CREATE SCHEMA "+name)
	require.NoError(t, err)
	s.pool, err = pgxpool.New(context.Background(), s.dsn)
	require.NoError(t, err)
	return s
}

func (s *schema) drop(ctx context.Context) error {
	s.pool.Close()
	_, err := s.admin.ExecContext(ctx, "DROP SCHEMA "+s.name+" CASCADE")
	return err
}

const (
	// Statistics belong to the shape: with them the server may choose another plan than for a new schema.
	selectShape = `
WITH classes AS MATERIALIZED (
  SELECT oid, relname, relkind, relpersistence, relacl, reloptions, relreplident, reltuples
  FROM pg_class WHERE relnamespace = $1::regnamespace
)
SELECT md5(string_agg(line, E'\n' ORDER BY line COLLATE "C"))
FROM (
  SELECT concat_ws(' ', 'class', relname, relkind, relpersistence, relacl, reloptions, relreplident, reltuples) AS line
  FROM classes WHERE relkind NOT IN ('S', 't')
  UNION ALL
  SELECT concat_ws(' ', 'column', attrelid, attnum, attname, atttypid, attnotnull, attstorage,
    attacl, attstattarget, pg_get_expr(adbin, adrelid))
  FROM pg_attribute JOIN classes c ON c.oid = attrelid
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attnum > 0
  UNION ALL
  SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid)
  FROM pg_index JOIN classes c ON c.oid = indexrelid
  UNION ALL
  SELECT concat_ws(' ', 'constraint', conrelid, pg_get_constraintdef(oid))
  FROM pg_constraint WHERE connamespace = $1::regnamespace
  UNION ALL
  SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), tgenabled)
  FROM pg_trigger t JOIN classes c ON c.oid = tgrelid WHERE NOT tgisinternal
  UNION ALL
  SELECT concat_ws(' ', 'function', pg_get_functiondef(oid), proacl) FROM pg_proc
  WHERE pronamespace = $1::regnamespace AND prokind IN ('f', 'p')
  UNION ALL
  SELECT concat_ws(' ', 'schema', nspacl, nspowner) FROM pg_namespace WHERE oid = $1::regnamespace
  UNION ALL
  SELECT concat_ws(' ', 'other', typname) FROM pg_type WHERE typnamespace = $1::regnamespace AND typtype <> 'c'
) AS lines`

	selectFilled = `
SELECT relname, pg_relation_size(oid) AS size FROM pg_class
WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0`

	selectCounts = `
SELECT sequencename AS name, COALESCE(last_value, 0) AS count FROM pg_sequences WHERE schemaname = $1`

	resetSession = "RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all()"

	// Connections end a moment after the client has closed them.
	selectLeft = `
SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND pid <> ALL($2::integer[])`
)

// maxKept bounds a table's bytes in a schema that is emptied: its dead rows stay in the way of the next tests.
const maxKept = 1 << 20

func (s *schema) remember(ctx context.Context) (err error) {
	if s.shape, err = s.shapeNow(ctx); err != nil {
		return err
	}
	if s.counts, err = s.countsNow(ctx); err != nil {
		return err
	}
	filled, err := s.filled(ctx)
	if err != nil {
		return err
	}
	s.rows = make(map[string]string)
	for table := range filled {
		var rows string
		query := `SELECT COALESCE(jsonb_agg(x), '[]')::text FROM ` + s.name + `.` + table + ` x`
		if err := s.admin.GetContext(ctx, &rows, query); err != nil {
			return err
		}
		s.rows[table] = rows
	}
	return nil
}

// empty makes the schema what it was before the test, and reports whether it could.
func (s *schema) empty(ctx context.Context) (could bool, err error) {
	if err := s.disconnect(ctx); err != nil {
		return false, err
	}
	shape, err := s.shapeNow(ctx)
	if err != nil || shape != s.shape {
		return false, err
	}
	filled, err := s.filled(ctx)
	if err != nil {
		return false, err
	}
	for _, size := range filled {
		if size > maxKept {
			return false, nil
		}
	}
	return s.refill(ctx, filled)
}

// longestLeft is how long the connections of a test may take to end.
const longestLeft = 30 * time.Second

// disconnect ends the connections that a test has left, but for those of the pool, which are as new.
func (s *schema) disconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestLeft,
		fmt.Errorf("connections to the schema %s are open %s after its test", s.name, longestLeft))
	defer cancel()
	for stat := s.pool.Stat(); stat.AcquiredConns()+stat.ConstructingConns() > 0; stat = s.pool.Stat() {
		if !tick(ctx) {
			return fmt.Errorf("%w: %d of its pool", context.Cause(ctx), stat.TotalConns())
		}
	}
	kept, err := s.reset(ctx)
	for left := 1; err == nil && left > 0; {
		err = s.admin.GetContext(ctx, &left, selectLeft, s.name, kept)
		if err == nil && left > 0 && !tick(ctx) {
			err = fmt.Errorf("%w: %d", context.Cause(ctx), left)
		}
	}
	return err
}

// tick waits for a moment, and reports whether ctx lasts.
func tick(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(10 * time.Millisecond):
		return true
	}
}

// reset undoes what a test has set in the idle connections of the pool, and returns their numbers on the server.
func (s *schema) reset(ctx context.Context) (kept []int32, err error) {
	for _, conn := range s.pool.AcquireAllIdle(ctx) {
		_, execErr := conn.Exec(ctx, resetSession, pgx.QueryExecModeSimpleProtocol)
		err = errors.Join(err, execErr)
		kept = append(kept, int32(conn.Conn().PgConn().PID()))
		conn.Release()
	}
	return kept, err
}

// refill deletes what tables hold, and puts back the rows of the migrations.
func (s *schema) refill(ctx context.Context, filled map[string]int64) (could bool, err error) {
	var super bool
	if err := s.admin.GetContext(ctx, &super, `SELECT rolsuper FROM pg_roles WHERE rolname = current_user`); err != nil {
		return false, err
	}
	if !super { // who may not turn triggers off
		return false, nil
	}
	counts, err := s.countsNow(ctx)
	if err != nil {
		return false, err
	}
	var b strings.Builder
	b.WriteString("SET LOCAL session_replication_role = replica;\nSET LOCAL search_path = " + s.name + ";\n")
	tables := maps.Clone(filled)
	for table := range s.rows { // it has no size after a TRUNCATE
		tables[table] = filled[table]
	}
	for table := range tables {
		fmt.Fprintf(&b, "DELETE FROM %s;\n", table)
		if rows := s.rows[table]; rows != "" {
			//nolint:unqueryvet // whole rows
			fmt.Fprintf(&b, "INSERT INTO %s SELECT * FROM jsonb_populate_recordset(NULL::%[1]s, '%[2]s');\n", table,
				strings.ReplaceAll(rows, "'", "''"))
		}
	}
	if !maps.Equal(counts, s.counts) {
		for name, count := range s.counts {
			fmt.Fprintf(&b, "SELECT setval('%s', %d, %t);\n", name, max(1, count), count > 0)
		}
	}
	tx, err := s.admin.BeginTxx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, b.String()); err != nil {
		return false, fmt.Errorf("%w\n%s", err, b.String())
	}
	return true, tx.Commit()
}

func (s *schema) shapeNow(ctx context.Context) (shape string, err error) {
	return shape, s.admin.GetContext(ctx, &shape, selectShape, s.name)
}

func (s *schema) filled(ctx context.Context) (map[string]int64, error) {
	return s.pairs(ctx, selectFilled)
}

func (s *schema) countsNow(ctx context.Context) (map[string]int64, error) {
	return s.pairs(ctx, selectCounts)
}

// pairs reads rows of a name and a number.
func (s *schema) pairs(ctx context.Context, query string) (map[string]int64, error) {
	rows, err := s.admin.QueryContext(ctx, query, s.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[string]int64)
	for rows.Next() {
		var name string
		var number int64
		if err := rows.Scan(&name, &number); err != nil {
			return nil, err
		}
		found[name] = number
	}
	return found, rows.Err()
}
