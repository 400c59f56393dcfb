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

// The wake-up of a snooze changes the message as an action does, and therefore takes the turn of the message: no action starts
// between its look at the message and its change. It is no action of its own, since nobody decides about it. What it has changed is
// recorded with the snooze, with the number of its turn. A wake-up ends all snoozes that were executed before it.

// StartWakeUp gives the turn of a snoozed message to the job that wakes it, and returns what the audit log says about the snooze.
// [Ledger.CompleteWakeUp] and [Ledger.StopWakeUp] end the turn. The same job may start again, and keeps its turn. A job whose
// snooze is over does not get the turn. If an action of the message was altered in the database since it was completed, the other
// snoozes are unknown, and none is reported.
//
// While an action of the message is executing, or another job wakes the message, the error is a [*postroom.BusyError], and nothing
// is written. If that job has ended, [Ledger.Fail] takes the turn from it.
func (l *Ledger) StartWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string) (sleep postroom.Sleep, err error) {
	p, err := l.permit(ctx, tx, snoozeID)
	switch {
	case err != nil:
		return sleep, err
	case p.Type != postroom.Snooze || jobID == "":
		return sleep, fmt.Errorf("safety: wake the message of action %s, a %s: the action must be a snooze, and the job's id not empty", snoozeID, p.Type)
	case p.State == postroom.ActionExecuting:
		return sleep, &postroom.BusyError{MessageID: p.MessageID, ActionID: p.ID, JobID: p.JobID}
	}
	a, err := p.value()
	if err != nil {
		return sleep, err
	}
	turn, err := l.wakeUpTurn(ctx, tx, a, jobID)
	if errors.Is(err, sql.ErrNoRows) {
		turn, err = l.takeTurnFor(ctx, tx, a, sql.NullString{String: jobID, Valid: true})
	}
	if err != nil {
		return sleep, err
	}
	past, err := l.history(ctx, tx, a.AccountID, a.MessageID)
	if err != nil && !errors.Is(err, ErrAltered) {
		return sleep, err
	}
	sleep = sleepOf(past, snoozeID, p.Turn.Int64)
	sleep.Turn = turn
	if sleep.Over {
		return sleep, l.endTurn(ctx, tx, a)
	}
	return sleep, nil
}

// Sleep is what [Ledger.StartWakeUp] returns about a snooze, for a job that cannot have the turn of the message. Its Turn is 0.
func (l *Ledger) Sleep(ctx context.Context, snoozeID string) (postroom.Sleep, error) {
	db := l.cfg.DB.Reader()
	snooze, err := findAction(ctx, db, snoozeID)
	if err != nil {
		return postroom.Sleep{}, err
	}
	past, err := l.history(ctx, db, snooze.AccountID, snooze.MessageID)
	if err != nil && !errors.Is(err, ErrAltered) {
		return postroom.Sleep{}, err
	}
	i := slices.IndexFunc(past, func(p Past) bool { return p.ID == snoozeID })
	if i < 0 {
		return postroom.Sleep{}, nil
	}
	return sleepOf(past, snoozeID, past[i].Turn), nil
}

// wakeUpTurn returns the turn that the wake-up of a snooze has; [sql.ErrNoRows] if it has none.
func (l *Ledger) wakeUpTurn(ctx context.Context, tx queue.Tx, snooze postroom.Action, jobID string) (turn int64, err error) {
	err = dbquery.Get(ctx, tx, &turn, selectWakeUpTurn, snooze.AccountID, snooze.MessageID, snooze.ID, jobID)
	if err != nil {
		err = fmt.Errorf("safety: read the turn of the wake-up of action %s: %w", snooze.ID, err)
	}
	return turn, err
}

// sleepOf returns what the past of a message says about a snooze and its turn.
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

// CompleteWakeUp records with a snooze how its job has woken the message, and ends the turn of the job, which must have it. If the
// snooze has not been completed, or was altered in the database, nothing is recorded, since it cannot be undone.
func (l *Ledger) CompleteWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string, woken postroom.WakeUp) error {
	p, err := l.permitAlone(ctx, tx, snoozeID)
	if err != nil {
		return err
	}
	a, err := p.value()
	if err != nil {
		return err
	}
	if woken.Turn, err = l.wakeUpTurn(ctx, tx, a, jobID); err != nil {
		return err
	}
	if a.State == postroom.ActionCompleted && a.UndoHint != nil && l.vouched(p) == signedRight {
		next := p.actionRow
		a.UndoHint.Woken = &woken
		if next.UndoHint, err = encodeHint(a.UndoHint); err != nil {
			return err
		}
		if _, err := l.store(ctx, tx, &p.actionRow, &next, "record the wake-up of", false); err != nil {
			return err
		}
	}
	return l.endTurn(ctx, tx, a)
}

// StopWakeUp ends the turn of a job that has not woken the message. It is no error if the job does not have the turn.
func (l *Ledger) StopWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string) error {
	a, err := findAction(ctx, tx, snoozeID)
	if err == nil {
		_, err = l.wakeUpTurn(ctx, tx, a, jobID)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return l.endTurn(ctx, tx, a)
}

// failWakeUp takes the turn from the wake-up of an action that has ended. If the wake-up has no turn, it returns the error about
// the action.
func (l *Ledger) failWakeUp(ctx context.Context, tx queue.Tx, snooze postroom.Action, ended error) error {
	result, err := tx.ExecContext(ctx, endWakeUpTurn, snooze.AccountID, snooze.MessageID, snooze.ID)
	if err != nil {
		return fmt.Errorf("safety: end the turn of the wake-up of action %s: %w", snooze.ID, err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = ended
	}
	return err
}
