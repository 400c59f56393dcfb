package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// ReportAll yields the results of the undos of all completed actions that the filter selects, newest first; see
// [Undoer.Result]. It omits undos and actions that changed nothing. The filter and all are those of
// [Undoer.RequestAll]. An error is yielded last.
func (u *Undoer) ReportAll(ctx context.Context, f safety.Filter, all bool) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for actions, err := range u.pages(ctx, f, all) {
			if err != nil {
				yield(Result{}, err)
				return
			}
			for _, a := range actions {
				o, err := u.result(ctx, a)
				if errors.Is(o.Err, ErrNoHint) {
					continue
				}
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
	}
}

// Result returns the result of the undo of an action: what it has restored and kept, why it was refused or has
// failed, that it waits, or that nobody has requested it.
func (u *Undoer) Result(ctx context.Context, actionID string) (Result, error) {
	a, err := u.ledger.Action(ctx, actionID)
	if err != nil {
		return Result{}, err
	}
	return u.result(ctx, a)
}

func (u *Undoer) result(ctx context.Context, a postroom.Action) (Result, error) {
	live, err := u.ledger.LiveUndo(ctx, a.ID)
	switch {
	case err != nil:
		return Result{}, err
	case live == nil:
		return u.notUndone(ctx, a)
	case live.State != postroom.ActionCompleted:
		return Result{Action: a, Ending: EndingWaiting, JobID: live.JobID}, nil
	}
	r, err := u.storedReport(ctx, live.ID)
	o := resultOf(a, r)
	o.JobID = live.JobID
	return o, err
}

// notUndone returns the result of an undo that has not begun, or has failed.
func (u *Undoer) notUndone(ctx context.Context, a postroom.Action) (Result, error) {
	if err := u.mayUndo(ctx, nil, a, nil); err != nil {
		return refusal(a, err)
	}
	jobs, err := u.queue.Jobs(ctx, queue.Filter{Key: jobKey(a), Limit: 1})
	if err != nil {
		return Result{}, err
	}
	if len(jobs) > 0 && !jobs[0].State.Finished() {
		return Result{Action: a, Ending: EndingWaiting, JobID: jobs[0].ID}, nil
	}
	undos, err := u.ledger.Undos(ctx, a.ID)
	switch {
	case err != nil:
		return Result{}, err
	case len(undos) > 0 && undos[0].State == postroom.ActionFailed:
		return failedResult(a, failureOf(undos[0])), nil
	case len(jobs) > 0 && jobs[0].State != queue.StateCompleted:
		return failedResult(a, fmt.Errorf("its job was %s: %s", jobs[0].State, jobs[0].LastError)), nil
	}
	return Result{Action: a, Ending: EndingOpen}, nil
}

// storedReport returns the report that an undo has stored.
func (u *Undoer) storedReport(ctx context.Context, undoID string) (r Report, err error) {
	stored, err := u.ledger.Report(ctx, undoID)
	if err == nil {
		err = json.Unmarshal(stored, &r)
	}
	if err != nil {
		return r, fmt.Errorf("undo: read the report of action %s: %w", undoID, err)
	}
	return r, nil
}
