package mailstore

import (
	"context"
	"embed"

	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of the packages of gmail, or brings them up to date: those of this package, and those of
// package gmail and gmailapi, which refer to accounts. Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("mailstore: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail", migrations)
}

// A Store keeps accounts, threads, messages and labels. Its reading methods see committed data; its writing methods
// take the caller's transaction. [New] makes a Store; the zero Store is unusable.
type Store struct{ db queue.DB }

// giveDB says where a database comes from.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the mail. Required; [Migrate] must have prepared it.
	DB queue.DB
}

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("mailstore: Config.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	return &Store{db: cfg.DB}, nil
}

// DB returns the database of the store, for packages that keep tables beside its own.
func (s *Store) DB() queue.DB { return s.db }
