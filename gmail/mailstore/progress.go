package mailstore

import (
	"cmp"
	"context"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A Progress is how far the syncs of accounts have come: their cursors, backfills and watches. The jobs of package
// gmail keep it.
type Progress struct{ store *Store }

// Progress returns how far the syncs of the accounts have come.
func (s *Store) Progress() Progress { return Progress{s} }

// LockCursor reads the account's cursor and locks it until the transaction ends.
func (p Progress) LockCursor(ctx context.Context, tx queue.Tx, accountID string) (uint64, error) {
	query := sqlCursor
	if string(p.store.db.Dialect()) == "postgres" {
		query = sqlLockCursor
	}
	var cursor int64
	err := maildb.Get(ctx, tx, &cursor, "cursor of account "+accountID, query, accountID)
	return uint64(cursor), err
}

// MoveCursor sets the cursor, which the caller has locked; upToDate reports whether it is Gmail's latest.
func (p Progress) MoveCursor(ctx context.Context, tx queue.Tx, accountID string, to uint64, upToDate bool) error {
	var syncedAt dbtime.Time // zero: as it was
	if upToDate {
		syncedAt = dbtime.Of(queue.Now(tx))
	}
	return maildb.MustExec(ctx, tx, "cursor of account "+accountID, sqlMoveCursor,
		int64(to), syncedAt, dbtime.Of(queue.Now(tx)), accountID)
}

// StartCursor sets the cursor of an account that has none, which the caller has locked, as it was at Gmail at a time by
// Gmail's clock; zero if that is not known. An account cannot have been added later: its DecideSince, by the clock of
// this machine, is corrected, or mail that Gmail receives until then would be left alone.
func (p Progress) StartCursor(ctx context.Context, tx queue.Tx, accountID string, to uint64, at time.Time) error {
	if !at.IsZero() {
		if _, err := maildb.Exec(ctx, tx, "account "+accountID, sqlBoundDecideSince, dbtime.Of(at), accountID,
			dbtime.Of(at.Add(time.Second))); err != nil {
			return err
		}
	}
	return p.MoveCursor(ctx, tx, accountID, to, true)
}

// StartBackfill notes that a backfill has begun, unless one with another query is under way.
func (p Progress) StartBackfill(ctx context.Context, tx queue.Tx, accountID, query string, estimate int64) error {
	if query == "" {
		if _, err := maildb.Exec(ctx, tx, "backfill of account "+accountID, sqlBackfilledAll, dbtime.Of(queue.Now(tx)),
			accountID); err != nil {
			return err
		}
	}
	_, err := maildb.Exec(ctx, tx, "backfill of account "+accountID, sqlStartBackfill, query, estimate,
		dbtime.Of(queue.Now(tx)), accountID)
	return err
}

// MoveBackfill notes that a page was listed, and the one to come; without one the backfill is done. It does nothing
// for a backfill that StartBackfill did not note.
func (p Progress) MoveBackfill(ctx context.Context, tx queue.Tx, accountID, query string,
	page gmailapi.MessagePage) error {
	state := BackfillRunning
	if page.NextPageToken == "" {
		state = BackfillDone
	}
	_, err := maildb.Exec(ctx, tx, "backfill of account "+accountID, sqlMoveBackfill,
		string(state), page.NextPageToken, len(page.IDs), dbtime.Of(queue.Now(tx)), accountID, query)
	return err
}

// FailBackfill notes that no attempt follows: of the backfill that is noted, or of the first one.
func (p Progress) FailBackfill(ctx context.Context, tx queue.Tx, accountID, query string, cause error) error {
	reason := dbvalue.Clean(cmp.Or(cause.Error(), "failed"))
	_, err := maildb.Exec(ctx, tx, "backfill of account "+accountID, sqlFailBackfill, query, reason,
		dbtime.Of(queue.Now(tx)), accountID)
	return err
}

// LoseGrant marks an active account whose grant is revoked, and stops its jobs; it reports whether it did. An account
// whose state has changed since it was read, such as by a new sign-in, is left alone.
func (p Progress) LoseGrant(ctx context.Context, tx queue.Tx, q *queue.Queue, account Account,
	cause error) (bool, error) {
	now := dbtime.Of(queue.Now(tx))
	changed, err := maildb.Exec(ctx, tx, "account "+account.ID, sqlLoseGrant, cause.Error(), now, now, account.ID,
		dbtime.Of(account.Since))
	if err != nil || changed == 0 {
		return false, err
	}
	return true, q.PauseTx(ctx, tx, queue.ForKey(LimitKey(account.ID)))
}

// SetWatch stores until when Gmail publishes the changes of an account.
func (p Progress) SetWatch(ctx context.Context, tx queue.Tx, accountID string, expires time.Time) error {
	return maildb.MustExec(ctx, tx, "watch of account "+accountID, sqlSetWatch, dbtime.Of(expires),
		dbtime.Of(queue.Now(tx)), accountID)
}
