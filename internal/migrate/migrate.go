// Package migrate brings the tables of one package up to date. Migrations are SQL files embedded in the package, named
// 0001_words.sql and up, in one folder for each dialect; they go forward only.
package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	createTable = `
CREATE TABLE IF NOT EXISTS postroom_migrations (
  room TEXT NOT NULL,
  version INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (room, version)
)`
	selectVersion = `SELECT COALESCE(MAX(version), 0) FROM postroom_migrations WHERE room = $1`
	insertVersion = `INSERT INTO postroom_migrations (room, version, name) VALUES ($1, $2, $3)`

	// Two hosts may start at once; on SQLite the write transaction itself keeps the second one waiting.
	lockPostgres = `SELECT pg_advisory_xact_lock(7067368)`
)

// Tx is the caller's write transaction.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type migration struct {
	version int
	name    string
	sql     string
}

// Run applies, inside the caller's write transaction, the migrations under files/migrations/dialect that the room has
// not seen yet. It refuses a database that a newer version of the room has written.
func Run(ctx context.Context, tx Tx, dialect, room string, files fs.FS) error {
	migrations, err := load(files, path.Join("migrations", dialect))
	if err != nil {
		return fmt.Errorf("migrate %s: %w", room, err)
	}
	if dialect == "postgres" {
		if _, err := tx.ExecContext(ctx, lockPostgres); err != nil {
			return fmt.Errorf("migrate %s: lock: %w", room, err)
		}
	}
	if _, err := tx.ExecContext(ctx, createTable); err != nil {
		return fmt.Errorf("migrate %s: %w", room, err)
	}
	var current int
	if err := tx.QueryRowContext(ctx, selectVersion, room).Scan(&current); err != nil {
		return fmt.Errorf("migrate %s: read version: %w", room, err)
	}
	if latest := migrations[len(migrations)-1].version; current > latest {
		return fmt.Errorf("migrate %s: the database is at version %d and this program knows %d: run a newer program", room, current, latest)
	}
	for _, m := range migrations {
		if m.version <= current {
			continue
		}
		if err := apply(ctx, tx, room, m); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, tx Tx, room string, m migration) error {
	for _, statement := range split(m.sql) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("migrate %s: %s: %w\n%s", room, m.name, err, statement)
		}
	}
	if _, err := tx.ExecContext(ctx, insertVersion, room, m.version, m.name); err != nil {
		return fmt.Errorf("migrate %s: %s: record version: %w", room, m.name, err)
	}
	return nil
}

// split cuts a file into statements: each ends with a semicolon at the end of a line.
func split(text string) []string {
	var statements []string
	for s := range strings.SplitSeq(text+"\n", ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			statements = append(statements, s)
		}
	}
	return statements
}

func load(files fs.FS, dir string) ([]migration, error) {
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
