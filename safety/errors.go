package safety

import (
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
)

// The conditions a caller can act on; test for them with errors.Is. An id that nothing is stored under is
// [postroom.ErrNotFound].
var (
	// ErrState: the action's state does not allow the change, because another came first. errors.As finds the
	// [*StateError] that tells which state won.
	ErrState = errors.New("the action's state does not allow it")
	// ErrInvalidDecision: the decision breaks its contract; [Ledger.Refuse] records such a one.
	ErrInvalidDecision = errors.New("invalid decision")
	// ErrApprovalExpired: the request was not answered in time; [Ledger.Renew] asks again.
	ErrApprovalExpired = errors.New("the request for approval has expired")
	// ErrApprovalVoid: the action is no longer the one the request was made for; [Ledger.Renew] asks again.
	ErrApprovalVoid = errors.New("the action has changed since approval was asked for")
	// ErrNotApprover: the person is not among [Config.Approvers].
	ErrNotApprover = errors.New("not allowed to approve")
	// ErrAlreadyUndone: the action has been taken back, or is being taken back by another job. errors.As finds the
	// [*UndoneError] that tells which.
	ErrAlreadyUndone = errors.New("the action is already undone or being undone")
	// ErrAmbiguous: more than one id begins so.
	ErrAmbiguous = errors.New("ambiguous id")
)

// A StateError is told to whoever comes too late to change an action.
type StateError struct {
	Op       string // approve, start, complete, …
	ActionID string
	State    postroom.ActionState // the state that won
	JobID    string               // the job that executes or executed the action; may be empty
}

// Error says what was tried and what stands instead.
func (e *StateError) Error() string {
	s := fmt.Sprintf("safety: cannot %s action %s: it is %s", e.Op, e.ActionID, e.State)
	if e.State == postroom.ActionExecuting && e.JobID != "" {
		s += " by job " + e.JobID
	}
	return s
}

// Is matches [ErrState].
func (e *StateError) Is(target error) bool { return target == ErrState }

// An UndoneError is told to whoever comes too late to undo an action.
type UndoneError struct {
	OriginalID string
	Undo       postroom.Action // executing or completed
}

// Error says which undo came first and how far it is.
func (e *UndoneError) Error() string {
	if e.Undo.State == postroom.ActionCompleted {
		return fmt.Sprintf("safety: action %s is already undone, by action %s", e.OriginalID, e.Undo.ID)
	}
	return fmt.Sprintf("safety: action %s is being undone, by action %s of job %s", e.OriginalID, e.Undo.ID, e.Undo.JobID)
}

// Is matches [ErrAlreadyUndone].
func (e *UndoneError) Is(target error) bool { return target == ErrAlreadyUndone }

func notFound(what, id string) error {
	return fmt.Errorf("safety: %s %q: %w", what, id, postroom.ErrNotFound)
}

func ambiguous(prefix string, candidates []string, more bool) error {
	list := strings.Join(candidates, ", ")
	if more {
		list += ", …"
	}
	return fmt.Errorf("safety: action %q: %w: it could be %s; give more of it", prefix, ErrAmbiguous, list)
}
