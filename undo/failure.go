package undo

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// failed makes the undo failed if no attempt follows the error, and returns the result of the handler. A failed undo
// does not keep the action from being undone: see [safety.Ledger.StartUndo].
func (u *Undoer) failed(ctx context.Context, w *queue.Work[ActionPayload], undoID string, cause error) error {
	if ctx.Err() != nil {
		return cause // the job is stopped or canceled, and its end is not ours to write
	}
	if errors.Is(cause, postroom.ErrMessageGone) || errors.Is(cause, safety.ErrState) {
		cause = queue.Fatal(cause)
	}
	if !w.Ends(cause) {
		return cause
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return u.ledger.Fail(ctx, tx, undoID, reasonOf(cause))
	})
	if errors.Is(err, safety.ErrState) {
		err = nil // it has ended before
	}
	return errors.Join(cause, err)
}

// reasonOf returns the reason that is stored with a failed undo. That a message is gone is said alike of all; the job
// has the details.
func reasonOf(cause error) string {
	if errors.Is(cause, postroom.ErrMessageGone) {
		return postroom.ErrMessageGone.Error()
	}
	return cause.Error()
}

// failureOf returns the error with a stored reason.
func failureOf(undo postroom.Action) error {
	if undo.Error == postroom.ErrMessageGone.Error() {
		return postroom.ErrMessageGone
	}
	return errors.New(undo.Error)
}
