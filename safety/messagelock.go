package safety

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The actions of one message execute one after the other, undos included. Each reads the message, changes it and
// records both, and would otherwise take another's change for its own. An action has the lock of its message from its
// start to its end, through all attempts. The wake-up of a snooze takes the lock as well; see [Ledger.StartWakeUp].

// lockMessage gives the lock of a message to an action, or to the job that wakes it after the snooze a, if one is
// given. It returns the place of the action among those of the message. If another has the lock, the error is a
// [*postroom.BusyError], and nothing is written.
func lockMessage(ctx context.Context, tx queue.Tx, a postroom.Action,
	wakeUpJob string) (sequence int64, err error) {
	const tries = 3 // the owner of the lock may end before it can be named
	job := sql.NullString{String: wakeUpJob, Valid: wakeUpJob != ""}
	for range tries {
		err = dbquery.Get(ctx, tx, &sequence, takeLock, a.AccountID, a.MessageID, a.ID, job)
		if err == nil {
			return sequence, nil
		}
		if errors.Is(err, sql.ErrNoRows) {
			var holder postroom.Action
			if holder, err = get[lockRow, postroom.Action](ctx, tx, selectLockHolder, a.AccountID, a.MessageID); err == nil {
				return 0, &postroom.BusyError{MessageID: a.MessageID, ActionID: holder.ID, JobID: holder.JobID}
			}
		}
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
	}
	return 0, fmt.Errorf("safety: start action %s: wait for the other actions of message %s: %w", a.ID, a.MessageID, err)
}

func unlockMessage(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	if _, err := tx.ExecContext(ctx, endLock, a.AccountID, a.MessageID, a.ID); err != nil {
		return fmt.Errorf("safety: end the lock of action %s: %w", a.ID, err)
	}
	return nil
}

// A lockRow is the action that has the lock of its message, or the snooze whose wake-up has it.
type lockRow struct {
	actionRow
	WakeUp string `db:"lock_job"` // the job of the wake-up
}

func (r *lockRow) value() (a postroom.Action, err error) {
	a, err = r.actionRow.value()
	a.JobID = cmp.Or(r.WakeUp, a.JobID)
	return a, err
}

// A Past is an action that has been completed.
type Past struct {
	postroom.Action
	Undoes string // the id of the action that it undoes; empty if it is not an undo
	Turn   int64  // its place among the actions and wake-ups of the message
}

type pastRow struct{ actionRow }

func (r *pastRow) value() (p Past, err error) {
	p.Undoes, p.Turn = r.Undoes, r.Sequence.Int64
	p.Action, err = r.actionRow.value()
	return p, err
}

func history(ctx context.Context, q dbquery.Querier, accountID, messageID string) ([]Past, error) {
	past, err := all[pastRow, Past](ctx, q, selectHistory, accountID, messageID)
	if err != nil {
		return nil, fmt.Errorf("safety: read the history of message %s: %w", messageID, err)
	}
	return past, nil
}
