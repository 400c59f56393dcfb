package ruleschat

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

//go:embed migrations
var migrations embed.FS

// giveDB is the hint for a missing database.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates or updates the tables of this package (rules_chat_sessions, rules_chat_messages). Call it at every
// start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("ruleschat: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "ruleschat", migrations)
}

var (
	// ErrNoProposal reports that a session has no such proposal to accept: the model has made none, or a later one, or
	// it was accepted before.
	ErrNoProposal = errors.New("there is no proposal to accept")
	// ErrChanged reports that the rules differ from those that the proposal was made for.
	ErrChanged = errors.New("the rules have changed since the proposal was made")
	// ErrInvalidText reports that a person's text is blank or too long.
	ErrInvalidText = errors.New("invalid text")
	// ErrTooMany reports that a program has as many proposals that wait as it may.
	ErrTooMany = errors.New("too many proposals")
)

// Config configures a [Chat]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the sessions. Required. Call [Migrate] before.
	DB queue.DB
	// Client calls the model, which must support tools. Default nil: sessions can be read and proposals accepted, and
	// [Chat.Say] returns an error.
	Client llm.Client
	// Kinds are the actions that rules may have. Default nil: the kinds that package gmail carries out.
	Kinds *postroom.Kinds
	// Options are the options for reading rules files, besides Kinds, such as [rulesfile.WithFiles]. Default nil: none.
	Options []rulesfile.ParseOption
	// Temperature is the randomness of the answers. Nil uses the provider's default. Some models refuse it.
	Temperature *float64
}

// A Chat stores sessions in which a person and a model write rules. It is safe for concurrent use. [New] makes one;
// the zero Chat is unusable.
type Chat struct {
	cfg     Config
	options []rulesfile.ParseOption
}

// New makes a chat. It returns an error that names the bad field.
func New(cfg Config) (*Chat, error) {
	err := errors.Join(fields.Required("ruleschat: Config.DB", cfg.DB, giveDB),
		fields.Optional("ruleschat: Config.Client", cfg.Client))
	if err != nil {
		return nil, err
	}
	return &Chat{cfg: cfg, options: append([]rulesfile.ParseOption{rulesfile.WithKinds(cfg.Kinds)}, cfg.Options...)}, nil
}

// A Session is a conversation about the rules of one account.
type Session struct {
	ID        string
	AccountID string // empty: the rules that belong to no account
	By        string // the person who began it
	CreatedAt time.Time
	UpdatedAt time.Time // time of the last message
}

// A Message is a message of a person or the model in a session.
type Message struct {
	SessionID string
	Number    int      // within the session, from 1
	Role      llm.Role // [llm.RoleUser] for the person, [llm.RoleAssistant] for the model
	Text      string
	Model     string    // that answered; empty for a person
	Proposal  *Proposal // nil if there is none
	At        time.Time
}

// A Proposal is a change of rules that a model suggests. It has no effect until a person accepts it.
type Proposal struct {
	Rules  string   // a rules file with the rules to add or to replace; empty if there are none
	Remove []string // the names of rules to remove

	AcceptedBy string    // empty if not accepted
	AcceptedAt time.Time // zero if not accepted

	base, result string // the digests of the file that it was made for, and of the resulting file
}

// Begin begins a session about the rules of an account. by names the person.
func (c *Chat) Begin(ctx context.Context, tx queue.Tx, accountID, by string) (Session, error) {
	id, err := uuid7.New()
	if err != nil {
		return Session{}, err
	}
	now := dbtime.Truncate(queue.Now(tx))
	s := Session{ID: id, AccountID: accountID, By: dbvalue.Clean(by), CreatedAt: now, UpdatedAt: now}
	_, err = tx.ExecContext(ctx, sqlInsertSession, s.ID, s.AccountID, s.By, dbtime.Of(now), dbtime.Of(now))
	return s, failed("begin a session", err)
}

// Delete deletes a session with all its messages. Accepted rules stay.
func (c *Chat) Delete(ctx context.Context, tx queue.Tx, sessionID string) error {
	if err := c.touch(ctx, tx, sessionID); err != nil {
		return err
	}
	_, said := tx.ExecContext(ctx, sqlDeleteMessages, sessionID)
	_, err := tx.ExecContext(ctx, sqlDeleteSession, sessionID)
	return failed("delete session "+sessionID, errors.Join(said, err))
}

