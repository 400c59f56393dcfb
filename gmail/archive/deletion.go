package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// stepDelete is started before a message is deleted.
const stepDelete = "delete"

var errNoArchive = queue.Fatal(errors.New("archive: nothing is deleted here; the kind has no Archive"))

// NewDeleteKind describes the action [postroom.Delete], for use in place of the standard one: a message is deleted for
// ever only when the archive has a copy of it that was read back, and so the deletion can be undone. It is as dangerous
// as the standard one. archive returns the archive when an action is carried out; a nil function, or one that returns
// nil, is for programs that carry out nothing.
func NewDeleteKind(archive func() *Archive) postroom.Kind {
	find := func() (*Archive, error) {
		if archive == nil {
			return nil, errNoArchive
		}
		if a := archive(); a != nil {
			return a, nil
		}
		return nil, errNoArchive
	}
	kind, _ := postroom.StandardKind(postroom.Delete)
	kind.Summary = "delete the message for ever; a copy stays in the archive"
	kind.Handler = func(ctx context.Context, run postroom.Run, action postroom.Action) (postroom.Outcome, error) {
		a, err := find()
		if err != nil {
			return postroom.Outcome{}, err
		}
		return a.delete(ctx, run, action)
	}
	kind.Undo = func(ctx context.Context, _ postroom.Run, action postroom.Action) (postroom.Commit, error) {
		a, err := find()
		if err != nil {
			return nil, err
		}
		return nil, a.undelete(ctx, action)
	}
	return kind
}

// DeleteKind is [NewDeleteKind] of this archive.
func (a *Archive) DeleteKind() postroom.Kind { return NewDeleteKind(func() *Archive { return a }) }

// paramMessage is Gmail's id of the message that was deleted, for the undo.
const paramMessage = "archived_message"

// delete archives the message of an action, and then deletes it. Nothing that fails before deletes it.
func (a *Archive) delete(ctx context.Context, run postroom.Run, action postroom.Action) (done postroom.Outcome,
	err error) {
	account, client, err := a.open(ctx, action.AccountID)
	if err != nil {
		return done, err
	}
	known, err := a.cfg.Store.Copies().Copy(ctx, action.AccountID, action.MessageID)
	if err == nil {
		err = mailstore.CheckProviderID(action, known.ProviderID)
	}
	if err != nil {
		return done, err
	}
	id := known.ProviderID
	begun, err := run.StepStarted(ctx, stepDelete)
	if err != nil {
		return done, err
	}
	// Each attempt looks at the copy, which may have been lost since the last one.
	if err = a.Keep(ctx, account, client, id); err == nil && !begun {
		err = run.StartStep(ctx, stepDelete)
	}
	if err == nil {
		err = client.Delete(ctx, id)
	}
	// If a later attempt finds the message gone, an earlier one whose answer was lost has deleted it.
	if err != nil && (!begun || !errors.Is(err, postroom.ErrMessageGone)) {
		return done, err
	}
	done.Undo = postroom.Parameters{paramMessage: id}
	done.Commit = func(ctx context.Context, tx postroom.Tx) error {
		_, err := a.cfg.Store.Copies().MarkDeletedByID(ctx, tx, action.AccountID, action.MessageID)
		return err
	}
	return done, nil
}

// Keep archives one message as Gmail has it now, spam and trash included, and reads the copy back.
func (a *Archive) Keep(ctx context.Context, account mailstore.Account, client *gmailapi.Client, id string) error {
	names, err := labelNames(ctx, client)
	if err != nil {
		return err
	}
	e, raw, err := a.fetchRaw(ctx, client, id, names)
	if err != nil {
		return err
	}
	unlock, err := a.lock(ctx, account.ID) // an equal message may be removed just now
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := a.ensure(ctx, account.ID, account.Email); err != nil {
		return err
	}
	if e.SHA256, err = a.writeMail(ctx, account.ID, raw); err != nil {
		return err
	}
	if err := a.addLocked(ctx, account.ID, account.Email, &manifest{lines: []line{{Mail: &e, read: true}}}); err != nil {
		return err
	}
	if _, err := a.Message(ctx, account.ID, id); err != nil {
		return fmt.Errorf("archive: message %s was archived and is not in the index: %w", id, err)
	}
	return nil
}

// undelete puts the message of a deletion back into its mailbox, with the labels that it had.
func (a *Archive) undelete(ctx context.Context, action postroom.Action) error {
	if action.UndoHint == nil {
		return queue.Fatal(fmt.Errorf("archive: action %s says nothing of a copy", action.ID))
	}
	id, _ := action.UndoHint.Undo.Text(paramMessage)
	e, err := a.Message(ctx, action.AccountID, id)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Fatal(err)
	}
	if err != nil {
		return err
	}
	if e.Removed {
		return queue.Fatal(fmt.Errorf("archive: message %s cannot be put back: %w", id, ErrRemoved))
	}
	_, client, err := a.open(ctx, action.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	e.State = Gone // as the next run would find it
	im := &importer{Archive: a, id: "undo of " + action.ID, source: action.AccountID, accountID: action.AccountID,
		client: client}
	row, err := im.bring(ctx, &e)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	if row.Outcome == Faulty {
		return queue.Fatal(fmt.Errorf("archive: message %s cannot be put back: %s", id, row.Detail))
	}
	return nil
}
