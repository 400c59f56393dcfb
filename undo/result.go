package undo

import (
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
)

// An Ending is what the undo of an action comes to.
type Ending string

// The endings of undos. Those of [Undoer.PlanAll] are what is to be expected, and those of [Undoer.ReportAll] what has happened.
const (
	// EndingRestored: all that the action had changed and that nobody has changed since is restored.
	EndingRestored Ending = "restored"
	// EndingPart: a part is restored, and the rest is kept as somebody has left it since; see [Report].Skipped.
	EndingPart Ending = "part"
	// EndingKept: nothing is restored, since all that would be is kept as somebody has left it.
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

// A Result is what the undo of one action does, or has done.
type Result struct {
	Action postroom.Action
	Ending Ending
	// Report is zero unless the action counts as undone; see [Ending.Undone].
	Report Report
	// Err is the reason of a refusal, one of those at [ErrRefused], or of a failure; else nil.
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
