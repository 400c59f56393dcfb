package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/admincmd"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A database is the database that the flags of a command name.
type database struct {
	dsn    string
	pooled bool
	schema string
	prefix string
	named  bool   // a command whose flags are right has asked for it
	side   string // what the names of its flags begin with: "to-" for the new database of a move
}

// environment is the variable that has the DSN.
const environment = "QUEUECTL_DATABASE"

// withQueue opens the queue for fn.
func (d *database) withQueue(
	cmd *cobra.Command, _ bool, fn func(ctx context.Context, s *jobcmd.Session) error,
) error {
	return d.withTables(cmd, func(ctx context.Context, db queue.DB) error {
		q, err := queue.New(db, nil)
		if err != nil {
			return err
		}
		return fn(ctx, &jobcmd.Session{Queue: q})
	})
}

// withTablesIn opens a database that has the queue's tables for fn, within a context.
func (d *database) withTablesIn(
	ctx context.Context, cmd *cobra.Command, fn func(ctx context.Context, db queue.DB) error,
) error {
	return d.with(ctx, cmd, func(ctx context.Context, dsn string) (closable, error) {
		return d.openTables(ctx, dsn)
	}, fn)
}

// withTables is withTablesIn with the context of the command.
func (d *database) withTables(cmd *cobra.Command, fn func(ctx context.Context, db queue.DB) error) error {
	return d.withTablesIn(cmd.Context(), cmd, fn)
}

// withAny opens a database that need not have the queue's tables for fn.
func (d *database) withAny(cmd *cobra.Command, fn func(ctx context.Context, db queue.DB) error) error {
	return d.with(cmd.Context(), cmd, d.openAny, fn)
}

// withPlan opens a database so that fn can read its migrations. It changes no file that is not a queue's: instead of
// one, fn is given an empty database.
func (d *database) withPlan(cmd *cobra.Command, fn func(ctx context.Context, db queue.DB) error) error {
	return d.with(cmd.Context(), cmd, func(ctx context.Context, dsn string) (closable, error) {
		if isPostgres(dsn) {
			return d.openAny(ctx, dsn)
		}
		migrated, err := d.isMigrated(ctx, dsn)
		if err == nil && !migrated {
			db, err := sqlite.OpenMemory(ctx)
			if err != nil {
				return nil, err
			}
			return unmade{queue.NewDB(prefixed{db.Driver(), d.prefix}), db}, nil
		}
		if err != nil {
			return nil, err
		}
		return d.openAny(ctx, dsn)
	}, fn)
}

