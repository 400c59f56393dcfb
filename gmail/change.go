package gmail

import (
	"context"
	"errors"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
)

func remove(label string) postroom.LabelChange { return postroom.LabelChange{Remove: []string{label}} }

// needed returns the part of the change that the image does not have already.
func needed(change postroom.LabelChange, image postroom.Snapshot) postroom.LabelChange {
	var out postroom.LabelChange
	for _, l := range change.Add {
		if !image.Has(l) {
			out.Add = append(out.Add, l)
		}
	}
	for _, l := range change.Remove {
		if image.Has(l) {
			out.Remove = append(out.Remove, l)
		}
	}
	return out
}

// applyChange makes a change that may include the trash and returns the labels of the message afterwards. It takes a
// message out of the trash first and puts it into the trash last, since both affect other labels. Each step can be
// repeated, and so can all of them.
func applyChange(ctx context.Context, c *gmailapi.Client, id string, change postroom.LabelChange) (postroom.Snapshot,
	error) {
	isTrash := func(l string) bool { return l == postroom.LabelTrash }
	trash, untrash := slices.ContainsFunc(change.Add, isTrash), slices.ContainsFunc(change.Remove, isTrash)
	rest := postroom.LabelChange{
		Add:    slices.DeleteFunc(slices.Clone(change.Add), isTrash),
		Remove: slices.DeleteFunc(slices.Clone(change.Remove), isTrash),
	}
	steps := []struct {
		wanted bool
		do     func() (postroom.Snapshot, error)
	}{
		{untrash, func() (postroom.Snapshot, error) { return c.Untrash(ctx, id) }},
		{!rest.IsZero(), func() (postroom.Snapshot, error) { return c.Modify(ctx, id, rest) }},
		{trash, func() (postroom.Snapshot, error) { return c.Trash(ctx, id) }},
		{change.IsZero(), func() (postroom.Snapshot, error) { return c.GetImage(ctx, id) }},
	}
	var image postroom.Snapshot
	touched := false
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		var err error
		if image, err = step.do(); err != nil && !touched {
			err = untouched(err)
		}
		if err != nil {
			return image, err
		}
		touched = true
	}
	return image, nil
}

// What an action has changed is told from the image of its message before: what is different afterwards, and is of
// the action's kind, the action has done. So the image must not be older than an attempt that may have had an effect,
// nor younger: in between, people change the message as well.

const (
	stepBefore = "before" // its result is the message's image before the first attempt
	// stepAgain has a cursor with the image before the first attempt that may have had an effect: null if none may have
	// had any.
	stepAgain = "before_again"
)

// A beforeImage is the image of a message before an action.
type beforeImage struct {
	postroom.Snapshot
	// HistoryID is where the history of the mailbox stood then, as far as is known: that of the latest change of the
	// message, or of the last sync if that was later. The history of a message that was not changed for a week is gone.
	// 0: it is not known, as of a job of an earlier version.
	HistoryID uint64 `json:"history_id,omitempty"`

	fresh bool // read in this attempt
}

// readBefore reads the image, unless an earlier attempt has, and may have had an effect. synced is where the history
// stood at the last sync of the mailbox.
func readBefore(ctx context.Context, w *queue.Work[ActionPayload], client *gmailapi.Client, id string,
	synced uint64) (before beforeImage, err error) {
	read := func(ctx context.Context) (beforeImage, error) {
		state, err := client.State(ctx, id)
		return beforeImage{state.Snapshot, max(state.HistoryID, synced), true}, err
	}
	if before, err = queue.Step(ctx, w, stepBefore, read); err != nil || before.fresh {
		return before, err
	}
	again, ok, err := queue.Cursor[*beforeImage](ctx, w, stepAgain)
	switch {
	case err != nil || !ok:
		return before, err
	case again != nil:
		return *again, nil
	}
	if before, err = read(ctx); err != nil {
		return before, err
	}
	return before, queue.SaveCursor(ctx, w, stepAgain, &before)
}

// An earlier attempt may have changed the message, and a person may have taken that back since: a killed process tells
// nobody. So before a change is repeated, the history of the message is read.

// unlessTakenBack returns what is left to do of the change, which the image lacked: the labels that nobody has changed
// so since. What was changed so, and is not so now, somebody has taken back. now is the image as it is.
func (b beforeImage) unlessTakenBack(ctx context.Context, client *gmailapi.Client, id string,
	change postroom.LabelChange) (rest postroom.LabelChange, now postroom.Snapshot, err error) {
	if b.fresh || b.HistoryID == 0 || change.IsZero() {
		return change, b.Snapshot, nil
	}
	state, err := client.State(ctx, id)
	if err != nil || state.HistoryID <= b.HistoryID {
		return change, state.Snapshot, err
	}
	done, err := changedSince(ctx, client, id, b.HistoryID)
	if gmailapi.ClassOf(err) == gmailapi.ClassHistoryExpired {
		return change, state.Snapshot, nil
	}
	rest = postroom.LabelChange{Add: except(change.Add, done.Add), Remove: except(change.Remove, done.Remove)}
	return rest, state.Snapshot, err
}

// changedSince returns the labels that the message has got and lost since a history id, some of them both.
func changedSince(ctx context.Context, client *gmailapi.Client, id string, since uint64) (done postroom.LabelChange,
	err error) {
	for token := ""; ; {
		page, err := client.ListHistory(ctx, since, token)
		if err != nil {
			return done, err
		}
		for _, e := range page.Events {
			if e.MessageID == id && (e.Kind == gmailapi.LabelsAdded || e.Kind == gmailapi.LabelsRemoved) {
				did := e.Change()
				done.Add, done.Remove = append(done.Add, did.Add...), append(done.Remove, did.Remove...)
			}
		}
		if token = page.NextPageToken; token == "" {
			return done, nil
		}
	}
}

func except(labels, others []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return slices.Contains(others, l) })
}

// unlessUntouched returns the error of the attempt. If no attempt has had an effect, the next one reads the image
// again.
func (b beforeImage) unlessUntouched(ctx context.Context, w *queue.Work[ActionPayload], err error) error {
	var untouched *untouchedError
	if !b.fresh || !errors.As(err, &untouched) {
		return err
	}
	return errors.Join(err, queue.SaveCursor(ctx, w, stepAgain, (*beforeImage)(nil)))
}

// An untouchedError says that the message has not been changed in this attempt.
type untouchedError struct{ error }

func (e *untouchedError) Unwrap() error { return e.error }

// untouched returns the error of the first call of a change. If Gmail was not asked, or has refused, the call had no
// effect.
func untouched(err error) error {
	if class := gmailapi.ClassOf(err); class.Defers() || class == gmailapi.ClassUnauthorized ||
		class == gmailapi.ClassPrecondition {
		return &untouchedError{err}
	}
	return err
}
