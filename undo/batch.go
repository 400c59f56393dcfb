package undo

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// A Batch is the answer to a request that concerns many actions.
type Batch struct {
	// Requested are the ids of the actions that are undone by a job, newest first: one that was enqueued, or one that was
	// unfinished already.
	Requested []string
	// Refused has the reasons for the actions that cannot be undone, by their ids; see [ErrRefused]. Actions that are undone
	// already, undos, and actions that changed nothing are in neither.
	Refused map[string]error
}

// batchSize is how many actions a transaction requests.
const batchSize = 100

// RequestAll requests the undo of all completed actions that the filter selects: those of a rule, of a decision source, of a
// sender, since an instant. Its Before, Limit and States must be zero. A filter that selects nothing in particular is refused
// unless all is true, which undoes everything.
//
// It enqueues by batches of 100, each in a transaction of its own. When it fails in between, Batch has what was requested;
// calling it again goes on.
func (u *Undoer) RequestAll(ctx context.Context, f safety.Filter, all bool) (Batch, error) {
	b := Batch{Refused: make(map[string]error)}
	err := u.each(ctx, f, all, func(entries []safety.Entry) error {
		return u.queue.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			for _, e := range entries {
				if err := b.note(e.Action.ID, u.tryRequest(ctx, tx, e.Action.ID)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return b, err
}

func (u *Undoer) tryRequest(ctx context.Context, tx queue.Tx, actionID string) error {
	_, err := u.RequestTx(ctx, tx, actionID)
	return err
}

// PlanAll returns what [Undoer.RequestAll] would request. It changes nothing and does not ask the mailbox; [Undoer.Plan] says
// what becomes of one message.
func (u *Undoer) PlanAll(ctx context.Context, f safety.Filter, all bool) (Batch, error) {
	b := Batch{Refused: make(map[string]error)}
	err := u.each(ctx, f, all, func(entries []safety.Entry) error {
		for _, e := range entries {
			live, err := u.ledger.LiveUndo(ctx, e.Action.ID)
			if err != nil {
				return err
			}
			if err := b.note(e.Action.ID, u.mayUndo(ctx, e.Action, live)); err != nil {
				return err
			}
		}
		return nil
	})
	return b, err
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

// each calls fn for the completed actions that the filter selects, undos excluded, by batches, newest first.
func (u *Undoer) each(ctx context.Context, f safety.Filter, all bool, fn func(entries []safety.Entry) error) error {
	if f.Before != "" || f.Limit != 0 || len(f.States) > 0 {
		return errors.New("undo: the Before, Limit and States of the filter must be zero: all completed actions that it selects are meant")
	}
	if f.SelectsAll() && !all {
		return errors.New("undo: the filter is empty; say that all is meant to undo every action there is")
	}
	f.States, f.Limit = []postroom.ActionState{postroom.ActionCompleted}, batchSize
	for {
		entries, err := u.ledger.Actions(ctx, f)
		if err != nil {
			return fmt.Errorf("undo: find the actions: %w", err)
		}
		if len(entries) == 0 {
			return nil
		}
		f.Before = entries[len(entries)-1].Action.ID
		if err := fn(withoutUndos(entries)); err != nil {
			return err
		}
	}
}

func withoutUndos(entries []safety.Entry) (actions []safety.Entry) {
	for _, e := range entries {
		if !safety.IsUndo(e.Action.Type) {
			actions = append(actions, e)
		}
	}
	return actions
}
