package postroom

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrMessageGone reports that the provider no longer has the message.
	ErrMessageGone = errors.New("the message no longer exists in the mailbox")
	// ErrMessageBusy reports that another action of the message is executing. errors.As finds the [*BusyError], which has
	// that action.
	ErrMessageBusy = errors.New("another action of the message is executing")
	// ErrHeld reports that nothing may start now, and that nothing is wrong with the action. errors.As finds the [*HeldError],
	// which has the reason.
	ErrHeld = errors.New("it may not start now")
	// ErrNotFound reports that nothing is stored under the id.
	ErrNotFound = errors.New("not found")
)

// A HeldError is returned when an action or an undo may not start now, whatever it is: somebody has stopped everything, these are
// quiet hours. Try again later. It matches [ErrHeld].
type HeldError struct {
	Reason string    // for people
	Until  time.Time // when it may start; zero when nobody knows
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

// A BusyError is returned when an action cannot start because another one of the same message is executing: try again when
// that has ended. It matches [ErrMessageBusy].
type BusyError struct {
	MessageID string
	ActionID  string // the action that is executing
	JobID     string // the job that executes it
}

// Error names the message and the action that is executing.
func (e *BusyError) Error() string {
	return fmt.Sprintf("message %s: %v: action %s of job %s", e.MessageID, ErrMessageBusy, e.ActionID, e.JobID)
}

// Is matches [ErrMessageBusy].
func (e *BusyError) Is(target error) bool { return target == ErrMessageBusy }
