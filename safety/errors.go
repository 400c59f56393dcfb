package safety

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// The conditions that a caller can act on. Test for them with errors.Is. An unknown id is [postroom.ErrNotFound].
var (
	// ErrState reports that the state of the action does not allow the change. errors.As finds the [*StateError], which
	// has the state.
	ErrState = errors.New("the action's state does not allow it")
	// ErrInvalidDecision reports that the decision breaks its contract; [Ledger.Refuse] records such a decision.
	ErrInvalidDecision = errors.New("invalid decision")
	// ErrApprovalExpired reports that the request has expired; [Ledger.Renew] makes a new one.
	ErrApprovalExpired = errors.New("the request for approval has expired")
	// ErrApprovalVoid reports that the request cannot be approved as it is. Either it was made under another key, and
	// [Ledger.Renew] makes a new one; or the action, its decision or the request was altered since, and the error also
	// matches [ErrAltered].
	ErrApprovalVoid = errors.New("the action or the request has changed since approval was asked for")
	// ErrEdited reports that a person has edited what the action sends since the request was shown, and another request
	// waits. It matches [ErrApprovalVoid].
	ErrEdited = fmt.Errorf("%w: it was edited since, look again", ErrApprovalVoid)
	// ErrContentSet reports that another hash of what the action sends is already recorded.
	ErrContentSet = errors.New("what the action sends is recorded already, and is something else")
	// ErrNotApprover reports that the person is not among [Config.Approvers].
	ErrNotApprover = errors.New("not allowed to approve")
	// ErrAlreadyUndone reports that the action has been undone, or is being undone by another job. errors.As finds the
	// [*UndoneError], which has the undo.
	ErrAlreadyUndone = errors.New("the action is already undone or being undone")
	// ErrAltered reports that the action, its decision or its request for approval is not what was decided or signed.
	// Such an action can only be rejected.
	ErrAltered = errors.New("the action was altered in the database")
	// ErrAmbiguous reports that several ids begin with the prefix.
	ErrAmbiguous = errors.New("ambiguous id")
)

// A StateError is returned when the state of an action does not allow a change. It matches [ErrState].
type StateError struct {
	Op       string // approve, start, complete, …
	ActionID string
	State    postroom.ActionState // the state that won
	JobID    string               // the job that executes or executed the action; may be empty
	Answer   *Approval            // the last answer of a person, approved or rejected; nil if there is none
}

// Error names the attempted change and the state of the action.
func (e *StateError) Error() string {
	s := fmt.Sprintf("safety: cannot %s action %s: it is %s", e.Op, e.ActionID, e.State)
	if e.State == postroom.ActionPendingApproval {
		s = fmt.Sprintf("safety: cannot %s action %s: it %s", e.Op, e.ActionID, e.State.Words())
	}
	if e.State == postroom.ActionExecuting && e.JobID != "" {
		s += " by job " + e.JobID
	}
	if e.Answer != nil {
		s += fmt.Sprintf("; %s has %s it on %s", e.Answer.Approver, e.Answer.Outcome, e.Answer.DecidedAt.Format(time.RFC3339))
	}
	return s
}

// Is matches [ErrState].
func (e *StateError) Is(target error) bool { return target == ErrState }

// An UndoneError is returned when an action is undone, or being undone, already. It matches [ErrAlreadyUndone].
type UndoneError struct {
	OriginalID string
	Undo       postroom.Action // executing or completed
}

// Error names the first undo and its state.
func (e *UndoneError) Error() string {
	if e.Undo.State == postroom.ActionCompleted {
		return fmt.Sprintf("safety: action %s is already undone, by action %s", e.OriginalID, e.Undo.ID)
	}
	return fmt.Sprintf("safety: action %s is being undone, by action %s of job %s", e.OriginalID, e.Undo.ID, e.Undo.JobID)
}

// Is matches [ErrAlreadyUndone].
func (e *UndoneError) Is(target error) bool { return target == ErrAlreadyUndone }

func alteredError(op, actionID string) error {
	return fmt.Errorf("safety: %s action %s: %w: reject it", op, actionID, ErrAltered)
}

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

// held returns a [*postroom.HeldError].
func held(reason string, until time.Time) error {
	return &postroom.HeldError{Reason: reason, Until: until}
}
