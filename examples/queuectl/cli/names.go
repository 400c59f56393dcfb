package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// What postgres.Config.Schema and sqlite.Config.TablePrefix may be.
var (
	schemaName   = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)
	prefixName   = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,31}$`)
	ownOfEngines = regexp.MustCompile(`^(pg_.*|information_schema|plpgsql)$`)
)

// checkNames refuses a schema and a prefix that no queue can have, and those that the database has no use for: without
// them, the command would work on another queue.
func (d *database) checkNames(dsn string) error {
	switch {
	case d.schema != "" && !isPostgres(dsn):
		path, err := existingFile(dsn, createIt) // which may be a URL with a password
		if err != nil {
			return err
		}
		return usage.Errorf("--%sschema is for PostgreSQL, and %s is an SQLite file: use --%[1]stable-prefix", d.side, path)
	case d.prefix != "" && isPostgres(dsn):
		return usage.Errorf("--%stable-prefix is for SQLite, and the database is one of PostgreSQL: use --%[1]sschema",
			d.side)
	case d.schema != "" && (!schemaName.MatchString(d.schema) || ownOfEngines.MatchString(d.schema)):
		return usage.Errorf("--%sschema is %q; it must be of lower-case letters, digits and underscores, at most 48, not begin "+
			"with a digit, and not be PostgreSQL's own", d.side, d.schema)
	case d.prefix != "" && (!prefixName.MatchString(d.prefix) || strings.HasPrefix(d.prefix, "sqlite_")):
		return usage.Errorf("--%stable-prefix is %q; it must be of lower-case letters, digits and underscores, at most 32, "+
			"and not begin with a digit or with sqlite_", d.side, d.prefix)
	}
	return nil
}

const (
	countMigrations = `
SELECT COUNT(*)
FROM sqlite_schema
WHERE name = $1`

	selectPrefixes = `
SELECT substr(marks.name, 1, length(marks.name) - length('postroom_migrations')) AS prefix
FROM sqlite_schema AS marks
WHERE marks.type = 'table'
  AND marks.name LIKE '%postroom!_migrations' ESCAPE '!'
  AND EXISTS (
    SELECT 1
    FROM sqlite_schema AS jobs
    WHERE jobs.type = 'table'
      AND jobs.name = substr(marks.name, 1, length(marks.name) - length('postroom_migrations')) || 'jobs')
ORDER BY prefix`
)

// isMigrated reports whether an SQLite file has tables that this program has made. It does not change the file.
func (d *database) isMigrated(ctx context.Context, dsn string) (bool, error) {
	db, err := openReadOnly(dsn, createIt)
	if err != nil {
		return false, err
	}
	var n int
	err = db.GetContext(ctx, &n, countMigrations, d.prefix+"postroom_migrations")
	if err = errors.Join(err, db.Close()); err != nil {
		return false, fmt.Errorf("read the file %s: %w", dsn, err)
	}
	return n > 0, nil
}

// noQueue is the error that an SQLite file has no queue with the prefix. It names the queues that the file has, beside
// which 'migrate up' would make another.
func (d *database) noQueue(ctx context.Context, dsn string) error {
	db, err := openReadOnly(dsn, createIt)
	if err != nil {
		return err
	}
	var prefixes []string
	err = db.SelectContext(ctx, &prefixes, selectPrefixes)
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("read the file %s: %w", dsn, err)
	}
	if len(prefixes) == 0 {
		return fmt.Errorf("the file %s has no queue; 'migrate up' makes its tables", dsn)
	}
	named := func(prefix string) string {
		if prefix == "" {
			return "without --" + d.side + "table-prefix"
		}
		return "with --" + d.side + "table-prefix " + prefix
	}
	var found []string
	for _, prefix := range slices.Compact(prefixes) {
		found = append(found, "one "+named(prefix))
	}
	return fmt.Errorf("the file %s has no queue %s, but %s; 'migrate up' would make another", dsn, named(d.prefix),
		strings.Join(found, " and "))
}
