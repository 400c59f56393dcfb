package postroom

import (
	"errors"
	"fmt"
)

var (
	// ErrMessageGone reports that the provider no longer has the message.
	ErrMessageGone = errors.New("the message no longer exists in the mailbox")
	// ErrMessageBusy reports that another action of the message is executing. errors.As finds the [*BusyError], which has
	// that action.
	ErrMessageBusy = errors.New("another action of the message is executing")
	// ErrNotFound reports that nothing is stored under the id.
	ErrNotFound = errors.New("not found")
)

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
