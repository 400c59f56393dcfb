package tasks

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the table of this package, tasks, or brings it up to date. Call it at every start; several processes
// may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("tasks: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/tasks", migrations)
}

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the tasks. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// A Store keeps tasks. It is safe for concurrent use. [New] makes one.
type Store struct {
	db  queue.DB
	now func() time.Time
}

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("tasks: Config.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Store{db: cfg.DB, now: cfg.Now}, nil
}

// Task returns a task, or [postroom.ErrNotFound].
func (s *Store) Task(ctx context.Context, id string) (Task, error) {
	var row taskRow
	err := dbquery.Get(ctx, s.db.Reader(), &row, sqlTask, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Task{}, fmt.Errorf("tasks: read task %s: %w", id, err)
	}
	return row.task(), nil
}

// A Filter selects tasks. The zero value selects the open and the closed ones of all accounts.
type Filter struct {
	AccountID string // empty means all
	OpenOnly  bool
	// Before continues a list: the id of the last task of the page before. Default: the first page.
	Before string
	// Limit is the most tasks that are listed, from 1 to 1000. Default 50.
	Limit int
}

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// List returns tasks, those whose actions were decided last first.
func (s *Store) List(ctx context.Context, f Filter) ([]Task, error) {
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if f.Limit < 0 || f.Limit > maxLimit {
		return nil, fmt.Errorf("tasks: list: Filter.Limit is %d; it must be from 1 to %d, or 0 for %d", f.Limit, maxLimit,
			defaultLimit)
	}
	var where maildb.Filter
	where.Add("1 = 1")
	if f.AccountID != "" {
		where.Add("account_id = %s", f.AccountID)
	}
	if f.OpenOnly {
		where.Add("closed_at IS NULL")
	}
	if f.Before != "" {
		where.Add("id < %s", f.Before)
	}
	query := "SELECT " + columns + "\nFROM tasks" + where.Where() + "\nORDER BY id DESC\nLIMIT " + where.Arg(f.Limit)
	var rows []taskRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, where.Args...); err != nil {
		return nil, fmt.Errorf("tasks: list: %w", err)
	}
	list := make([]Task, len(rows))
	for i := range rows {
		list[i] = rows[i].task()
	}
	return list, nil
}

// Close marks a task as done by the person, who is named for those who look later. It reports whether the task was
// open; one that is closed stays as it was. A missing task is [postroom.ErrNotFound].
func (s *Store) Close(ctx context.Context, id, by string) (closed bool, err error) {
	return s.change(ctx, "close", id, sqlClose, dbtime.Of(s.now()), by)
}

// Reopen makes a closed task one that is yet to be done. It reports whether the task was closed. A missing task is
// [postroom.ErrNotFound].
func (s *Store) Reopen(ctx context.Context, id string) (reopened bool, err error) {
	return s.change(ctx, "reopen", id, sqlReopen)
}

func (s *Store) change(ctx context.Context, what, id, statement string, args ...any) (changed bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		n, err := maildb.Exec(ctx, tx, what, statement, append([]any{id}, args...)...)
		changed = n > 0
		return err
	})
	if err == nil && !changed {
		_, err = s.Task(ctx, id)
	}
	if err != nil {
		return false, fmt.Errorf("tasks: %s task %s: %w", what, id, err)
	}
	return changed, nil
}

// Forget removes the tasks of an account in the caller's transaction.
func (s *Store) Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := dbquery.Exec(ctx, tx, sqlForget, accountID); err != nil {
		return fmt.Errorf("tasks: forget account %s: %w", accountID, err)
	}
	return nil
}
