package lessons

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of this package, feedback, learned_rules and decision_drift, or brings them up to date.
// Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("lessons: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "rules/lessons", migrations)
}

// An Account is a mailbox whose corrections are learned from.
type Account struct {
	ID    string
	Email string // its own mail teaches nothing
	// SharesRules has the names of rules end with the Email: other mailboxes have theirs in the same file, in which names
	// are unique.
	SharesRules bool
}

// Mail is the stored mail of accounts.
type Mail interface {
	// Message returns a message, or [postroom.ErrNotFound].
	Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
	// Messages yields the messages that were received since an instant, without those that were sent, thrown away or
	// put into spam. An error is yielded last.
	Messages(ctx context.Context, accountID string, since time.Time) iter.Seq2[*postroom.Message, error]
}

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the tables. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Mail is read for what corrections are about, and tried on. Required.
	Mail Mail
	// Account returns an account, or [postroom.ErrNotFound]. Required.
	Account func(ctx context.Context, accountID string) (Account, error)
	// Rules returns the rules in use of an account. Required.
	Rules func(ctx context.Context, accountID string) ([]rules.Rule, error)
	// Labels returns the labels of an account: no rule is learned for one that is gone. Required.
	Labels func(ctx context.Context, accountID string) ([]postroom.Label, error)
	// Apply makes a learned rule one of those in use, by [Store.Accept] in the transaction that does so. It is called for
	// rules of the class high that have matched enough in shadow. Default nil: no rule is applied before a person has
	// accepted it.
	Apply func(ctx context.Context, id string) error

	// From returns the addresses of the senders of stored messages, by their ids, at most 100 at a time: [Store.Examples]
	// then reads no mail of others. Default nil: it reads each message that was corrected.
	From func(ctx context.Context, accountID string, messageIDs []string) (map[string]string, error)

	// Acted lists the messages on which a rule, or the models of an account, have acted last, the newest first. Default
	// nil: a drift is not looked for.
	Acted func(ctx context.Context, tx queue.Tx, q Acting) ([]string, error)
	// Thread returns the conversation of a message: corrections of several messages of one count once for a drift. Empty
	// or [postroom.ErrNotFound] if it is not known. Default nil: each message counts.
	Thread func(ctx context.Context, tx queue.Tx, accountID, messageID string) (string, error)
	// Drifted is called when a rule or the models of an account begin to warn or to ask, in the transaction of the
	// correction or of the answer for those in bulk; an error rolls that back. It is also called, with [DriftRight], when
	// corrections that had made it warn or ask turn out to be in bulk, and do not count. Default nil: no call.
	Drifted func(ctx context.Context, tx queue.Tx, d Drift) error

	// Kinds are the actions that are carried out. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds
	// Senders and History are those of [rules.EngineConfig], for the rules in use. Default nil: rules that ask for them
	// are taken for ones that never match when learned rules are tried.
	Senders rules.Senders
	History rules.History
	// Logger receives what was learned. Default [slog.Default].
	Logger *slog.Logger
}

// A Store keeps what people have corrected, and the rules that were learned of it. It is safe for concurrent use.
// [New] makes one.
type Store struct{ cfg Config }

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	err := errors.Join(
		fields.Required("lessons: Config.DB", cfg.DB, giveDB),
		fields.Required("lessons: Config.Mail", cfg.Mail, "the stored mail"),
		fields.Required("lessons: Config.Account", cfg.Account, "a function that returns an account"),
		fields.Required("lessons: Config.Rules", cfg.Rules, "a function that returns the rules in use"),
		fields.Required("lessons: Config.Labels", cfg.Labels, "a function that returns the labels of an account"),
		fields.Optional("lessons: Config.Senders", cfg.Senders),
		fields.Optional("lessons: Config.History", cfg.History),
	)
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Store{cfg: cfg}, nil
}

// Forget removes what is kept of an account in the caller's transaction. Rules that were accepted stay where they are.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetFeedback, sqlForgetRules, sqlForgetDrift} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("lessons: forget account %s: %w", accountID, err)
		}
	}
	return nil
}
