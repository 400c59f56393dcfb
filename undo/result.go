package undo

import (
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
)

// An Ending is the outcome of an action's undo.
type Ending string

// The outcomes of undos: expected ones from [Undoer.PlanAll], and actual ones from [Undoer.ReportAll].
const (
	// EndingRestored: everything that the action had changed and that nobody has changed since is restored.
	EndingRestored Ending = "restored"
	// EndingPart: a part is restored, and later changes of the rest are kept; see [Report].Skipped.
	EndingPart Ending = "part"
	// EndingKept: nothing is restored, because everything was changed since.
	EndingKept Ending = "kept"
	// EndingNothing: there is nothing to restore. The action had changed nothing, or people have restored it themselves.
	EndingNothing Ending = "nothing"
	// EndingHost: the host undoes the action by the Undo of its kind; there is no report about labels.
	EndingHost Ending = "host"
	// EndingRefused: the action cannot be undone, and nothing is requested; Result.Err has the reason.
	EndingRefused Ending = "refused"
	// EndingFailed: the undo is tried and fails; Result.Err has the reason.
	EndingFailed Ending = "failed"
	// EndingWaiting: the undo is requested and has not ended. A plan has none of these.
	EndingWaiting Ending = "waiting"
	// EndingOpen: the action can be undone, and nobody has requested it. A plan has none of these.
	EndingOpen Ending = "open"
)

// Undone reports whether the action counts as undone: it does, also when nothing had to be restored.
func (e Ending) Undone() bool {
	switch e {
	case EndingRestored, EndingPart, EndingKept, EndingNothing, EndingHost:
		return true
	default:
		return false
	}
}

// A Result is the expected or actual result of one action's undo.
type Result struct {
	Action postroom.Action
	Ending Ending
	// JobID is the job of the undo; empty if nobody has requested one.
	JobID string
	// Report is zero unless the action counts as undone; see [Ending.Undone].
	Report Report
	// Err is the reason of a refusal, one of those at [ErrRefused], or of a failure; otherwise nil.
	Err error
}

// resultOf returns the result of an undo with the report.
func resultOf(a postroom.Action, r Report) Result {
	o := Result{Action: a, Report: r}
	switch restored, skipped := !r.Restored.IsZero(), !r.Skipped.IsZero(); {
	case byHost(a):
		o.Ending = EndingHost
	case restored && skipped:
		o.Ending = EndingPart
	case restored:
		o.Ending = EndingRestored
	case skipped:
		o.Ending = EndingKept
	default:
		o.Ending = EndingNothing
	}
	return o
}

func failedResult(a postroom.Action, reason error) Result {
	return Result{Action: a, Ending: EndingFailed, Err: reason}
}

// refusal returns the result of a refused undo, and any other error.
func refusal(a postroom.Action, err error) (Result, error) {
	if r, ok := errors.AsType[*RefusedError](err); ok {
		return Result{Action: a, Ending: EndingRefused, Err: r.Reason}, nil
	}
	return Result{}, err
}

// A RefusedError reports that an action is not undone, and why. It matches [ErrRefused] and its reason.
type RefusedError struct {
	ActionID string
	Type     postroom.ActionType
	Reason   error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%v: action %s (%s): %v", ErrRefused, e.ActionID, e.Type, e.Reason)
}

// Is reports whether target is [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Reason }
