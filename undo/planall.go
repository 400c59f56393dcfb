package undo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// Copies is a [Mailbox] that keeps copies of the messages, so that many undos are planned without a call to the
// provider for each.
type Copies interface {
	// Copies returns, by id, the labels of those of the messages that are still in the mailbox, as last synchronized.
	Copies(ctx context.Context, accountID string, messageIDs []string) (map[string]postroom.Snapshot, error)
	// MissingLabels returns those of the labels that the mailbox no longer has, as last synchronized.
	MissingLabels(ctx context.Context, accountID string, labelIDs []string) ([]string, error)
}

// PlanAll yields the expected result of [Undoer.RequestAll] with the same filter for each action, newest first. It
// changes nothing. As there, it omits undos, and actions that are undone already or that changed nothing.
//
// The plan is to undo all of them: if the filter selects several actions of a message, each is planned for the
// message as the earlier undos leave it, newest first, as they are requested. Workers may carry them out in another
// order; a label that several of them concern is then in another's report, and the final message is the same.
//
// It uses the ledger and, if the mailbox has [Copies], those, without a call to the provider: people's changes since
// the last synchronization are not in it. With any other mailbox the message is read at the provider, as
// [Undoer.Plan] does. Actions are read in batches of 100, each in its state at that time. An error is yielded last.
func (u *Undoer) PlanAll(ctx context.Context, f safety.Filter, all bool) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for actions, err := range u.pages(ctx, f, all) {
			var results []Result
			if err == nil {
				results, err = u.planPage(ctx, f, actions)
			}
			for _, o := range results {
				if !yield(o, nil) {
					return
				}
			}
			if err != nil {
				yield(Result{}, err)
				return
			}
		}
	}
}

// A messageKey names a message.
type messageKey struct{ accountID, messageID string }

func messageOf(a postroom.Action) messageKey { return messageKey{a.AccountID, a.MessageID} }

func (u *Undoer) planPage(ctx context.Context, f safety.Filter, actions []postroom.Action) (results []Result,
	err error) {
	snapshots, err := u.snapshots(ctx, actions)
	if err != nil {
		return nil, err
	}
	planned := make(map[string]*Result)
	for _, a := range actions {
		if _, ok := planned[a.ID]; !ok {
			if err := u.planMessage(ctx, f, a, snapshots[messageOf(a)], planned); err != nil {
				return results, fmt.Errorf("undo: plan for action %s: %w", a.ID, err)
			}
		}
		if o := planned[a.ID]; o != nil {
			results = append(results, *o)
		}
	}
	return results, nil
}

// snapshots returns the present snapshots of the actions' messages; those that are gone are not among them.
func (u *Undoer) snapshots(ctx context.Context, actions []postroom.Action) (map[messageKey]*postroom.Snapshot, error) {
	ids := make(map[string][]string) // of messages, by account
	snapshots := make(map[messageKey]*postroom.Snapshot)
	for _, a := range actions {
		if key := messageOf(a); !slices.Contains(ids[key.accountID], key.messageID) {
			ids[key.accountID] = append(ids[key.accountID], key.messageID)
		}
	}
	for accountID, messageIDs := range ids {
		found, err := u.copies(ctx, accountID, messageIDs)
		if err != nil {
			return nil, fmt.Errorf("undo: read the messages of account %s: %w", accountID, err)
		}
		for id, snapshot := range found {
			snapshots[messageKey{accountID, id}] = &snapshot
		}
	}
	return snapshots, nil
}

// copies asks a mailbox without [Copies] about each message.
func (u *Undoer) copies(ctx context.Context, accountID string, messageIDs []string) (map[string]postroom.Snapshot,
	error) {
	if c, ok := u.mailbox.(Copies); ok {
		return c.Copies(ctx, accountID, messageIDs)
	}
	found := make(map[string]postroom.Snapshot)
	for _, id := range messageIDs {
		snapshot, err := u.mailbox.Snapshot(ctx, accountID, id)
		if errors.Is(err, postroom.ErrMessageGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[id] = snapshot
	}
	return found, nil
}

// planMessage plans the undos of the action and of all others of its message that the filter selects; nil is of one
// that is left out. The snapshot is nil for a message that is gone.
func (u *Undoer) planMessage(ctx context.Context, f safety.Filter, a postroom.Action, snapshot *postroom.Snapshot,
	planned map[string]*Result) error {
	past, err := u.ledger.History(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return err
	}
	actions, err := u.selected(ctx, f, a, past)
	if err != nil {
		return err
	}
	m := &messagePlan{Undoer: u, past: past, snapshot: snapshot}
	for _, other := range actions {
		o, err := m.undo(ctx, other)
		switch {
		case errors.Is(o.Err, ErrNoHint), errors.Is(o.Err, ErrAlreadyUndone):
			planned[other.ID] = nil
		case err != nil:
			return err
		default:
			planned[other.ID] = &o
		}
	}
	return nil
}

// selected returns the actions of a's message that the filter selects, newest first. Most messages have one.
func (u *Undoer) selected(ctx context.Context, f safety.Filter, a postroom.Action,
	past []safety.Past) (actions []postroom.Action, err error) {
	only := func(p safety.Past) bool { return p.ID == a.ID || p.Undoes != "" }
	if len(past) > 0 && !slices.ContainsFunc(past, func(p safety.Past) bool { return !only(p) }) {
		return []postroom.Action{a}, nil
	}
	f.AccountID, f.MessageID = a.AccountID, a.MessageID
	for page, err := range u.pages(ctx, f, false) {
		if err != nil {
			return nil, err
		}
		actions = append(actions, page...)
	}
	return actions, nil
}

// A messagePlan is a message in a batch, as the undos planned so far would leave it.
type messagePlan struct {
	*Undoer
	past     []safety.Past
	snapshot *postroom.Snapshot // nil: gone
}

// undo plans the next undo of the message, and makes it.
func (m *messagePlan) undo(ctx context.Context, a postroom.Action) (Result, error) {
	live, err := m.ledger.LiveUndo(ctx, a.ID)
	if err != nil {
		return Result{}, err
	}
	if err := m.mayUndo(ctx, nil, a, live); err != nil {
		return refusal(a, err)
	}
	switch {
	case byHost(a):
		return resultOf(a, Report{Preserved: []ExternalChange{}}), nil
	case m.snapshot == nil:
		return failedResult(a, postroom.ErrMessageGone), nil
	}
	if err := m.identify(ctx, a); err != nil {
		return failedResult(a, err), ctx.Err()
	}
	r, err := m.planIn(ctx, m.past, a.ID, *m.snapshot)
	if err != nil {
		return Result{}, err
	}
	if missing, err := m.missing(ctx, a.AccountID, r.Restored.Add); err != nil || len(missing) > 0 {
		return failedResult(a, fmt.Errorf("%w: %s", ErrLabelGone, strings.Join(missing, ", "))), err
	}
	before, after := *m.snapshot, m.snapshot.Apply(r.Restored)
	m.past = append(m.past, safety.Past{Undoes: a.ID, Turn: math.MaxInt64, Action: postroom.Action{
		ID: "undo of " + a.ID, UndoHint: &postroom.UndoHint{Before: &before, After: &after},
	}})
	m.snapshot = &after
	return resultOf(a, r), nil
}

func (m *messagePlan) missing(ctx context.Context, accountID string, labelIDs []string) ([]string, error) {
	c, ok := m.mailbox.(Copies)
	if !ok || len(labelIDs) == 0 {
		return nil, nil
	}
	return c.MissingLabels(ctx, accountID, labelIDs)
}
