package worldtest

import (
	"context"
	"slices"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// turns are the turns of a Ledger. Unlike those of a ledger they are counted for all messages together, and not
// in the database.
type turns struct {
	mu     sync.Mutex
	order  []string          // the actions, and the snoozes of wake-ups
	waking map[string]string // the jobs of the wake-ups that have the turn, by snooze
}

func (t *turns) take(actionID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.order = append(t.order, actionID)
}

// of returns when an action was executed; 0 if it was not.
func (t *turns) of(actionID string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(1 + slices.Index(t.order, actionID))
}

// wake gives the turn to the job of a wake-up, or returns the job that has it.
func (t *turns) wake(snoozeID, jobID string) (turn int64, holder string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch holder := t.waking[snoozeID]; {
	case t.waking == nil:
		t.waking = make(map[string]string)
	case holder == jobID:
		return int64(len(t.order)), ""
	case holder != "":
		return 0, holder
	}
	t.waking[snoozeID], t.order = jobID, append(t.order, "wake-up")
	return int64(len(t.order)), ""
}

// end reports whether a wake-up had the turn.
func (t *turns) end(snoozeID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, had := t.waking[snoozeID]
	delete(t.waking, snoozeID)
	return had
}

// waking returns a BusyError while a wake-up has the turn of an action's message.
func (l *Ledger) waking(ctx context.Context, tx queue.Tx, id string) error {
	a, err := ReadAction(ctx, tx, id)
	if err != nil {
		return err
	}
	actions, err := actionsOf(ctx, tx, a.AccountID, a.MessageID)
	l.turns.mu.Lock()
	defer l.turns.mu.Unlock()
	for _, other := range actions {
		if job, ok := l.turns.waking[other.ID]; ok {
			return &postroom.BusyError{MessageID: a.MessageID, ActionID: other.ID, JobID: job}
		}
	}
	return err
}

// StartWakeUp implements gmail.Ledger.
func (l *Ledger) StartWakeUp(ctx context.Context, tx queue.Tx, snoozeID,
	jobID string) (sleep postroom.Sleep, err error) {
	snooze, err := ReadAction(ctx, tx, snoozeID)
	if err != nil {
		return sleep, err
	}
	actions, err := actionsOf(ctx, tx, snooze.AccountID, snooze.MessageID)
	if err != nil {
		return sleep, err
	}
	for _, a := range actions {
		if a.State == postroom.ActionExecuting {
			return sleep, &postroom.BusyError{MessageID: a.MessageID, ActionID: a.ID, JobID: a.JobID}
		}
	}
	if sleep = l.sleepOf(snoozeID, actions); sleep.Over {
		return sleep, nil
	}
	turn, holder := l.turns.wake(snoozeID, jobID)
	if holder != "" {
		return sleep, &postroom.BusyError{MessageID: snooze.MessageID, ActionID: snoozeID, JobID: holder}
	}
	sleep.Turn = turn
	return sleep, nil
}

// Sleep implements gmail.Ledger.
func (l *Ledger) Sleep(ctx context.Context, snoozeID string) (postroom.Sleep, error) {
	var actions []postroom.Action
	err := l.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		snooze, err := ReadAction(ctx, tx, snoozeID)
		if err == nil {
			actions, err = actionsOf(ctx, tx, snooze.AccountID, snooze.MessageID)
		}
		return err
	})
	return l.sleepOf(snoozeID, actions), err
}

func (l *Ledger) sleepOf(snoozeID string, actions []postroom.Action) (sleep postroom.Sleep) {
	for _, a := range actions {
		if a.Type == postroom.Snooze && a.State == postroom.ActionCompleted && l.turns.of(a.ID) > l.turns.of(snoozeID) {
			sleep.Later = append(sleep.Later, a.ID)
		}
		sleep.Over = sleep.Over || a.UndoHint != nil && a.UndoHint.Woken != nil &&
			a.UndoHint.Woken.Turn > l.turns.of(snoozeID)
	}
	return sleep
}

// CompleteWakeUp implements gmail.Ledger.
func (l *Ledger) CompleteWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string,
	woken postroom.WakeUp) error {
	woken.Turn, _ = l.turns.wake(snoozeID, jobID)
	a, err := ReadAction(ctx, tx, snoozeID)
	if err != nil {
		return err
	}
	if a.State == postroom.ActionCompleted {
		a.UndoHint.Woken = &woken
	}
	l.turns.end(snoozeID)
	return l.Put(ctx, tx, a)
}

// StopWakeUp implements gmail.Ledger.
func (l *Ledger) StopWakeUp(_ context.Context, _ queue.Tx, snoozeID, _ string) error {
	l.turns.end(snoozeID)
	return nil
}

// EndTurn ends the turn of a wake-up, and reports whether it had one.
func (l *Ledger) EndTurn(snoozeID string) bool { return l.turns.end(snoozeID) }
