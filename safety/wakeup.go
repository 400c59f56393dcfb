package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The wake-up of a snooze changes the message as an action does, and therefore takes the lock of the message: no
// action starts between its look at the message and its change. It is no action of its own, since nobody decides
// about it. What it has changed is recorded with the snooze, with the number of its lock. A wake-up ends all snoozes
// that were executed before it.

// WakeUps give the lock of a message to the job that wakes it. They belong to a [Ledger].
type WakeUps struct {
	db      queue.DB
	keys    *signatures
	actions *actions
}

// StartWakeUp gives the lock of a snoozed message to the job that wakes it, and returns what the audit log says about
// the snooze. [Ledger.CompleteWakeUp] and [Ledger.StopWakeUp] end the lock. The same job may start again, and keeps
// its lock. A job whose snooze is over does not get the lock.
//
// While an action of the message is executing, or another job wakes the message, the error is a
// [*postroom.BusyError], and nothing is written. If that job has ended, [Ledger.Fail] takes the lock from it.
func (w *WakeUps) StartWakeUp(ctx context.Context, tx queue.Tx, snoozeID,
	jobID string) (sleep postroom.Sleep, err error) {
	p, err := w.keys.permit(ctx, tx, snoozeID)
	switch {
	case err != nil:
		return sleep, err
	case p.Type != postroom.Snooze || jobID == "":
		return sleep,
			fmt.Errorf("safety: wake the message of action %s, a %s: the action must be a snooze, and the job's id not empty",
				snoozeID, p.Type)
	case p.State == postroom.ActionExecuting:
		return sleep, &postroom.BusyError{MessageID: p.MessageID, ActionID: p.ID, JobID: p.JobID}
	}
	a, err := p.value()
	if err != nil {
		return sleep, err
	}
	turn, err := wakeUpLock(ctx, tx, a, jobID)
	if errors.Is(err, sql.ErrNoRows) {
		turn, err = lockMessage(ctx, tx, a, jobID)
	}
	if err != nil {
		return sleep, err
	}
	past, err := history(ctx, tx, a.AccountID, a.MessageID)
	if err != nil {
		return sleep, err
	}
	sleep = sleepOf(past, snoozeID, p.Sequence.Int64)
	sleep.Turn = turn
	if sleep.Over {
		return sleep, unlockMessage(ctx, tx, a)
	}
	return sleep, nil
}

// Sleep is what [Ledger.StartWakeUp] returns about a snooze, for a job that cannot have the lock of the message. Its
// Turn is 0.
func (w *WakeUps) Sleep(ctx context.Context, snoozeID string) (postroom.Sleep, error) {
	db := w.db.Reader()
	snooze, err := findAction(ctx, db, snoozeID)
	if err != nil {
		return postroom.Sleep{}, err
	}
	past, err := history(ctx, db, snooze.AccountID, snooze.MessageID)
	if err != nil {
		return postroom.Sleep{}, err
	}
	i := slices.IndexFunc(past, func(p Past) bool { return p.ID == snoozeID })
	if i < 0 {
		return postroom.Sleep{}, nil
	}
	return sleepOf(past, snoozeID, past[i].Turn), nil
}

// wakeUpLock returns the lock that the wake-up of a snooze has; [sql.ErrNoRows] if it has none.
func wakeUpLock(ctx context.Context, tx queue.Tx, snooze postroom.Action,
	jobID string) (turn int64, err error) {
	err = dbquery.Get(ctx, tx, &turn, selectWakeUpLock, snooze.AccountID, snooze.MessageID, snooze.ID, jobID)
	if err != nil {
		err = fmt.Errorf("safety: read the lock of the wake-up of action %s: %w", snooze.ID, err)
	}
	return turn, err
}

// sleepOf returns what the past of a message says about a snooze and its lock.
func sleepOf(past []Past, snoozeID string, turn int64) (s postroom.Sleep) {
	undone, woken := undoneIn(past), int64(0)
	for i := range past {
		if hint := past[i].UndoHint; hint != nil && hint.Woken != nil {
			woken = max(woken, hint.Woken.Turn)
		}
	}
	for i := range past {
		if p := &past[i]; p.Type == postroom.Snooze && p.Turn > max(turn, woken) && !undone[p.ID] {
			s.Later = append(s.Later, p.ID)
		}
	}
	s.Over = undone[snoozeID] || woken > turn
	return s
}

// undoneIn returns the actions of a message's past that are undone.
func undoneIn(past []Past) map[string]bool {
	undone, undoes := make(map[string]bool), make(map[string]string)
	for i := range past {
		p := &past[i]
		if p.Undoes == "" {
			continue
		}
		undoes[p.ID] = p.Undoes
		if original, again := undoes[p.Undoes]; again {
			undone[original] = false
		} else {
			undone[p.Undoes] = true
		}
	}
	return undone
}

// CompleteWakeUp records with a snooze how its job has woken the message, and ends the lock of the job, which must
// have it. If the snooze has not been completed, nothing is recorded, since it cannot be undone.
func (w *WakeUps) CompleteWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string,
	woken postroom.WakeUp) error {
	p, err := w.keys.lockPermit(ctx, tx, snoozeID)
	if err != nil {
		return err
	}
	a, err := p.value()
	if err != nil {
		return err
	}
	if woken.Turn, err = wakeUpLock(ctx, tx, a, jobID); err != nil {
		return err
	}
	if a.State == postroom.ActionCompleted && a.UndoHint != nil {
		next := p.actionRow
		a.UndoHint.Woken = &woken
		if next.UndoHint, err = encodeHint(a.UndoHint); err != nil {
			return err
		}
		if _, err := w.actions.store(ctx, tx, &p.actionRow, &next, "record the wake-up of"); err != nil {
			return err
		}
	}
	return unlockMessage(ctx, tx, a)
}

// StopWakeUp ends the lock of a job that has not woken the message. It is no error if the job does not have the lock.
func (w *WakeUps) StopWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string) error {
	a, err := findAction(ctx, tx, snoozeID)
	if err == nil {
		_, err = wakeUpLock(ctx, tx, a, jobID)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return unlockMessage(ctx, tx, a)
}

// failWakeUp takes the lock from the wake-up of an action that has ended. If the wake-up has no lock, it returns the
// error about the action.
func failWakeUp(ctx context.Context, tx queue.Tx, snooze postroom.Action, ended error) error {
	result, err := tx.ExecContext(ctx, unlockWakeUp, snooze.AccountID, snooze.MessageID, snooze.ID)
	if err != nil {
		return fmt.Errorf("safety: end the lock of the wake-up of action %s: %w", snooze.ID, err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = ended
	}
	return err
}
