package away

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, absences, absence_answers and absence_unanswered, or brings them up to
// date. Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	err := fields.Required("away: Migrate: db", db, "a database opened with queue/sqlite or queue/postgres")
	if err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/away", migrations)
}

// Correspondents knows to whom the owner has written; senders.Correspondents implements it.
type Correspondents interface {
	// WrittenTo reports whether a person has written to the address from the account.
	WrittenTo(ctx context.Context, accountID, email string) (bool, error)
}

// Config configures a [Service]. It is copied and checked once, by [New].
type Config struct {
	// Store holds the mail, in a database that [Migrate] has prepared. Required.
	Store *mailstore.Store
	// Clients returns the client of an account: Gmail knows the addresses of a mailbox. Required.
	Clients gmailapi.Clients
	// Correspondents knows to whom the owner has written. Required.
	Correspondents Correspondents
	// Cancel cancels an action of the ledger that has not begun, and leaves any other alone. It is called for the answers
	// of an absence that somebody ends, in that transaction. Default nil: they are canceled when they would be sent.
	Cancel func(ctx context.Context, tx queue.Tx, actionID, reason string) error
	// CancelExpired cancels an action of the ledger that waits for a person who was asked in vain, since the request has
	// expired, and leaves any other alone. It is called for the answer that has the turn of a sender when the sender
	// writes again, in the transaction of that decision. Default nil: such an answer keeps the turn until it is rejected.
	CancelExpired func(ctx context.Context, tx queue.Tx, actionID, reason string) error
	// PerDay is how many answers a mailbox gives at most within 24 hours. Default 100; at least 1.
	PerDay int
	// Now is the clock. Default [time.Now].
	Now func() time.Time
	// Logger logs that no more is answered for a day, and that Gmail does not say the addresses of a mailbox. Default
	// [slog.Default].
	Logger *slog.Logger
}

// A Service keeps the absences, and decides by them. It is safe for concurrent use. [New] makes one; the zero
// Service is unusable.
type Service struct {
	cfg Config

	mu  sync.Mutex
	own map[string]ownAddresses // by the id of the account
}

// New makes a service; a bad configuration is an error that names the field.
func New(cfg Config) (*Service, error) {
	cfg.PerDay = cmp.Or(cfg.PerDay, 100)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	err := errors.Join(
		fields.Required("away: Config.Store", cfg.Store, "a store made by mailstore.New"),
		fields.Required("away: Config.Clients", cfg.Clients, "what finds an account's client, such as a "+
			"gmailapi.ClientsFunc"),
		fields.Required("away: Config.Correspondents", cfg.Correspondents, "what knows to whom the owner has written, such "+
			"as senders.Correspondents"),
	)
	if cfg.PerDay < 1 {
		err = errors.Join(err, fmt.Errorf("away: Config.PerDay is %d; it must be at least 1, or 0 for the default", cfg.PerDay))
	}
	if err != nil {
		return nil, err
	}
	return &Service{cfg: cfg, own: map[string]ownAddresses{}}, nil
}

// An InvalidError is the error of an absence that cannot be set as it is.
type InvalidError struct{ Reason error }

// Error says what is wrong, and what to say instead.
func (e *InvalidError) Error() string { return "away: " + e.Reason.Error() }

// Unwrap returns the Reason.
func (e *InvalidError) Unwrap() error { return e.Reason }

// Check returns an [*InvalidError] if [Service.Set] would refuse the absence, and otherwise the absence as Set would
// store it.
func (s *Service) Check(a Absence) (Absence, error) {
	if err := a.prepare(s.cfg.Now()); err != nil {
		return a, &InvalidError{err}
	}
	return a, nil
}

// Set switches an absence on, or changes the one of the mailbox, and returns it as it is stored. One that cannot
// be set as it is is an [*InvalidError], and so is one that would begin later while another is on.
func (s *Service) Set(ctx context.Context, tx queue.Tx, a Absence) (Absence, error) {
	a, err := s.Check(a)
	if err != nil {
		return a, err
	}
	if err := s.hasMailbox(ctx, tx, a.AccountID); err != nil {
		return a, err
	}
	if err := s.mayReplace(ctx, tx, &a); err != nil {
		return a, err
	}
	if a.ID, err = uuid7.New(); err != nil {
		return a, err
	}
	_, err = dbquery.Exec(ctx, tx, sqlSet, a.AccountID, a.ID, dbvalue.Clean(a.Text), a.Days, string(a.Audience),
		dbtime.Of(a.From), dbtime.Of(a.Until), dbtime.Of(s.cfg.Now()), dbvalue.Clean(a.SetBy))
	if err != nil {
		return a, fmt.Errorf("away: set the absence of account %s: %w", a.AccountID, err)
	}
	stored, err := absenceOf(ctx, tx, sqlAbsence, a.AccountID)
	if err != nil {
		return a, err
	}
	return *stored, nil
}

