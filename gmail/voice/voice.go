package voice

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, voice_profiles and voice_lessons, or brings them up to date. Call it at
// every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	err := fields.Required("voice: Migrate: db", db, "a database opened with queue/sqlite or queue/postgres")
	if err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/voice", migrations)
}

// Material is what a profile is learned from. All of it is the owner's own words, but for what Lesson.Removed has.
type Material struct {
	AccountID string
	Mail      []string // what the owner has written in mail, the newest first
	Lessons   []Lesson // the newest first
}

// A Learner writes a profile.
type Learner interface {
	// Learn describes how the owner writes. What exceeds [MaxProfile] characters is cut off. A blank text means that
	// nothing was learned. An error is tried again.
	Learn(ctx context.Context, m Material) (string, error)
}

// A LearnerFunc is a function used as [Learner].
type LearnerFunc func(ctx context.Context, m Material) (string, error)

// Learn calls f.
func (f LearnerFunc) Learn(ctx context.Context, m Material) (string, error) { return f(ctx, m) }

// Config configures a [Service]. It is copied and checked once, by [New].
type Config struct {
	// Store holds the mail. Required; [Migrate] must have prepared its database.
	Store *mailstore.Store
	// Queue enqueues the jobs. Required; it must be one of the database of the Store.
	Queue *queue.Queue
	// Learner writes the profiles. Required.
	Learner Learner
	// Logger logs why a profile was not learned. Default [slog.Default].
	Logger *slog.Logger
}

// A Service keeps profiles and lessons. It is safe for concurrent use. [New] makes one; the zero Service is unusable.
type Service struct{ cfg Config }

// New makes a service; a missing field is an error that names it.
func New(cfg Config) (*Service, error) {
	err := errors.Join(
		fields.Required("voice: Config.Store", cfg.Store, "the store of mail, made by mailstore.New"),
		fields.Required("voice: Config.Queue", cfg.Queue, "one made by queue.New for the same database"),
		fields.Required("voice: Config.Learner", cfg.Learner, "what writes the profiles, such as a LearnerFunc"),
	)
	if err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return &Service{cfg}, nil
}

// Register registers the handler of [JobLearn], with the options.
func (s *Service) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	if err := fields.Required("voice: Register: the Dispatcher", d, "one made by queue.NewDispatcher"); err != nil {
		return err
	}
	queue.Handle(d, JobLearn, s.learn, opts...)
	return nil
}

const (
	sqlForgetProfiles = `DELETE FROM voice_profiles WHERE account_id = $1`
	sqlForgetLessons  = `DELETE FROM voice_lessons WHERE account_id = $1`
)

// Forget deletes what this package keeps of an account.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetProfiles, sqlForgetLessons} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("voice: forget account %s: %w", accountID, err)
		}
	}
	return nil
}