// Prune deletes the sessions without a message since before, with all their messages, and returns their number.
// Accepted rules stay.
func (c *Chat) Prune(ctx context.Context, before time.Time) (total int, err error) {
	for {
		var deleted int64
		err := c.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			deleted, err = dbquery.Exec(ctx, tx, sqlPruneSessions, dbtime.Of(before), pruneBatch)
			return err
		})
		if total += int(deleted); err != nil || deleted < pruneBatch {
			return total, failed("prune sessions", err)
		}
	}
}

// pruneBatch is the number of sessions that a transaction deletes: large deletes hold the writer of SQLite.
const pruneBatch = 50

// An Acceptance is a person's acceptance of a proposal.
type Acceptance struct {
	SessionID string
	Number    int    // of the message whose proposal the person has seen, see [Message]
	By        string // names the person
	// Rules is the file that the rules are now read from. Required.
	Rules *rulesfile.File
}

// Accept returns the file with the proposal and records that the person accepts it. Store the returned file in the same
// transaction.
//
// Accept returns [ErrNoProposal] for a proposal that is not the latest of the session, or was accepted before. It
// returns [ErrChanged] if the rules differ from those that the proposal was made for, or if the proposal is not as it
// was shown: after a further message, the model makes a new proposal. If the rules already include the proposal,
// because a host wrote the file and was killed before its transaction ended, Accept returns them unchanged.
func (c *Chat) Accept(ctx context.Context, tx queue.Tx, a Acceptance) (*rulesfile.File, error) {
	if err := fields.Required("ruleschat: Acceptance.Rules", a.Rules,
		"the file that the rules are read from"); err != nil {
		return nil, err
	}
	if err := c.touch(ctx, tx, a.SessionID); err != nil {
		return nil, err
	}
	said, err := messages(ctx, tx, a.SessionID)
	if err != nil {
		return nil, err
	}
	file, err := c.proposed(said, a)
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, sqlAccept, dbvalue.Clean(a.By), dbtime.Of(queue.Now(tx)), a.SessionID, a.Number)
	return file, failed("accept the proposal of session "+a.SessionID, err)
}

// Preview returns the file that [Chat.Accept] would return, and the same errors. It records nothing.
func (c *Chat) Preview(ctx context.Context, a Acceptance) (*rulesfile.File, error) {
	if err := fields.Required("ruleschat: Acceptance.Rules", a.Rules,
		"the file that the rules are read from"); err != nil {
		return nil, err
	}
	said, err := c.Messages(ctx, a.SessionID)
	if err != nil {
		return nil, err
	}
	return c.proposed(said, a)
}

// proposed returns the file with the proposal of a session.
func (c *Chat) proposed(said []Message, a Acceptance) (*rulesfile.File, error) {
	p, err := open(said, a.Number)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", a.SessionID, err)
	}
	file := a.Rules
	switch digest(a.Rules) {
	case p.result:
	case p.base:
		if file, err = c.apply(a.Rules, p); err == nil && digest(file) != p.result {
			err = fmt.Errorf("%w: what it makes of them is other than the one that was shown; say what you want once more",
				ErrChanged)
		}
	default:
		err = fmt.Errorf("%w; say what you want once more", ErrChanged)
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", a.SessionID, err)
	}
	return file, nil
}

// open returns the proposal of the message, if it is the latest and not accepted.
func open(said []Message, number int) (*Proposal, error) {
	for i := len(said) - 1; i >= 0; i-- {
		m := &said[i]
		switch p := m.Proposal; {
		case p == nil:
		case !p.AcceptedAt.IsZero():
			return nil, fmt.Errorf("%w: that of message %d is accepted", ErrNoProposal, m.Number)
		case m.Number != number:
			return nil, fmt.Errorf("%w: the latest is that of message %d, not of %d; look at it first", ErrNoProposal,
				m.Number, number)
		default:
			return p, nil
		}
	}
	return nil, ErrNoProposal
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("ruleschat: %s: %w", what, err)
}
