package undo

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// A Batch is the answer to a request that concerns many actions.
type Batch struct {
	// Requested are the ids of the actions that a job undoes, newest first: the job was enqueued, or was unfinished already.
	Requested []string
	// Refused has the reasons for the actions that cannot be undone, by their ids; see [ErrRefused]. Actions that are undone
	// already, undos, and actions that changed nothing are in neither.
	Refused map[string]error
}

// batchSize is how many actions a transaction requests.
const batchSize = 100

// RequestAll requests the undo of all completed actions that the filter selects: those of a rule, of a decision source, of a
// sender, since an instant. Its Before, Limit and States must be zero. A filter without a restriction is refused unless all is
// true, which undoes everything.
//
// It enqueues in batches of 100, each in a transaction of its own. If it fails in between, Batch has the requested undos; another
// call continues.
func (u *Undoer) RequestAll(ctx context.Context, f safety.Filter, all bool) (Batch, error) {
	b := Batch{Refused: make(map[string]error)}
	for actions, err := range u.pages(ctx, f, all) {
		if err == nil {
			err = u.queue.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error { return u.requestPage(ctx, tx, actions, &b) })
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

func (u *Undoer) requestPage(ctx context.Context, tx queue.Tx, actions []postroom.Action, b *Batch) error {
	for _, a := range actions {
		_, err := u.RequestTx(ctx, tx, a.ID)
		if err := b.note(a.ID, err); err != nil {
			return err
		}
	}
	return nil
}

// note sorts an action by the answer to its request, and returns errors that are no refusals.
func (b *Batch) note(actionID string, err error) error {
	switch {
	case err == nil:
		b.Requested = append(b.Requested, actionID)
	case errors.Is(err, ErrAlreadyUndone), errors.Is(err, ErrNoHint):
	case errors.Is(err, ErrRefused):
		b.Refused[actionID] = err
	default:
		return err
	}
	return nil
}

// pages yields the completed actions that the filter selects, undos excluded, by batches, newest first.
func (u *Undoer) pages(ctx context.Context, f safety.Filter, all bool) iter.Seq2[[]postroom.Action, error] {
	return func(yield func([]postroom.Action, error) bool) {
		if err := checkFilter(f, all); err != nil {
			yield(nil, err)
			return
		}
		f.States, f.Limit = []postroom.ActionState{postroom.ActionCompleted}, batchSize
		for {
			entries, err := u.ledger.Actions(ctx, f)
			if err != nil {
				yield(nil, fmt.Errorf("undo: find the actions: %w", err))
				return
			}
			if len(entries) > 0 && !yield(withoutUndos(entries), nil) || len(entries) < batchSize {
				return
			}
			f.Before = entries[len(entries)-1].Action.ID
		}
	}
}

func checkFilter(f safety.Filter, all bool) error {
	switch {
	case f.Before != "" || f.Limit != 0 || len(f.States) > 0:
		return errors.New("undo: the Before, Limit and States of the filter must be zero: all completed actions that it selects are meant")
	case f.SelectsAll() && !all:
		return errors.New("undo: the filter is empty; say that all is meant to undo every action there is")
	}
	return nil
}

func withoutUndos(entries []safety.Entry) (actions []postroom.Action) {
	for _, e := range entries {
		if !safety.IsUndo(e.Action.Type) {
			actions = append(actions, e.Action)
		}
	}
	return actions
}
