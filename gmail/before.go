package gmail

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
)

// What an action has changed is told from the image of its message before: what is different afterwards, and is of the action's kind,
// the action has done. So the image must not be older than an attempt that may have had an effect, nor younger: in between, people
// change the message as well.

const (
	stepBefore = "before" // its result is the message's image before the first attempt
	// stepAgain has a cursor with the image before the first attempt that may have had an effect: null if none may have had any.
	stepAgain = "before_again"
)

// A beforeImage is the image of a message before an action.
type beforeImage struct {
	postroom.Snapshot
	fresh bool // read in this attempt
}

// readBefore reads the image, unless an earlier attempt has, and may have had an effect.
func readBefore(ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, id string) (before beforeImage, err error) {
	read := func(ctx context.Context) (postroom.Snapshot, error) {
		before.fresh = true
		return client.GetImage(ctx, id)
	}
	if before.Snapshot, err = queue.Step(ctx, w, stepBefore, read); err != nil || before.fresh {
		return before, err
	}
	again, ok, err := queue.Cursor[*postroom.Snapshot](ctx, w, stepAgain)
	switch {
	case err != nil || !ok:
		return before, err
	case again != nil:
		before.Snapshot = *again
		return before, nil
	}
	if before.Snapshot, err = read(ctx); err != nil {
		return before, err
	}
	return before, queue.SaveCursor(ctx, w, stepAgain, &before.Snapshot)
}

// unlessUntouched returns the error of the attempt. If no attempt has had an effect, the next one reads the image again.
func (b beforeImage) unlessUntouched(ctx context.Context, w *queue.Work[ActionPayload], err error) error {
	var untouched *untouchedError
	if !b.fresh || !errors.As(err, &untouched) {
		return err
	}
	return errors.Join(err, queue.SaveCursor(ctx, w, stepAgain, (*postroom.Snapshot)(nil)))
}

// An untouchedError says that the message has not been changed in this attempt.
type untouchedError struct{ error }

func (e *untouchedError) Unwrap() error { return e.error }

// untouched returns the error of the first call of a change. If Gmail was not asked, or has refused, the call had no effect.
func untouched(err error) error {
	if class := gmailapi.ClassOf(err); class.Defers() || class == gmailapi.ClassUnauthorized || class == gmailapi.ClassPrecondition {
		return &untouchedError{err}
	}
	return err
}
