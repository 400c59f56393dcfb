package gmail

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
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

	CreatedAt time.Time
	UpdatedAt time.Time
}

// A Backfill is the progress of the listing of older messages.
type Backfill struct {
	State BackfillState
	Query string // the search that it lists; empty for all mail
	// Page is the token of the next page; empty before the second page and when done.
	Page string
}

// A BackfillState is the state of a backfill.
type BackfillState string

// The states of a backfill.
const (
	BackfillNone    BackfillState = "none" // none was ever begun
	BackfillRunning BackfillState = "running"
	BackfillDone    BackfillState = "done"
)

type accountRow struct {
	ID            string        `db:"id"`
	Email         string        `db:"email"`
	HistoryID     int64         `db:"history_id"`
	BackfillState BackfillState `db:"backfill_state"`
	BackfillQuery string        `db:"backfill_query"`
	BackfillPage  string        `db:"backfill_page"`
	LastSyncAt    dbtime.Time   `db:"last_sync_at"`
	CreatedAt     dbtime.Time   `db:"created_at"`
	UpdatedAt     dbtime.Time   `db:"updated_at"`
}

func (r accountRow) account() Account {
	return Account{
		ID: r.ID, Email: r.Email, HistoryID: uint64(r.HistoryID), LastSyncAt: r.LastSyncAt.Time,
		Backfill:  Backfill{State: r.BackfillState, Query: r.BackfillQuery, Page: r.BackfillPage},
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time,
	}
}

// EnsureAccount returns the id of the account with the address, and creates the account if there is none. Addresses are
// compared without regard to case.
func (s *Store) EnsureAccount(ctx context.Context, tx queue.Tx, email string) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if !strings.Contains(email, "@") {
		return "", fmt.Errorf("gmail: account %q: an account is named by its address", email)
	}
	id, err := uuid7.New()
	if err != nil {
		return "", err
	}
	now := dbtime.Of(queue.Now(tx))
	err = get(ctx, tx, &id, "account "+email, sqlEnsureAccount, id, provider, email, now, now)
	return id, err
}

// Account returns one account, or [postroom.ErrNotFound].
func (s *Store) Account(ctx context.Context, id string) (Account, error) {
	var row accountRow
	err := get(ctx, s.db.Reader(), &row, "account "+id, sqlAccount, id)
	return row.account(), err
}

// AccountByEmail returns the account with the address, compared without regard to case, or [postroom.ErrNotFound].
func (s *Store) AccountByEmail(ctx context.Context, email string) (Account, error) {
	var row accountRow
	key := strings.ToLower(strings.TrimSpace(email))
	err := get(ctx, s.db.Reader(), &row, "account "+email, sqlAccountByEmail, provider, key)
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

// lockCursor reads the account's cursor and locks it until the transaction ends.
func (s *Store) lockCursor(ctx context.Context, tx queue.Tx, accountID string) (uint64, error) {
	var cursor int64
	err := get(ctx, tx, &cursor, "cursor of account "+accountID, sqlLockCursor, accountID)
	return uint64(cursor), err
}

// moveCursor sets the cursor, which the caller has locked; upToDate reports whether it is Gmail's latest.
func (s *Store) moveCursor(ctx context.Context, tx queue.Tx, accountID string, to uint64, upToDate bool) error {
	var syncedAt dbtime.Time // zero: as it was
	if upToDate {
		syncedAt = dbtime.Of(queue.Now(tx))
	}
	return mustExec(ctx, tx, "cursor of account "+accountID, sqlMoveCursor,
		int64(to), syncedAt, dbtime.Of(queue.Now(tx)), accountID)
}

// startBackfill notes that a backfill has begun, unless one with another query is under way.
func (s *Store) startBackfill(ctx context.Context, tx queue.Tx, accountID, query string) error {
	_, err := exec(ctx, tx, "backfill of account "+accountID, sqlStartBackfill, query, dbtime.Of(queue.Now(tx)), accountID)
	return err
}

// moveBackfill notes the page to come, or with an empty one that the backfill is done. It does nothing for a backfill
// that [Store.startBackfill] did not note.
func (s *Store) moveBackfill(ctx context.Context, tx queue.Tx, accountID, query, next string) error {
	state := BackfillRunning
	if next == "" {
		state = BackfillDone
	}
	_, err := exec(ctx, tx, "backfill of account "+accountID, sqlMoveBackfill,
		string(state), next, dbtime.Of(queue.Now(tx)), accountID, query)
	return err
}
