package queueadmin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

const (
	// SQLite would remove the rows of a table that refers to ours.
	referringSQLite = `
SELECT 'the table ' || other.name || ' refers to ' || lower(key."table")
  || ', and would lose its rows: drop its foreign key first'
FROM sqlite_schema AS other
JOIN pragma_foreign_key_list(other.name) AS key
WHERE other.type = 'table'
  AND lower(key."table") IN (SELECT value FROM json_each($1))
  AND lower(other.name) NOT IN (SELECT value FROM json_each($1))`

	// The bodies of functions are texts, which nothing depends on. Without a schema, job_enqueue is that of the
	// search_path.
	referringPostgres = `
WITH ours AS (
  SELECT oid, relname, relnamespace
  FROM pg_class
  WHERE oid IN (SELECT to_regclass(name) FROM json_array_elements_text($1::json) AS name))
SELECT 'the table ' || conrelid::regclass || ' refers to ' || relname
  || ', and would lose its foreign key: drop that first'
FROM pg_constraint
JOIN ours ON ours.oid = confrelid
WHERE contype = 'f'
  AND conrelid NOT IN (SELECT oid FROM ours)
UNION ALL
SELECT 'the view ' || ev_class::regclass || ' reads ' || relname || ', and would fail: drop it first'
FROM pg_depend
JOIN ours ON ours.oid = refobjid AND refclassid = 'pg_class'::regclass
JOIN pg_rewrite ON pg_rewrite.oid = objid AND classid = 'pg_rewrite'::regclass
WHERE ev_class NOT IN (SELECT oid FROM ours)
UNION ALL
SELECT 'the ' || pg_describe_object(classid, objid, objsubid) || ' calls job_enqueue, and would fail: drop it first'
FROM pg_depend
JOIN pg_proc ON pg_proc.oid = refobjid AND refclassid = 'pg_proc'::regclass
WHERE deptype = 'n'
  AND proname = 'job_enqueue'
  AND pronamespace IN (SELECT relnamespace FROM ours)
UNION ALL
SELECT 'the function ' || pg_proc.oid::regprocedure || ' calls job_enqueue, and would fail: drop it first'
FROM pg_proc
CROSS JOIN (
  SELECT DISTINCT regexp_replace(nspname, '(\W)', '\\\1', 'g') AS schema
  FROM ours
  JOIN pg_namespace ON pg_namespace.oid = relnamespace) AS place
WHERE prosrc ~* ('(^|[^\w.])"?' || schema || '"?\s*\.\s*"?job_enqueue"?\s*\(')
  OR (prosrc ~* '(^|[^\w.])"?job_enqueue"?\s*\('
    AND ($2 = '' AND pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname = ANY(current_schemas(FALSE)))
      OR EXISTS (SELECT 1 FROM unnest(proconfig) AS setting WHERE setting ~ ('^search_path=.*\y' || schema || '\y'))))
LIMIT 1`

	// A renaming has SQLite look up whatever views and triggers name.
	probe = `
CREATE TABLE %[1]s (x);
ALTER TABLE %[1]s RENAME TO %[1]s_renamed;
DROP TABLE %[1]s_renamed`
)

// isReferredTo refuses to remove what something of the program's refers to.
func isReferredTo(ctx context.Context, db queue.DB, tx queue.Tx) error {
	objects, err := naming.Created(queue.MigrationFiles(), db.Dialect())
	if err != nil {
		return err
	}
	var tables []string
	for _, o := range objects {
		if o.Kind == "TABLE" && !o.Passing {
			tables = append(tables, strconv.Quote(queue.Table(db, o.Name)))
		}
	}
	ours := "[" + strings.Join(tables, ",") + "]"
	query, args := referringSQLite, []any{ours}
	if db.Dialect() == driver.Postgres {
		query, args = referringPostgres, append(args, driver.NamesOf(db.Driver()).Schema)
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return rows.Err()
	}
	var text string
	if err := rows.Scan(&text); err != nil {
		return err
	}
	return errors.New(text)
}

// resolves returns an error of SQLite that names a view or a trigger of which something is missing. The transaction is
// to be rolled back then.
func resolves(ctx context.Context, tx queue.Tx) error {
	table := "postroom_probe_" + strings.ToLower(rand.Text()) // no program's
	_, err := tx.ExecContext(ctx, fmt.Sprintf(probe, table))
	return err
}
