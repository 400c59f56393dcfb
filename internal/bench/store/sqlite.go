package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // registers the driver "sqlite3"
)

type sqliteEngine struct {
	dir          string
	durabilities []Durability
}

func (sqliteEngine) Title() string                { return "SQLite" }
func (e sqliteEngine) Durabilities() []Durability { return e.durabilities }

func (sqliteEngine) Check(ctx context.Context) (string, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return "", err
	}
	defer db.Close()
	var version string
	err = db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version)
	return "SQLite " + version + " with a write-ahead log", err
}

func (e sqliteEngine) Make(context.Context) (Place, func() error, error) {
	dir, err := os.MkdirTemp(e.dir, "postroom-bench-")
	if err != nil {
		return Place{}, nil, fmt.Errorf("%w; name a folder that can be written to with -dir", err)
	}
	return Place{Path: filepath.Join(dir, "queue.db")}, func() error { return os.RemoveAll(dir) }, nil
}

// Settle does nothing: SQLite has no delayed work.
func (sqliteEngine) Settle(context.Context, Place) error { return nil }

// OpenSQLite opens a file as the documents of all contenders on mattn/go-sqlite3 advise: a write-ahead log and
// patience.
func OpenSQLite(place Place) (*sql.DB, error) {
	options := url.Values{"_journal_mode": {"WAL"}, "_synchronous": {string(place.Durability)},
		"_busy_timeout": {"5000"}, "_foreign_keys": {"1"}}
	return sql.Open("sqlite3", "file:"+place.Path+"?"+options.Encode())
}
