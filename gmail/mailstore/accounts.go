package mailstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// provider is the value of the column accounts.provider for the accounts of this package.
const provider = "gmail"

// An Account is one mailbox that is kept in sync.
type Account struct {
	ID    string // ours, a UUID
	Email string // in lower case

	// HistoryID is the cursor: every change up to it has been enqueued. It is 0 until the first page of a backfill.
	HistoryID uint64
	// LastSyncAt is the last time at which the cursor was Gmail's latest; zero if never.
	LastSyncAt time.Time

	Backfill Backfill
	// WatchExpiresAt is when Gmail stops to publish the account's changes; zero if it was never asked to; see
	// gmail.NewWatchJob.
	WatchExpiresAt time.Time

	// BackfilledAll reports whether a backfill of all mail was ever begun.
	BackfilledAll bool

	// State says whether the jobs of the account run. Reason says to people why they do not, and Since is when the state
	// began.
	State  AccountState
	Reason string
	Since  time.Time

	// DecideSince is when the account was added: mail that Gmail had received before is stored, and handed on to no
	// decider. Zero: all mail is handed on.
	DecideSince time.Time

	// SetupError says to people why the account could not be set up, so that nothing is decided about its mail; empty if
	// it could, or was not tried. Package pipeline writes it.
	SetupError string

	// Scopes are what a person has granted, as the host has said with [Store.SetScopes]; nil if it has not.
	Scopes []string

	CreatedAt time.Time
	UpdatedAt time.Time
}

// A Backfill is the progress of the listing of older messages.
type Backfill struct {
	State BackfillState
	Error string // why it has failed
	Query string // the search that it lists; empty for all mail
	// Page is the token of the next page; empty before the second page and when done.
	Page string

	Pages    int // listed so far
	Messages int // on the pages listed so far
	// Estimate is Gmail's guess at the number of messages on all pages, made at the first page. For all mail it is the
	// number of messages of the mailbox, spam and trash included; for a search Gmail does not count far.
	Estimate int
}

// A BackfillState is the state of a backfill.
type BackfillState string

// The states of a backfill.
const (
	BackfillNone    BackfillState = "none" // none was ever begun
	BackfillRunning BackfillState = "running"
	BackfillDone    BackfillState = "done"
	// BackfillFailed: no further attempt follows. A job of NewBackfillJob with its Query and Page continues where it
	// stopped.
	BackfillFailed BackfillState = "failed"
)

type accountRow struct {
	ID            string        `db:"id"`
	Email         string        `db:"email"`
	HistoryID     int64         `db:"history_id"`
	BackfillState BackfillState `db:"backfill_state"`
	BackfillQuery string        `db:"backfill_query"`
	BackfillPage  string        `db:"backfill_page"`
	BackfilledAll bool          `db:"backfilled_all"`
	Pages         int           `db:"backfill_pages"`
	Messages      int           `db:"backfill_messages"`
	Estimate      int           `db:"backfill_estimate"`
	BackfillError string        `db:"backfill_error"`
	WatchExpires  dbtime.Time   `db:"watch_expires_at"`
	LastSyncAt    dbtime.Time   `db:"last_sync_at"`
	State         AccountState  `db:"state"`
	StateReason   string        `db:"state_reason"`
	StateSince    dbtime.Time   `db:"state_since"`
	GrantedScopes string        `db:"granted_scopes"` // with blanks between, as in OAuth
	DecideSince   dbtime.Time   `db:"decide_since"`
	SetupError    string        `db:"setup_error"`
	CreatedAt     dbtime.Time   `db:"created_at"`
	UpdatedAt     dbtime.Time   `db:"updated_at"`
}

func (r accountRow) backfill() Backfill {
	b := Backfill{
		State: r.BackfillState, Error: r.BackfillError, Query: r.BackfillQuery, Page: r.BackfillPage, Pages: r.Pages,
		Messages: r.Messages, Estimate: r.Estimate,
	}
	if b.Error != "" {
		b.State = BackfillFailed
	}
	return b
}

