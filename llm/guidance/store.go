package guidance

import (
	"context"
	"embed"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the table of this package, instructions, or brings it up to date. Call it at every start; several processes may do
// so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("llm/guidance: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "llm/guidance", migrations)
}

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the instructions. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Kinds are the actions that an instruction may forbid. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds
}

// A Store keeps instructions. It is safe for concurrent use. A missing instruction is [postroom.ErrNotFound]. [New] makes a
// store; the zero Store is unusable.
type Store struct{ cfg Config }

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("llm/guidance: Config.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	return &Store{cfg: cfg}, nil
}
