package undo

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// failed makes the undo failed when the error is the job's last word, and returns what the handler returns. A failed undo
// stands in nobody's way: see [safety.Ledger.StartUndo].
func (u *Undoer) failed(ctx context.Context, w *queue.Work[Payload], undoID string, cause error) error {
	if ctx.Err() != nil {
		return cause // the job is stopped or canceled, and its end is not ours to write
	}
	if errors.Is(cause, postroom.ErrMessageGone) || errors.Is(cause, safety.ErrState) {
		cause = queue.Fatal(cause)
	}
	last, err := ends(ctx, w, cause)
	if err != nil || !last {
		return errors.Join(cause, err)
	}
	err = w.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		return u.ledger.Fail(ctx, tx, undoID, cause.Error())
	})
	if errors.Is(err, safety.ErrState) {
		err = nil // somebody has ended it before
	}
	return errors.Join(cause, err)
}

var errTakenBack = errors.New("taken back")

// ends tells whether the queue would end the job for the error. Attempts, budgets and verdicts are the queue's to weigh, so
// it is asked to fail the job, in a transaction that is then taken back.
func ends(ctx context.Context, w *queue.Work[Payload], cause error) (bool, error) {
	q, ended := w.Queue(), false
	err := w.Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		if err := q.FailTx(ctx, tx, &w.Job, cause); err != nil {
			return err
		}
		// Only a job that has ended can be retried.
		err := q.RetryTx(ctx, tx, w.Job.ID)
		if err != nil && !errors.Is(err, queue.ErrNotFinished) {
			return err
		}
		ended = err == nil
		return errTakenBack
	})
	if !errors.Is(err, errTakenBack) {
		return false, fmt.Errorf("undo: judge the failure of job %s: %w", w.Job.ID, err)
	}
	return ended, nil
}
