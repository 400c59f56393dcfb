package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// JobAction undoes one action. Enqueue it with [Undoer.Request].
const JobAction queue.Type[ActionPayload] = "undo.action"

// An ActionPayload names the action that a [JobAction] undoes.
type ActionPayload struct {
	AccountID        string `json:"account_id"`
	OriginalActionID string `json:"original_action_id"`
}

// newJob has a key that is free again once the job has finished: an undo that failed may be asked for again.
func newJob(original postroom.Action) queue.NewJob {
	key := fmt.Sprintf("%s:%s:%s", JobAction, original.AccountID, original.ID)
	return JobAction.New(ActionPayload{AccountID: original.AccountID, OriginalActionID: original.ID},
		&queue.Options{Key: queue.WhileUnfinished(key)})
}

// paramCancelJob is the inverse parameter with the id of a job that the action has scheduled and that must not run when
// the action is taken back: the end of a snooze.
const paramCancelJob = "cancel_unsnooze_job_id"

// handle is the handler of [JobAction].
func (u *Undoer) handle(ctx context.Context, w *queue.Work[ActionPayload]) error {
	original, err := u.original(ctx, w.Payload)
	if err != nil {
		return err
	}
	undo, err := u.begin(ctx, w, original.ID)
	if err != nil {
		return err
	}
	if err := u.restore(ctx, w, original, undo); err != nil {
		return u.failed(ctx, w, undo.ID, err)
	}
	return nil
}

// original checks again what [Undoer.Request] has checked: much may have happened since, and jobs can be enqueued by hand.
func (u *Undoer) original(ctx context.Context, p ActionPayload) (postroom.Action, error) {
	a, err := u.ledger.Action(ctx, p.OriginalActionID)
	if errors.Is(err, postroom.ErrNotFound) {
		return a, queue.Fatal(err)
	}
	if err != nil {
		return a, err
	}
	if a.AccountID != p.AccountID {
		return a, queue.Fatal(fmt.Errorf("undo: action %s does not belong to account %s", a.ID, p.AccountID))
	}
	if err := check(a, nil); err != nil {
		return a, queue.Fatal(err)
	}
	return a, nil
}

// begin records the undo as this job's. An undo whose job has ended without finishing it, because it was canceled or its
// process died too often, is given up for it.
func (u *Undoer) begin(ctx context.Context, w *queue.Work[ActionPayload], originalID string) (undo postroom.Action, err error) {
	start := func(ctx context.Context, tx queue.Tx) error {
		undo, err = u.ledger.StartUndo(ctx, tx, originalID, w.Job.ID)
		return err
	}
	err = w.Write(ctx, start)
	var taken *safety.UndoneError
	if !errors.As(err, &taken) {
		return undo, err
	}
	dead, deadErr := u.abandoned(ctx, taken.Undo)
	if deadErr != nil {
		return undo, deadErr
	}
	if !dead {
		return undo, queue.Fatal(err)
	}
	err = w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := u.ledger.Fail(ctx, tx, taken.Undo.ID, "its job ended before it did"); err != nil {
			return err
		}
		return start(ctx, tx)
	})
	return undo, err
}

func (u *Undoer) abandoned(ctx context.Context, undo postroom.Action) (bool, error) {
	if undo.State != postroom.ActionExecuting {
		return false, nil
	}
	job, err := u.queue.Job(ctx, undo.JobID)
	if errors.Is(err, queue.ErrJobNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return job.State.Finished(), nil
}

// restore changes the message and then, in one transaction, the ledger, our copy of the message and the job.
//
// The image that the first attempt has read is a step of the job: an attempt that follows a crash cannot mistake what
// was done by the one before for a change of the user's.
func (u *Undoer) restore(ctx context.Context, w *queue.Work[ActionPayload], original, undo postroom.Action) error {
	image := func(ctx context.Context) (postroom.Image, error) {
		return u.mailbox.Image(ctx, original.AccountID, original.MessageID)
	}
	fresh := false
	seen, err := queue.Step(ctx, w, "image "+undo.ID, func(ctx context.Context) (postroom.Image, error) {
		fresh = true
		return image(ctx)
	})
	if err != nil {
		return err
	}
	report := plan(*original.UndoHint.Before, *original.UndoHint.After, seen)
	change, now := report.Restored, seen
	if !fresh {
		if now, err = image(ctx); err != nil {
			return err
		}
		change, report = resume(report, seen, now)
	}
	if !change.IsZero() {
		if now, err = u.mailbox.Apply(ctx, original.AccountID, original.MessageID, change); err != nil {
			return err
		}
	}
	return u.finish(ctx, w, original, undo, report, postroom.UndoHint{
		InverseAction: postroom.None, Irreversible: true, Before: &seen, After: &now,
	})
}

func (u *Undoer) finish(
	ctx context.Context, w *queue.Work[ActionPayload], original, undo postroom.Action, report Report, hint postroom.UndoHint,
) error {
	stored, err := json.Marshal(report)
	if err != nil {
		return queue.Fatal(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := u.ledger.SetReport(ctx, tx, undo.ID, stored); err != nil {
			return err
		}
		if err := u.ledger.Complete(ctx, tx, undo.ID, hint); err != nil {
			return err
		}
		if err := u.mailbox.SetImage(ctx, tx, original.AccountID, original.MessageID, *hint.After); err != nil {
			return err
		}
		return u.cancelScheduled(ctx, tx, original)
	})
}

// cancelScheduled cancels the job that the action has scheduled, if it did; one that has run or is gone is as good.
func (u *Undoer) cancelScheduled(ctx context.Context, tx queue.Tx, original postroom.Action) error {
	id, ok := original.UndoHint.InverseParameters.Text(paramCancelJob)
	if !ok {
		return nil
	}
	err := u.queue.CancelTx(ctx, tx, id)
	if errors.Is(err, queue.ErrFinished) || errors.Is(err, queue.ErrJobNotFound) {
		return nil
	}
	return err
}
