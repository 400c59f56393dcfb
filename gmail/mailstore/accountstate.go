package mailstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// An AccountState says whether the jobs of an account run.
type AccountState string

// The states of an account.
const (
	// AccountActive: its jobs run.
	AccountActive AccountState = "active"
	// AccountPaused: a person has paused it ([Store.Pause]).
	AccountPaused AccountState = "paused"
	// AccountReauthorize: its grant is gone, and a person has to sign in again.
	AccountReauthorize AccountState = "reauthorize"
	// AccountRemoving: [Store.RemoveAccount] has begun and not ended.
	AccountRemoving AccountState = "removing"
)

// LimitKey returns the limit key of the jobs of package gmail for an account. If the host's own jobs use this key,
// they also wait while the account is paused, and are canceled when it is removed. queue.ForKeyPrefix("gmail:")
// limits how many jobs of each account run at once.
func LimitKey(accountID string) string { return "gmail:" + accountID }

// Pause keeps the jobs of an account from running, until [Store.Resume]. They wait without spending attempts; new
// ones can be enqueued. Running jobs continue. Pausing a paused account changes its reason. A missing account is
// [postroom.ErrNotFound], and an account that is being removed keeps that state.
func (s *Store) Pause(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID, reason string) error {
	return s.moveState(ctx, tx, q, accountID, AccountPaused, reason)
}

// Resume lets the jobs of an account run again, at once, after a pause or a revoked grant. Call it when a person has
// signed in again. Resuming an active account is no error. A missing account is [postroom.ErrNotFound], and an
// account that is being removed keeps that state.
func (s *Store) Resume(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string) error {
	return s.moveState(ctx, tx, q, accountID, AccountActive, "")
}

// SignOut makes an account wait until a person has signed in again ([AccountReauthorize]), as a job does that finds
// the grant revoked. Call it when the grant was revoked here. Its errors are those of [Store.Pause].
func (s *Store) SignOut(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID, reason string) error {
	return s.moveState(ctx, tx, q, accountID, AccountReauthorize, reason)
}

func (s *Store) moveState(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string, to AccountState,
	reason string) error {
	if err := fields.Required("gmail: account "+accountID+": the Queue", q, giveQueue); err != nil {
		return err
	}
	now := dbtime.Of(queue.Now(tx))
	changed, err := maildb.Exec(ctx, tx, "account "+accountID, sqlMoveState, string(to), reason, now, now, accountID)
	switch {
	case err != nil:
		return err
	case changed == 0:
		return s.unmoved(ctx, tx, accountID)
	case to == AccountActive:
		return q.ResumeTx(ctx, tx, queue.ForKey(LimitKey(accountID)))
	}
	return q.PauseTx(ctx, tx, queue.ForKey(LimitKey(accountID)))
}

// giveQueue says where a queue comes from.
const giveQueue = "one made by queue.New"

// unmoved says why the state of an account cannot be changed.
func (s *Store) unmoved(ctx context.Context, tx queue.Tx, accountID string) error {
	var row accountRow
	if err := maildb.Get(ctx, tx, &row, "account "+accountID, sqlAccount, accountID); err != nil {
		return err
	}
	return errRemoving(row.Email)
}

func errRemoving(email string) error {
	return fmt.Errorf("gmail: account %s is being removed: call RemoveAccount again to finish that", email)
}

// Usable returns an error for an account whose jobs wait.
func (a Account) Usable() error {
	e := &gmailapi.Error{Op: "use account " + a.Email, Class: gmailapi.ClassPaused}
	switch a.State {
	case AccountActive:
		return nil
	case AccountPaused:
		e.Hint = "resume the account"
	case AccountReauthorize:
		e.Class, e.Hint = gmailapi.ClassReauthorize, "sign in to the account again"
	default:
		e.Hint = "it is being removed"
	}
	if a.Reason != "" {
		e.Err = errors.New(a.Reason)
	}
	return e
}