func (r accountRow) account() Account {
	return Account{
		ID: r.ID, Email: r.Email, HistoryID: uint64(r.HistoryID), LastSyncAt: r.LastSyncAt.Time, Backfill: r.backfill(),
		WatchExpiresAt: r.WatchExpires.Time, BackfilledAll: r.BackfilledAll,
		State: r.State, Reason: r.StateReason, Since: r.StateSince.Time, Scopes: scopesOf(r.GrantedScopes),
		DecideSince: r.DecideSince.Time, SetupError: r.SetupError, CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time,
	}
}

// EnsureAccount returns the id of the account with the address, and creates the account if it does not exist. The
// case of addresses is ignored. An account that is being removed is an error.
//
// since is for an account that is created: mail that Gmail received before is stored, so that searches, backtests and
// conditions such as sender_seen know it, and is not decided about, until somebody applies rules to it (rules.Apply).
// Give the time of the sign-in. A zero time has all mail decided about, as of a mailbox that is imported to be sorted.
func (s *Store) EnsureAccount(ctx context.Context, tx queue.Tx, email string, since time.Time) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if !strings.Contains(email, "@") {
		return "", fmt.Errorf("gmail: account %q: an account is named by its address", email)
	}
	id, err := uuid7.New()
	if err != nil {
		return "", err
	}
	now := dbtime.Of(queue.Now(tx))
	err = maildb.Get(ctx, tx, &id, "account "+email, sqlEnsureAccount, id, provider, email,
		dbtime.Of(since.Truncate(time.Second)), now, now) // Gmail's times of receipt are often of whole seconds
	if errors.Is(err, postroom.ErrNotFound) {
		return "", errRemoving(email)
	}
	return id, err
}

func scopesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Fields(text)
}

// SetScopes stores what a person has granted for an account, such as the scopes of an auth.Grant: call it after each
// sign-in. A missing account is [postroom.ErrNotFound].
func (s *Store) SetScopes(ctx context.Context, tx queue.Tx, accountID string, scopes []string) error {
	return maildb.MustExec(ctx, tx, "account "+accountID, sqlSetScopes, strings.Join(scopes, " "),
		dbtime.Of(queue.Now(tx)), accountID)
}

// SetSetupError stores why an account cannot be set up; empty if it can. A missing account is [postroom.ErrNotFound].
func (s *Store) SetSetupError(ctx context.Context, tx queue.Tx, accountID, why string) error {
	return maildb.MustExec(ctx, tx, "account "+accountID, sqlSetSetupError, dbvalue.Clean(why), dbtime.Of(queue.Now(tx)),
		accountID)
}

// Account returns one account, or [postroom.ErrNotFound].
func (s *Store) Account(ctx context.Context, id string) (Account, error) {
	var row accountRow
	err := maildb.Get(ctx, s.db.Reader(), &row, "account "+id, sqlAccount, id)
	return row.account(), err
}

// AccountTx is [Store.Account] in a transaction.
func (s *Store) AccountTx(ctx context.Context, tx queue.Tx, id string) (Account, error) {
	var row accountRow
	err := maildb.Get(ctx, tx, &row, "account "+id, sqlAccount, id)
	return row.account(), err
}

// AccountByEmail returns the account with the address, compared without regard to case, or [postroom.ErrNotFound].
func (s *Store) AccountByEmail(ctx context.Context, email string) (Account, error) {
	var row accountRow
	key := strings.ToLower(strings.TrimSpace(email))
	err := maildb.Get(ctx, s.db.Reader(), &row, "account "+email, sqlAccountByEmail, provider, key)
	return row.account(), err
}

// Accounts lists all accounts, by address.
func (s *Store) Accounts(ctx context.Context) ([]Account, error) {
	var rows []accountRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlAccounts, provider); err != nil {
		return nil, fmt.Errorf("gmail: accounts: %w", err)
	}
	accounts := make([]Account, len(rows))
	for i, row := range rows {
		accounts[i] = row.account()
	}
	return accounts, nil
}
