package replies

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

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of this package, replies and reply_changes, or brings them up to date. Call it at every
// start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("replies: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/replies", migrations)
}

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the replies. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Queue enqueues the jobs. Required; it must be one of DB.
	Queue *queue.Queue
}

// A Store keeps replies. It is safe for concurrent use. Each change is made in the caller's transaction, with its line
// of the history and its job. [New] makes a store; the zero Store is unusable.
type Store struct{ cfg Config }

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	err := errors.Join(
		fields.Required("replies: Config.DB", cfg.DB, giveDB),
		fields.Required("replies: Config.Queue", cfg.Queue, "one made by queue.New for the same database"),
	)
	if err != nil {
		return nil, err
	}
	return &Store{cfg: cfg}, nil
}
