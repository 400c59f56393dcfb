package mailstore

import (
	"context"
	"embed"
	"errors"

	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package (accounts, threads, messages, broken_messages, labels, and those of searches, of
// reconciliations and of outbound messages) or brings them up to date. Call it at every start; several processes may do so at
// once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("gmail: Migrate: db", db, giveDB); err != nil {
		return err
	}
	if err := migrate.Up(ctx, db, string(db.Dialect()), "gmail", migrations); err != nil {
		return err
	}
	return errors.Join(fillSenderKeys(ctx, db), fillOriginals(ctx, db))
}

// A Store keeps accounts, threads, messages and labels. Its reading methods see committed data; its writing methods take the
// caller's transaction. [NewStore] makes a Store; the zero Store is unusable.
type Store struct{ db queue.DB }

// giveDB says where a database comes from.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

// StoreConfig configures a [Store]. It is copied and checked once, by [NewStore].
type Config struct {
	// DB holds the mail. Required; [Migrate] must have prepared it.
	DB queue.DB
}

// NewStore makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("gmail: StoreConfig.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	return &Store{db: cfg.DB}, nil
}

// DB returns the database of the store, for packages that keep tables beside its own.
func (s *Store) DB() queue.DB { return s.db }
