package gmail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// snoozeOf returns the snooze of a wake-up, as the ledger has it; nil if it has none of that message.
func (j *jobs) snoozeOf(ctx context.Context, p UnsnoozePayload) (*postroom.Permit, error) {
	permit, err := j.Ledger.Permit(ctx, p.ActionID)
	if err = maildb.IgnoreMissing(err); err != nil {
		return nil, err
	}
	if a := &permit.Action; a.Type != postroom.Snooze || a.AccountID != p.AccountID || a.MessageID != p.MessageID {
		return nil, nil //nolint:nilnil // none is no error, and no snooze
	}
	return &permit, nil
}

// startWakeUp takes the turn of the message for the job. While an action of the message executes, or another wake-up,
// it defers the job. An action whose job has ended without finishing it has no further effect and is ended, as by the
// next action.
//
// A job without a snooze in the ledger gets no turn, since the ledger could not say whose it is; it only waits for
// the action that executes. Such a job wakes only a message under the snooze label. The Turn is 0 then.
func (j *jobs) startWakeUp(ctx context.Context, w *queue.Work[UnsnoozePayload]) (sleep postroom.Sleep, err error) {
	snooze, err := j.snoozeOf(ctx, w.Payload)
	switch {
	case err != nil:
		return sleep, err
	case snooze == nil:
		err = j.executing(ctx, w.Payload)
	default:
		sleep, err = j.tryWakeUp(ctx, w)
	}
	busy, ok := errors.AsType[*postroom.BusyError](err)
	if !ok {
		return sleep, err
	}
	ended, err := hasEnded(ctx, w.Queue(), busy.JobID)
	switch {
	case err != nil:
		return sleep, err
	case !ended:
		return sleep, queue.Defer(attempts.InTurn(busy), attempts.Turn(w.Job.Interruptions))
	case snooze == nil:
		return sleep, nil
	}
	return j.startAbandoned(ctx, w, busy)
}

// startAbandoned starts a wake-up beside an action whose job has ended. One that may have sent something is not ended
// here, since it may take days to find that out: the wake-up has no turn then.
func (j *jobs) startAbandoned(ctx context.Context, w *queue.Work[UnsnoozePayload],
	busy *postroom.BusyError) (sleep postroom.Sleep, err error) {
	holder, err := j.Ledger.Executing(ctx, w.Payload.AccountID, w.Payload.MessageID)
	switch {
	case err != nil:
		return sleep, err
	case holder != nil && holder.UndoHint != nil && holder.UndoHint.Intent != nil:
		return j.Ledger.Sleep(ctx, w.Payload.ActionID)
	}
	if err := j.endAbandoned(ctx, w.Attempt, busy); err != nil {
		return sleep, err
	}
	return j.tryWakeUp(ctx, w)
}

func (j *jobs) tryWakeUp(ctx context.Context, w *queue.Work[UnsnoozePayload]) (sleep postroom.Sleep, err error) {
	err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		sleep, err = j.Ledger.StartWakeUp(ctx, tx, w.Payload.ActionID, w.Job.ID)
		return err
	})
	return sleep, err
}

// executing returns a [*postroom.BusyError] while an action of the message executes.
func (j *jobs) executing(ctx context.Context, p UnsnoozePayload) error {
	action, err := j.Ledger.Executing(ctx, p.AccountID, p.MessageID)
	if err != nil || action == nil {
		return err
	}
	return &postroom.BusyError{MessageID: action.MessageID, ActionID: action.ID, JobID: action.JobID}
}

// putOff defers a wake-up until after that of the last of the later snoozes that has one. The wake-up stays: if that
// snooze is undone, package undo makes it due, and otherwise it finds that its snooze is over.
func putOff(ctx context.Context, w *queue.Work[UnsnoozePayload], later []string) error {
	for _, id := range slices.Backward(later) {
		waking, err := w.Queue().Jobs(ctx, queue.Filter{
			Key: wakeKey(w.Payload.AccountID, id), States: []queue.State{queue.StateQueued, queue.StateRunning}, Limit: 1,
		})
		if err != nil {
			return err
		}
		if len(waking) == 0 {
			continue // a person has canceled it
		}
		until := waking[0].NotBefore
		return queue.Defer(fmt.Errorf("gmail: the message has been snoozed again, until %s", until.Format(time.RFC3339)),
			max(time.Until(until)+time.Second, attempts.Busy(w.Job.Interruptions)))
	}
	return nil
}

// stopWakeUp gives the turn back, and returns the cause. If that fails, so does the attempt, since a job that waits
// for long must not keep the turn. Other wake-ups are not hastened: two that are put off would hasten each other.
func (j *jobs) stopWakeUp(ctx context.Context, w *queue.Work[UnsnoozePayload], cause error) error {
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Ledger.StopWakeUp(ctx, tx, w.Payload.ActionID, w.Job.ID)
	})
	if err != nil {
		return err
	}
	j.hasten(ctx, w.Attempt, w.Payload.AccountID, w.Payload.MessageID, attempts.Undo)
	return cause
}

// wakeFailed returns what the handler returns for an error of Gmail. Unless certainly no attempt of the turn has
// changed the message, the job keeps its turn: the next attempt must not take its own change for one of somebody
// else.
func (j *jobs) wakeFailed(ctx context.Context, w *queue.Work[UnsnoozePayload], turn int64, err error) error {
	var clean *untouchedError
	if turn == 0 || !errors.As(err, &clean) {
		return wakeVerdict(err)
	}
	return j.stopWakeUp(ctx, w, wakeVerdict(err))
}

// endWakeUp ends the turn of a wake-up, if it has one, and records what it has changed.
func (j *jobs) endWakeUp(
	ctx context.Context, tx queue.Tx, w *queue.Work[UnsnoozePayload], turn int64, woken postroom.WakeUp, gone bool,
) error {
	switch {
	case turn == 0:
		return nil
	case gone:
		return j.Ledger.StopWakeUp(ctx, tx, w.Payload.ActionID, w.Job.ID)
	}
	return j.Ledger.CompleteWakeUp(ctx, tx, w.Payload.ActionID, w.Job.ID, woken)
}
