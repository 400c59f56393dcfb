package gmail

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package (accounts, threads, messages, broken_messages, labels) or brings them up to
// date. It may be called at every start, by several processes at once.
func Migrate(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail", migrations)
}

// A Store keeps accounts, threads, messages and labels. What it writes, it writes in the caller's transaction; what it
// reads is what has been committed.
type Store struct{ db queue.DB }

// NewStore makes a store on a database whose tables [Migrate] has made.
func NewStore(db queue.DB) *Store { return &Store{db: db} }

// newID makes the id of a new row: a UUIDv7, so that ids sort by age.
func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// get reads one row; no row is [postroom.ErrNotFound], with what names the thing looked for.
func get(ctx context.Context, q dbquery.Querier, dest any, what, query string, args ...any) error {
	err := dbquery.Get(ctx, q, dest, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("gmail: %s: %w", what, postroom.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("gmail: %s: %w", what, err)
	}
	return nil
}

// exec runs a statement and tells how many rows it changed.
func exec(ctx context.Context, tx queue.Tx, what, statement string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("gmail: %s: %w", what, err)
	}
	return result.RowsAffected()
}

// mustExec is exec for a row that has to be there.
func mustExec(ctx context.Context, tx queue.Tx, what, statement string, args ...any) error {
	changed, err := exec(ctx, tx, what, statement, args...)
	if err == nil && changed == 0 {
		err = fmt.Errorf("gmail: %s: %w", what, postroom.ErrNotFound)
	}
	return err
}
