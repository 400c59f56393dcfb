package postroom

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrMessageGone reports that the provider no longer has the message.
	ErrMessageGone = errors.New("the message no longer exists in the mailbox")
	// ErrMessageBusy reports that another action of the message is executing, or comes first. errors.As finds the
	// [*BusyError], which names that action.
	ErrMessageBusy = errors.New("another action of the message is executing")
	// ErrHeld reports that nothing may start now, although nothing is wrong with the action. errors.As finds the
	// [*HeldError], which has the reason.
	ErrHeld = errors.New("it may not start now")
	// ErrNotFound reports that nothing is stored under the id.
	ErrNotFound = errors.New("not found")
)

// A HeldError is returned when no action or undo may start now, for example because a person has stopped everything,
// or during quiet hours. Try again later. It matches [ErrHeld].
type HeldError struct {
	Reason string    // for people
	Until  time.Time // when it may start; zero if unknown
}

// Error returns the reason.
func (e *HeldError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("%v: %s", ErrHeld, e.Reason)
	}
	return fmt.Sprintf("%v, but on %s: %s", ErrHeld, e.Until.UTC().Format(time.RFC3339), e.Reason)
}

// Is matches [ErrHeld].
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// A BusyError is returned when an action cannot start because another action of the same message is executing, or the
// wake-up of a snooze, or because another has to be carried out before. Try again when that has ended. It matches
// [ErrMessageBusy].
type BusyError struct {
	MessageID string
	ActionID  string // the other action, or the snooze
	JobID     string // the job that executes it, or that wakes the message; empty if the action has not started
}

// Error names the message and the other action.
func (e *BusyError) Error() string {
	if e.JobID == "" {
		return fmt.Sprintf("message %s: action %s of the message has to be carried out before", e.MessageID, e.ActionID)
	}
	return fmt.Sprintf("message %s: %v: action %s of job %s", e.MessageID, ErrMessageBusy, e.ActionID, e.JobID)
}

// Is matches [ErrMessageBusy].
func (e *BusyError) Is(target error) bool { return target == ErrMessageBusy }