func (d *database) with(
	ctx context.Context, cmd *cobra.Command, open func(ctx context.Context, dsn string) (closable, error),
	fn func(ctx context.Context, db queue.DB) error,
) error {
	d.named = true
	dsn := d.dsn
	if dsn == "" && !cmd.Flags().Changed("database") {
		dsn = os.Getenv(environment)
	}
	if dsn == "" {
		return usage.Errorf("no database is named: add --database, the path of an SQLite file or a URL as "+
			"postgres://user@host/database, or set $%s", environment)
	}
	if err := d.checkNames(dsn); err != nil {
		return err
	}
	db, err := open(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(fn(ctx, db), db.Close())
}

// A closable is a database that was opened.
type closable interface {
	queue.DB
	io.Closer
}

// An unmade database is one in the place of a file that has no tables.
type unmade struct {
	queue.DB
	io.Closer
}

// A prefixed driver has no tables, but knows what they would be named.
type prefixed struct {
	driver.Driver

	prefix string
}

// Names implements [driver.Namer].
func (p prefixed) Names() driver.Names { return driver.Names{Prefix: p.prefix} }

// openTables opens the database of a DSN that has the queue's tables. Another one is left as it is: to open an SQLite
// file for a queue is to set its journal mode.
func (d *database) openTables(ctx context.Context, dsn string) (interface {
	queue.DB
	io.Closer
}, error) {
	if !isPostgres(dsn) {
		if migrated, err := d.isMigrated(ctx, dsn); err != nil {
			return nil, err
		} else if !migrated {
			return nil, d.noQueue(ctx, dsn)
		}
	}
	db, err := d.openAny(ctx, dsn)
	if err != nil {
		return nil, err
	}
	checker, ok := driver.As[driver.TableChecker](db.Driver())
	if !ok {
		return db, nil
	}
	if err := checker.CheckTables(ctx); err != nil {
		return nil, errors.Join(d.tablesError(err), db.Close())
	}
	return db, nil
}

// openTarget opens the new database of a move.
func (d *database) openTarget(ctx context.Context, to admincmd.Target) (interface {
	queue.DB
	io.Closer
}, error) {
	target := &database{schema: to.Schema, prefix: to.Prefix, pooled: d.pooled, side: "to-"}
	if err := target.checkNames(to.DSN); err != nil {
		return nil, err
	}
	return target.openTables(ctx, to.DSN)
}

// tablesError says to an operator what package queue says to a programmer.
func (d *database) tablesError(err error) error {
	switch {
	case errors.Is(err, driver.ErrForeignTables):
		return errors.New("the table jobs of this database is not a queue's")
	case errors.Is(err, driver.ErrNoTables):
		return fmt.Errorf("the queue's tables are missing or out of date; 'migrate status' shows how far they are, and "+
			"'migrate up' makes them. If they are in a schema, or have a prefix, add --%sschema or --%[1]stable-prefix", d.side)
	}
	return err
}

// openAny opens the database of a DSN.
func (d *database) openAny(ctx context.Context, dsn string) (closable, error) {
	if isPostgres(dsn) {
		return opened(postgres.Open(ctx, dsn, &postgres.Config{Pooled: d.pooled, Schema: d.schema}))
	}
	path, err := existingFile(dsn, createIt)
	if err != nil {
		return nil, err
	}
	return opened(sqlite.Open(ctx, path, &sqlite.Config{TablePrefix: d.prefix}))
}

// read opens the database of a DSN to be read: it need not have the queue's tables, and an SQLite file is not changed.
func (d *database) read(ctx context.Context, dsn string) (*sqlx.DB, io.Closer, error) {
	if isPostgres(dsn) {
		db, err := (&database{pooled: d.pooled}).openAny(ctx, dsn)
		if err != nil {
			return nil, nil, err
		}
		return db.Reader(), db, nil
	}
	db, err := openReadOnly(dsn, "")
	if err != nil {
		return nil, nil, err
	}
	return db, db, nil
}

func openReadOnly(dsn, advice string) (*sqlx.DB, error) {
	path, err := existingFile(dsn, advice)
	if err != nil {
		return nil, err
	}
	return sqlx.Open(sqlite.DriverName, "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_busy_timeout=10000")
}

// createIt is what to do about the file of a queue that does not exist.
const createIt = "; 'migrate up' needs an empty one: create it"

// existingFile returns the path of a DSN of SQLite. The advice is for a file that does not exist. It does not repeat
// what may be a URL with a password.
func existingFile(dsn, advice string) (string, error) {
	path := strings.TrimPrefix(strings.TrimPrefix(dsn, "sqlite:"), "//")
	if strings.Contains(path, "://") {
		return "", usage.Errorf("no database has such a URL; give the path of an SQLite file, or a URL as " +
			"postgres://user@host/database")
	}
	switch info, err := os.Stat(path); { //nolint:gosec // the operator names the file
	case errors.Is(err, fs.ErrNotExist):
		return "", usage.Errorf("there is no file %s%s", path, advice)
	case err == nil && info.IsDir():
		return "", usage.Errorf("%s is a directory; give the path of an SQLite file", path)
	}
	return path, nil
}

// opened keeps a nil pointer from becoming a database.
func opened[T closable](db T, err error) (closable, error) {
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return db, nil
}

var postgresDSN = regexp.MustCompile(`(?i)^postgres(ql)?://|(^|\s)(host|hostaddr|port|dbname|user|password|service)\s*=`)

// isPostgres reports whether a DSN is a URL, or keywords and values, of PostgreSQL.
func isPostgres(dsn string) bool { return postgresDSN.MatchString(dsn) }
