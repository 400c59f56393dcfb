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

// The actions of one message execute one after the other, undos included. Each reads the message, changes it and records both,
// and would otherwise take another's change for its own. An action has its turn from its start to its end, through all attempts. The
// wake-up of a snooze takes a turn as well; see [Ledger.StartWakeUp].

// takeTurn returns the number of the action's turn. If another action of the message has it, or a wake-up, the error is a
// [*postroom.BusyError], and nothing is written.
func (l *Ledger) takeTurn(ctx context.Context, tx queue.Tx, a postroom.Action) (turn int64, err error) {
	return l.takeTurnFor(ctx, tx, a, sql.NullString{})
}

// takeTurnFor is takeTurn for the job that wakes the message of a, if one is given.
func (l *Ledger) takeTurnFor(ctx context.Context, tx queue.Tx, a postroom.Action, wakeUp sql.NullString) (turn int64, err error) {
	const tries = 3 // the owner of the turn may end before it can be named
	for range tries {
		err = dbquery.Get(ctx, tx, &turn, takeTurn, a.AccountID, a.MessageID, a.ID, wakeUp)
		if err == nil {
			return turn, nil
		}
		if errors.Is(err, sql.ErrNoRows) {
			var holder postroom.Action
			if holder, err = get[turnRow, postroom.Action](ctx, tx, selectTurn, a.AccountID, a.MessageID); err == nil {
				return 0, &postroom.BusyError{MessageID: a.MessageID, ActionID: holder.ID, JobID: holder.JobID}
			}
		}
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
	}
	return 0, fmt.Errorf("safety: start action %s: wait for the other actions of message %s: %w", a.ID, a.MessageID, err)
}

func (l *Ledger) endTurn(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	if _, err := tx.ExecContext(ctx, endTurn, a.AccountID, a.MessageID, a.ID); err != nil {
		return fmt.Errorf("safety: end the turn of action %s: %w", a.ID, err)
	}
	return nil
}

// A turnRow is the action that has the turn of its message, or the snooze whose wake-up has it.
type turnRow struct {
	actionRow
	WakeUp string `db:"turn_job"` // the job of the wake-up
}

func (r *turnRow) value() (a postroom.Action, err error) {
	a, err = r.actionRow.value()
	a.JobID = cmp.Or(r.WakeUp, a.JobID)
	return a, err
}

// Executing returns the action of the message that is executing, undos included; nil if none is. While a wake-up has the turn, it
// returns the snooze, with the job of the wake-up.
func (l *Ledger) Executing(ctx context.Context, accountID, messageID string) (*postroom.Action, error) {
	a, err := get[turnRow, postroom.Action](ctx, l.cfg.DB.Reader(), selectTurn, accountID, messageID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // none is no error, and no action
	case err != nil:
		return nil, fmt.Errorf("safety: read the executing action of message %s: %w", messageID, err)
	}
	return &a, nil
}

// A Past is an action that has been completed.
type Past struct {
	postroom.Action
	Undoes string // the id of the action that it undoes; empty if it is not an undo
	Turn   int64  // its place among the actions and wake-ups of the message
}

type pastRow struct {
	actionRow
	Last lastEntry `db:"last"`
}

func (r *pastRow) value() (p Past, err error) {
	p.Undoes, p.Turn = r.Undoes, r.Turn.Int64
	p.Action, err = r.actionRow.value()
	return p, err
}

// History lists the completed actions of a message, undos included, in the order in which they were executed. It leaves out
// actions of type none. If one was altered in the database since, the error is [ErrAltered], because the earlier state of the
// message is unknown.
func (l *Ledger) History(ctx context.Context, accountID, messageID string) ([]Past, error) {
	return l.history(ctx, l.cfg.DB.Reader(), accountID, messageID)
}

func (l *Ledger) history(ctx context.Context, q dbquery.Querier, accountID, messageID string) ([]Past, error) {
	var rows []pastRow
	err := l.keys.load(ctx, q)
	if err == nil {
		err = dbquery.Select(ctx, q, &rows, selectHistory, accountID, messageID)
	}
	history := make([]Past, len(rows))
	for i := range rows {
		if err == nil && l.asLogged(&rows[i].actionRow, &rows[i].Last) != signedRight {
			err = fmt.Errorf("%w: action %s", ErrAltered, rows[i].ID)
		}
		if err == nil {
			history[i], err = rows[i].value()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("safety: read the history of message %s: %w", messageID, err)
	}
	return history, nil
}
