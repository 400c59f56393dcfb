package gmail

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Ledger records actions; *safety.Ledger implements it. The calls that take a transaction are part of the job's.
type Ledger interface {
	// Start makes a queued action executing, owned by the job. It is no error if the same job is executing the action
	// already. If the action is not executed because it is not what was permitted, or needs a person again, Start
	// returns it in its new state, without an error. If the state of the action does not allow it, Start returns the
	// action in its present state and an error. The error matches [postroom.ErrNotFound] if the action does not exist;
	// it is a [*postroom.BusyError] while another action of the message executes, and a [*postroom.HeldError] while
	// nothing may start.
	Start(ctx context.Context, tx queue.Tx, actionID, jobID string) (postroom.Action, error)
	// Complete makes an executing action completed, with the hint that undoes it.
	Complete(ctx context.Context, tx queue.Tx, actionID string, hint postroom.UndoHint) error
	// Fail makes a queued or executing action failed, with a reason for people.
	Fail(ctx context.Context, tx queue.Tx, actionID, reason string) error
	// Cancel makes a queued or executing action canceled, with a reason for people: nothing has failed, and there is
	// nothing left to do.
	Cancel(ctx context.Context, tx queue.Tx, actionID, reason string) error
	// Executing returns the action of a message that is executing, undos included; nil if none is. While a wake-up has
	// the turn of the message, it is the snooze, with the job of the wake-up.
	Executing(ctx context.Context, accountID, messageID string) (*postroom.Action, error)
	// Queued lists the ids of the queued actions of a message, some of which may wait for the end of another.
	Queued(ctx context.Context, accountID, messageID string) ([]string, error)
	// Held returns a [*postroom.HeldError] while nothing may be changed in a mailbox.
	Held(ctx context.Context) error
	// Permit returns what an action may be carried out by, with its decision and its approver; an error that matches
	// [postroom.ErrNotFound] if there is no such action.
	Permit(ctx context.Context, actionID string) (postroom.Permit, error)
	// Hold makes a queued action wait for a person, with a reason for people.
	Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error)

	WakeUpLedger
}

// A WakeUpLedger knows whose turn it is to change a snoozed message, and records how it was woken.
type WakeUpLedger interface {
	// StartWakeUp gives the turn of a snoozed message to the job that wakes it, unless the snooze is over. The error is a
	// [*postroom.BusyError] while an action of the message executes or another job wakes it, and while the job has the
	// turn, Start is refused with one that names the snooze and the job. If the job has ended, Fail of the snooze takes
	// the turn from it. It is no error if the same job has the turn already.
	StartWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string) (postroom.Sleep, error)
	// CompleteWakeUp records with a completed snooze how the job that has the turn has woken its message, and ends the
	// turn.
	CompleteWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string, woken postroom.WakeUp) error
	// Sleep is what StartWakeUp returns about a snooze, for a job that cannot have the turn of the message.
	Sleep(ctx context.Context, snoozeID string) (postroom.Sleep, error)
	// StopWakeUp ends the turn of the job, if it has it.
	StopWakeUp(ctx context.Context, tx queue.Tx, snoozeID, jobID string) error
}
