package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

const postgres = "postgres"

const (
	createTable = `
CREATE TABLE postroom_migrations (
  package TEXT NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (package, version)
)`
	insertVersion = `INSERT INTO postroom_migrations (package, version, name) VALUES ($1, $2, $3)`
	selectVersion = `
SELECT COALESCE(MAX(version), 0), COALESCE(MIN(CASE WHEN version = 1 THEN name END), '')
FROM postroom_migrations
WHERE package = $1`

	// Programs before 0.1 had a column named room for the package.
	columnsSQLite   = `SELECT COALESCE(MAX(name), '') FROM pragma_table_info($1) WHERE name IN ('room', 'package')`
	columnsPostgres = `
SELECT COALESCE(MAX(attname::text), '')
FROM pg_attribute
WHERE attrelid = to_regclass(quote_ident(COALESCE(NULLIF($1, ''), current_schema())) || '.postroom_migrations')
  AND attname IN ('room', 'package')
  AND NOT attisdropped`

	existsSQLite   = `SELECT COUNT(*) FROM sqlite_schema WHERE lower(name) = lower($1)`
	existsPostgres = `SELECT COUNT(*) FROM pg_class WHERE relname = $1 AND relnamespace = to_regnamespace(quote_ident(COALESCE(NULLIF($2, ''), current_schema())))`

	// Two hosts may start at once; on SQLite the write transaction itself keeps the second one waiting.
	lockPostgres = `SELECT pg_advisory_xact_lock(7067368)`

	selectRights = `
SELECT COALESCE(schema, ''),
  current_setting('search_path'),
  current_user::text,
  COALESCE(has_schema_privilege(schema, 'CREATE'), false),
  COALESCE((
    SELECT min(quote_ident(nspname))
    FROM pg_namespace
    WHERE nspname = ANY(string_to_array(replace(replace(COALESCE(NULLIF($1, ''), current_setting('search_path')), '"', ''), ', ', ','), ','))
      AND NOT has_schema_privilege(oid, 'USAGE')
  ), '')
FROM (SELECT CASE
    WHEN $1 = '' THEN current_schema()
    ELSE (SELECT nspname FROM pg_namespace WHERE nspname = $1 AND has_schema_privilege(oid, 'USAGE'))
  END AS schema) AS place`
)

// A Place is where the tables of a package are, with the record of its migrations: in a schema of PostgreSQL, or with a
// prefix on SQLite. The zero Place is the first schema of the search_path, and no prefix.
type Place struct{ Schema, Prefix string }

// sql names the record of the migrations.
func (in Place) sql(text string) string {
	name := in.Prefix + "postroom_migrations"
	if in.Schema != "" {
		name = `"` + in.Schema + `".postroom_migrations`
	}
	return strings.ReplaceAll(text, "postroom_migrations", name)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// applied are the migrations of a package that a database has.
type applied struct {
	exists   bool // the table of them
	outdated bool // it is that of a program before 0.1
	version  int
	first    string // the name of the first; empty if there is none
}

// readTable reads whether there is the table of migrations, and of which program.
func (in Place) readTable(ctx context.Context, q querier, dialect string) (a applied, err error) {
	columns, where := columnsSQLite, in.Prefix+"postroom_migrations"
	if dialect == postgres {
		columns, where = columnsPostgres, in.Schema
	}
	var column string
	err = q.QueryRowContext(ctx, columns, where).Scan(&column)
	return applied{exists: column != "", outdated: column == "room"}, err
}

func (in Place) readVersion(ctx context.Context, q querier, dialect, pkg string) (applied, error) {
	a, err := in.readTable(ctx, q, dialect)
	if err != nil || !a.exists || a.outdated {
		return a, err
	}
	err = q.QueryRowContext(ctx, in.sql(selectVersion), pkg).Scan(&a.version, &a.first)
	return a, err
}

// mayCreate returns an error with a hint if the role may not create tables.
func (in Place) mayCreate(ctx context.Context, tx Tx, pkg string) error {
	var schema, searchPath, role, hidden string
	var allowed bool
	row := tx.QueryRowContext(ctx, selectRights, in.Schema)
	if err := row.Scan(&schema, &searchPath, &role, &allowed, &hidden); err != nil {
		return fmt.Errorf("migrate %s: read rights: %w", pkg, err)
	}
	switch {
	case schema == "" && hidden != "":
		return fmt.Errorf(
			"migrate %s: role %s may not use schema %s: run Migrate once as a role that may, and GRANT USAGE ON SCHEMA %s TO %s",
			pkg, role, hidden, hidden, role)
	case schema == "" && in.Schema != "":
		return fmt.Errorf("migrate %s: there is no schema %s: run CREATE SCHEMA %s", pkg, in.Schema, in.Schema)
	case schema == "":
		return fmt.Errorf(
			"migrate %s: there is no schema to create tables in (search_path is %s): run CREATE SCHEMA, or correct search_path", pkg, searchPath)
	case !allowed:
		return fmt.Errorf("migrate %s: the tables are not up to date, and role %s may not create any in schema %s: "+
			"run Migrate once as a role that may, or GRANT CREATE ON SCHEMA %s TO %s", pkg, role, schema, schema, role)
	}
	return nil
}

// isFree refuses to mistake another program's table for the package's.
func (in Place) isFree(ctx context.Context, tx Tx, dialect, pkg, table string) error {
	exists, instead, args := existsSQLite, "another file, or its tables a prefix (for the queue, sqlite.Config.TablePrefix)", []any{table}
	if dialect == postgres {
		exists, instead, args = existsPostgres, "a schema of its own (search_path in the DSN, or postgres.Config.Schema)", append(args, in.Schema)
	}
	var n int
	if err := tx.QueryRowContext(ctx, exists, args...).Scan(&n); err != nil {
		return fmt.Errorf("migrate %s: search for table %s: %w", pkg, table, err)
	}
	if n > 0 {
		return fmt.Errorf(
			"migrate %s: the database has a table %s already, which is not this package's: give package %s %s", pkg,
			table, pkg, instead)
	}
	return nil
}