// hasMailbox returns an [*InvalidError] for an account that does not exist, or is being removed.
func (s *Service) hasMailbox(ctx context.Context, tx queue.Tx, accountID string) error {
	account, err := s.cfg.Store.AccountTx(ctx, tx, accountID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return &InvalidError{fmt.Errorf("there is no mailbox %s; add it first", accountID)}
	case err != nil:
		return err
	case account.State == mailstore.AccountRemoving:
		return &InvalidError{fmt.Errorf("the mailbox %s is being removed", account.Email)}
	}
	return nil
}

// mayReplace returns an [*InvalidError] if an absence would end the one that is on: a mailbox has one.
func (s *Service) mayReplace(ctx context.Context, tx queue.Tx, a *Absence) error {
	now := s.cfg.Now()
	on, err := absenceOf(ctx, tx, sqlAbsence, a.AccountID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return nil
	case err != nil:
		return err
	case on.On(now) && a.From.After(now):
		return &InvalidError{fmt.Errorf("it would begin on %s, and the one that is on lasts until %s; leave out the first "+
			"day to change that, or end it first", a.From.Local().Format(time.DateOnly), on.LastDay())}
	}
	return nil
}

// End ends the absence of a mailbox before its date, and cancels its answers that wait. It reports whether there was
// one.
func (s *Service) End(ctx context.Context, tx queue.Tx, accountID, by string) (ended bool, err error) {
	n, err := dbquery.Exec(ctx, tx, sqlEnd, accountID, dbtime.Of(s.cfg.Now()), dbvalue.Clean(by))
	if err != nil {
		return false, fmt.Errorf("away: end the absence of account %s: %w", accountID, err)
	}
	if n == 0 || s.cfg.Cancel == nil {
		return n > 0, nil
	}
	return true, s.cancelAnswers(ctx, tx, accountID)
}

// cancelAnswers cancels the answers of an absence that has ended.
func (s *Service) cancelAnswers(ctx context.Context, tx queue.Tx, accountID string) error {
	a, err := absenceOf(ctx, tx, sqlAbsence, accountID)
	if err != nil {
		return err
	}
	var ids []string
	if err := dbquery.Select(ctx, tx, &ids, sqlAnswers, accountID, dbtime.Of(a.Since)); err != nil {
		return fmt.Errorf("away: list the answers of account %s: %w", accountID, err)
	}
	for _, id := range ids {
		if err := s.cfg.Cancel(ctx, tx, id, a.back()); err != nil {
			return fmt.Errorf("away: cancel the answer %s: %w", id, err)
		}
	}
	return nil
}

// Absence returns the last absence of a mailbox, which may be over, or [postroom.ErrNotFound].
func (s *Service) Absence(ctx context.Context, accountID string) (Absence, error) {
	a, err := absenceOf(ctx, s.db().Reader(), sqlAbsence, accountID)
	if err != nil {
		return Absence{}, err
	}
	return *a, nil
}

// Answered counts the senders who were answered since an instant.
func (s *Service) Answered(ctx context.Context, accountID string, since time.Time) (int, error) {
	return countAnswers(ctx, s.db().Reader(), accountID, since)
}

// Forget removes what is known of an account that is removed.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForget, sqlForgetAnswers, sqlForgetUnanswered} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("away: forget account %s: %w", accountID, err)
		}
	}
	return nil
}

func (s *Service) db() queue.DB { return s.cfg.Store.DB() }

func absenceOf(ctx context.Context, q dbquery.Querier, query, id string) (*Absence, error) {
	var r row
	err := dbquery.Get(ctx, q, &r, query, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("away: read the absence of %s: %w", id, err)
	}
	return r.absence(), nil
}

func countAnswers(ctx context.Context, q dbquery.Querier, accountID string, since time.Time) (n int, err error) {
	if err := dbquery.Get(ctx, q, &n, sqlCountAnswers, accountID, dbtime.Of(since)); err != nil {
		return 0, fmt.Errorf("away: count the answers of account %s: %w", accountID, err)
	}
	return n, nil
}
