// Package migrate creates and updates the tables of one package. Migrations are SQL files embedded in the package,
// numbered from 0001_words.sql, in one folder for each dialect. They only go forward.
//
// The name of the first migration marks the baseline. A package that replaces all its migrations by one gives that a
// new name, 0001_initial.sql: a database that began with another first migration is then refused with [ErrOutdated],
// whatever its version.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Tx is the caller's write transaction.
type Tx interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// A DB is a database whose write transactions are a T.
type DB[T Tx] interface {
	Reader() *sqlx.DB
	Write(ctx context.Context, fn func(ctx context.Context, tx T) error) error
}

// ErrOutdated reports that the database was made before the package's first migration was replaced.
var ErrOutdated = errors.New("this database was made by a version before 0.1, which this program cannot carry on: " +
	"finish or export its work with that version, then start with a new database")

type migration struct {
	version int
	name    string
	sql     string
}

// Up applies, in one write transaction, the migrations under files/migrations/dialect that have not been applied yet.
// If there are none, it only reads, and needs only that permission. It refuses a database that a newer version of the
// package has written.
func Up[T Tx](ctx context.Context, db DB[T], dialect, pkg string, files fs.FS) error {
	return UpIn(ctx, db, Place{}, dialect, pkg, files)
}

// UpIn is Up for tables in a place of their own, where the files put them.
func UpIn[T Tx](ctx context.Context, db DB[T], in Place, dialect, pkg string, files fs.FS) error {
	migrations, err := load(files, dialect)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", pkg, err)
	}
	at, err := in.lookUp(ctx, db.Reader(), dialect, pkg)
	if err == nil {
		// If it cannot be read, the write finds out why.
		if pending, err := at.pending(migrations, pkg); err != nil || len(pending) == 0 {
			return err
		}
	}
	return db.Write(ctx, func(ctx context.Context, tx T) error { return in.run(ctx, tx, dialect, pkg, migrations) })
}

// Run is Up inside the caller's write transaction.
func Run(ctx context.Context, tx Tx, dialect, pkg string, files fs.FS) error {
	migrations, err := load(files, dialect)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", pkg, err)
	}
	return Place{}.run(ctx, tx, dialect, pkg, migrations)
}

func (in Place) run(ctx context.Context, tx Tx, dialect, pkg string, migrations []migration) error {
	if dialect == postgres {
		if _, err := tx.ExecContext(ctx, lockPostgres); err != nil {
			return fmt.Errorf("migrate %s: lock: %w", pkg, err)
		}
	}
	// Again, now that nobody else migrates.
	at, err := in.readVersion(ctx, tx, dialect, pkg)
	if err != nil {
		return fmt.Errorf("migrate %s: read version: %w", pkg, err)
	}
	pending, err := at.pending(migrations, pkg)
	if err != nil || len(pending) == 0 {
		return err
	}
	if dialect == postgres {
		if err := in.mayCreate(ctx, tx, pkg); err != nil {
			return err
		}
	}
	if !at.exists {
		if _, err := tx.ExecContext(ctx, in.sql(createTable)); err != nil {
			return fmt.Errorf("migrate %s: %w", pkg, err)
		}
	}
	for _, m := range pending {
		if err := in.apply(ctx, tx, dialect, pkg, m); err != nil {
			return err
		}
	}
	return nil
}

// pending returns the migrations that have not been applied. It refuses a database whose tables began with another
// first migration than the program's.
func (a applied) pending(migrations []migration, pkg string) ([]migration, error) {
	latest := migrations[len(migrations)-1].version
	switch {
	case a.outdated, a.version > 0 && a.first != migrations[0].name:
		return nil, fmt.Errorf("migrate %s: %w", pkg, ErrOutdated)
	case a.version > latest:
		return nil, fmt.Errorf("migrate %s: the database is at version %d and this program knows %d: run a newer program",
			pkg, a.version, latest)
	}
	first := slices.IndexFunc(migrations, func(m migration) bool { return m.version > a.version })
	if first < 0 {
		return nil, nil
	}
	return migrations[first:], nil
}

var creates = regexp.MustCompile(`(?im)^CREATE TABLE (?:"\w+"\.)?(\w+)`)

func (in Place) apply(ctx context.Context, tx Tx, dialect, pkg string, m migration) error {
	for _, statement := range split(m.sql) {
		if table := creates.FindStringSubmatch(statement); table != nil {
			if err := in.isFree(ctx, tx, dialect, pkg, table[1]); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("migrate %s: %s: %w\n%s", pkg, m.name, err, statement)
		}
	}
	if _, err := tx.ExecContext(ctx, in.sql(insertVersion), pkg, m.version, m.name); err != nil {
		return fmt.Errorf("migrate %s: %s: record version: %w", pkg, m.name, err)
	}
	return nil
}

// split splits a file into statements, which end with a semicolon at the end of a line. Those within the body of a
// trigger of SQLite, which ends with END, and of a function of PostgreSQL, between two $$, do not end it.
func split(text string) []string {
	var statements []string
	open := ""
	for s := range strings.SplitSeq(text+"\n", ";\n") {
		s = open + s
		trigger := bodies.MatchString(s) && !strings.HasSuffix(s, "\nEND")
		if trigger || strings.Count(s, "$$")%2 == 1 {
			open = s + ";\n"
			continue
		}
		open = ""
		if s = strings.TrimSpace(s); s != "" {
			statements = append(statements, s)
		}
	}
	return statements
}

var bodies = regexp.MustCompile(`(?m)^CREATE TRIGGER [^$]*\nBEGIN$`)

func load(files fs.FS, dialect string) ([]migration, error) {
	dir := path.Join("migrations", dialect)
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("no migrations for this dialect: %w", err)
	}
	var migrations []migration
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version < 1 {
			return nil, fmt.Errorf("%s/%s: a migration's name begins with its number, as 0001_words.sql", dir, e.Name())
		}
		text, err := fs.ReadFile(files, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		migrations = append(migrations, migration{version: version, name: e.Name(), sql: string(text)})
	}
	if len(migrations) == 0 {
		return nil, fmt.Errorf("no migrations for this dialect: %s is empty", dir)
	}
	slices.SortFunc(migrations, func(a, b migration) int { return a.version - b.version })
	for i, m := range migrations[1:] {
		if m.version == migrations[i].version {
			return nil, fmt.Errorf("%s: %s and %s have the same number", dir, migrations[i].name, m.name)
		}
	}
	return migrations, nil
}
