package flow

import (
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
)

var (
	// ErrNotFound reports that no flow has the id.
	ErrNotFound = driver.ErrFlowNotFound
	// ErrNoNode reports that the flow has no node of the name.
	ErrNoNode = errors.New("the flow has no such node")
	// ErrNotInFlow reports an attempt whose job belongs to no flow.
	ErrNotInFlow = errors.New("the job belongs to no flow")
	// ErrNoResult reports a node whose job has not completed with a result.
	ErrNoResult = errors.New("there is no result")
	// ErrEnded reports that the node has ended, or that the flow is canceled.
	ErrEnded = errors.New("it has ended")
)

// An Error is the error of an operation on a flow.
type Error struct {
	Op   string // enqueue, cancel, result, …
	Flow string // the id; empty when there is none
	Err  error
}

// Error formats the operation, the flow and the cause.
func (e *Error) Error() string {
	s := "flow: " + e.Op
	if e.Flow != "" {
		s += " " + e.Flow
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func wrap(op, flowID string, err error) error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return err // it says so already
	}
	return &Error{Op: op, Flow: flowID, Err: err}
}
