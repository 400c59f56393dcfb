package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// Some actions schedule a job that ends them: a snooze schedules the one that wakes the message. The undo of the
// action cancels that job, and the undo of the undo enqueues another like it. A wake-up that has been put off for a
// later snooze becomes due when that snooze is undone.

// paramReviveJob is the inverse parameter of an undo with the id of the job that it has canceled.
const paramReviveJob = "revive_job_id"

// scheduled returns the ids of the unfinished jobs that the action, or a later undo of its undo, has scheduled.
func (u *Undoer) scheduled(ctx context.Context, original postroom.Action) (ids []string, err error) {
	parameters := original.UndoHint.InverseParameters
	if id, ok := parameters.Text(postroom.ParamCancelJob); ok {
		ids = append(ids, id)
	}
	key, ok := parameters.Text(postroom.ParamCancelKey)
	if !ok {
		return ids, nil
	}
	jobs, err := u.queue.Jobs(ctx, queue.Filter{Key: key, States: []queue.State{queue.StateQueued, queue.StateRunning}})
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids, err
}

// scheduledKey returns the key of the jobs that an action has scheduled to end it.
func scheduledKey(p *safety.Past) (key string, ok bool) {
	if p.UndoHint == nil {
		return "", false
	}
	return p.UndoHint.InverseParameters.Text(postroom.ParamCancelKey)
}

func endsByItself(p *safety.Past) bool {
	_, ok := scheduledKey(p)
	return ok
}

// endedByThemselves returns which of the actions have been reversed by the jobs that they had scheduled, when the
// message has the snapshot now, and are without a wake-up on record: they ended under an earlier version, or beside an
// action that was given up.
func (u *Undoer) endedByThemselves(ctx context.Context, past []safety.Past, now postroom.Snapshot) (map[string]bool,
	error) {
	ended, recorded := make(map[string]bool), int64(0)
	if wakeUps := wakeUpsIn(past); len(wakeUps) > 0 {
		recorded = wakeUps[len(wakeUps)-1].Turn
	}
	for i := range past {
		key, ok := scheduledKey(&past[i])
		if !ok || past[i].Turn < recorded {
			continue
		}
		jobs, err := u.queue.Jobs(ctx, queue.Filter{Key: key})
		if err != nil {
			return nil, err
		}
		ended[past[i].ID] = slices.ContainsFunc(jobs, func(j queue.Job) bool { return j.State == queue.StateCompleted }) ||
			len(jobs) == 0 && endedUnseen(past, &past[i], now)
	}
	return ended, nil
}

// endedUnseen reports whether an action was reversed by a job that is no longer stored. An unfinished job is always
// stored; and if it was canceled, the labels that the action has added are still there.
func endedUnseen(past []safety.Past, p *safety.Past, now postroom.Snapshot) bool {
	return !slices.ContainsFunc(p.UndoHint.Own().Add, now.Has) &&
		!slices.ContainsFunc(past, func(other safety.Past) bool { return other.Undoes == p.ID })
}

// cancel cancels the jobs; one that has ended or is gone is as good.
func (u *Undoer) cancel(ctx context.Context, tx queue.Tx, jobIDs []string) error {
	for _, id := range jobIDs {
		if err := u.queue.CancelTx(ctx, tx, id); err != nil && !errors.Is(err, queue.ErrFinished) &&
			!errors.Is(err, queue.ErrJobNotFound) {
			return err
		}
	}
	return nil
}

// putOff returns the jobs of the message's other actions that have come due and have not ended their action yet. They
// wait for that of the undone action, or are about to, if that was executed later.
func (u *Undoer) putOff(ctx context.Context, original postroom.Action) (ids []string, err error) {
	if !endsByItself(&safety.Past{Action: original}) {
		return nil, nil
	}
	past, err := u.ledger.History(ctx, original.AccountID, original.MessageID)
	for i := range past {
		key, ok := scheduledKey(&past[i])
		if err != nil || !ok || past[i].ID == original.ID {
			continue
		}
		var jobs []queue.Job
		jobs, err = u.queue.Jobs(ctx, queue.Filter{Key: key, States: []queue.State{queue.StateQueued, queue.StateRunning}})
		for _, j := range jobs {
			if !j.StartedAt.IsZero() || timePassed(&past[i]) {
				ids = append(ids, j.ID)
			}
		}
	}
	return ids, err
}

// timePassed reports whether the time has come at which an action was to end by itself. A job that was put off and
// then enqueued again, by an undo and its undo, has not started and does not say so.
func timePassed(p *safety.Past) bool {
	text, _ := p.UndoHint.InverseParameters.Text(postroom.ParamCancelTime)
	until, err := time.Parse(time.RFC3339, text)
	return err == nil && until.Before(time.Now())
}

// makeDue makes the jobs due now. Each looks again at what it has to wait for. A job that is running starts again: it
// may have looked before the undo, and is then about to wait for the job that the undo cancels.
func (u *Undoer) makeDue(ctx context.Context, tx queue.Tx, jobIDs []string) error {
	for _, id := range jobIDs {
		err := u.queue.CancelTx(ctx, tx, id)
		if errors.Is(err, queue.ErrFinished) || errors.Is(err, queue.ErrJobNotFound) {
			continue
		}
		if err == nil {
			err = u.queue.RetryTx(ctx, tx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// revivable returns the job that the undo of an undo has to enqueue again; nil if there is none. The error is
// [ErrTooLate] if its time has passed, since nothing would then end the action. tx is nil outside of a transaction.
func (u *Undoer) revivable(ctx context.Context, tx queue.Tx, original postroom.Action) (job *queue.Job, err error) {
	id, ok := original.UndoHint.InverseParameters.Text(paramReviveJob)
	if !ok {
		return nil, nil //nolint:nilnil // none is no error, and no job
	}
	if tx == nil {
		job, err = u.queue.Job(ctx, id)
	} else {
		job, err = u.queue.JobTx(ctx, tx, id)
	}
	if errors.Is(err, queue.ErrJobNotFound) {
		return nil, fmt.Errorf("%w: its job %s is no longer stored", ErrTooLate, id)
	}
	if err == nil && job.Key == queue.Forever(job.Key.Name) {
		return nil, fmt.Errorf("%w: the key of its job %s is taken for ever", ErrTooLate, id)
	}
	if err == nil && !job.NotBefore.After(time.Now()) {
		return nil, fmt.Errorf("%w: its job %s was due at %s", ErrTooLate, id,
			job.NotBefore.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return job, err
}

// revive enqueues the job that the undo has canceled again, once for all attempts, and before anything is changed at
// the provider: a crash in between leaves a job that ends an action that has not begun.
func (u *Undoer) revive(ctx context.Context, w *queue.Work[ActionPayload], original postroom.Action) error {
	job, err := u.revivable(ctx, nil, original)
	if errors.Is(err, ErrTooLate) {
		if done, startedErr := w.StepStarted(ctx, stepRevive); done || startedErr != nil {
			return startedErr // enqueued in time, by an earlier attempt
		}
		return queue.Fatal(err)
	}
	if err != nil || job == nil {
		return err
	}
	_, err = queue.StepTx(ctx, w, stepRevive, func(ctx context.Context, tx queue.Tx) (string, error) {
		result, err := u.queue.EnqueueTx(ctx, tx, queue.NewJob{Type: job.Type, Payload: job.Payload,
			Options: queue.Options(job.Options)})
		return result.ID, err
	})
	return err
}

const stepRevive = "revive"
