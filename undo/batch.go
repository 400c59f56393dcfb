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
	// Requested are the ids of the actions that a job undoes, newest first: the job was enqueued, or was unfinished
	// already.
	Requested []string
	// Refused has the reasons for the actions that cannot be undone, by their ids; see [ErrRefused]. Actions that are
	// undone already, undos, and actions that changed nothing are in neither.
	Refused map[string]error
}

// batchSize is how many actions a transaction requests.
const batchSize = 100

// RequestAll requests the undo of all completed actions that the filter selects: those of a rule, of a decision
// source, of a sender, since an instant. Its Before, Limit and States must be zero. A filter without a restriction is
// refused unless all is true, which undoes everything.
//
// It enqueues in batches of 100, each in a transaction of its own. If it fails in between, Batch has the requested
// undos; another call continues.
func (u *Undoer) RequestAll(ctx context.Context, f safety.Filter, all bool) (Batch, error) {
	return u.requestAll(ctx, u.pages(ctx, f, all))
}

// RequestRedos is [Undoer.RequestAll] for undos: it requests the undo of all completed undos of actions that the filter
// selects, so that the flags of a batch take the batch back. Types are those of the actions. Since and Until are about
// the undos: a batch of old actions may have been undone just now. Batch has the ids of the undos.
func (u *Undoer) RequestRedos(ctx context.Context, f safety.Filter, all bool) (Batch, error) {
	return u.requestAll(ctx, u.redoPages(ctx, f, all))
}

// Redos yields the undos that [Undoer.RequestRedos] would undo, newest first; it changes nothing.
func (u *Undoer) Redos(ctx context.Context, f safety.Filter, all bool) iter.Seq2[postroom.Action, error] {
	return func(yield func(postroom.Action, error) bool) {
		for undos, err := range u.redoPages(ctx, f, all) {
			if err != nil {
				yield(postroom.Action{}, err)
				return
			}
			for _, a := range undos {
				live, err := u.ledger.LiveUndo(ctx, a.ID)
				if live == nil && !yield(a, err) || err != nil {
					return
				}
			}
		}
	}
}

func (u *Undoer) requestAll(ctx context.Context, pages iter.Seq2[[]postroom.Action, error]) (Batch, error) {
	b := Batch{Refused: make(map[string]error)}
	for actions, err := range pages {
		if err == nil {
			err = u.queue.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				return u.requestPage(ctx, tx, actions, &b)
			})
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
	return u.pagesOf(ctx, f, all, func(t postroom.ActionType) bool { return !safety.IsUndo(t) })
}

// redoPages yields the completed undos of what the filter selects, undos of undos excluded.
func (u *Undoer) redoPages(ctx context.Context, f safety.Filter, all bool) iter.Seq2[[]postroom.Action, error] {
	types := f.Types
	f.Types = nil
	for _, t := range types {
		f.Types = append(f.Types, safety.UndoType(t))
	}
	return u.pagesOf(ctx, f, all, func(t postroom.ActionType) bool { return safety.IsUndo(t) && !safety.IsRedo(t) })
}

func (u *Undoer) pagesOf(ctx context.Context, f safety.Filter, all bool,
	keep func(postroom.ActionType) bool) iter.Seq2[[]postroom.Action, error] {
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
			if len(entries) > 0 && !yield(actionsOf(entries, keep), nil) || len(entries) < batchSize {
				return
			}
			f.Before = entries[len(entries)-1].Action.ID
		}
	}
}

func checkFilter(f safety.Filter, all bool) error {
	switch {
	case f.Before != "" || f.Limit != 0 || len(f.States) > 0:
		return errors.New(
			"undo: the Before, Limit and States of the filter must be zero: all completed actions that it selects are meant")
	case f.SelectsAll() && !all:
		return errors.New("undo: the filter is empty; say that all is meant to undo every action there is")
	}
	return nil
}

func actionsOf(entries []safety.Entry, keep func(postroom.ActionType) bool) (actions []postroom.Action) {
	for _, e := range entries {
		if keep(e.Action.Type) {
			actions = append(actions, e.Action)
		}
	}
	return actions
}
