package undo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// Why an undo is refused; test for them with errors.Is. Each is [ErrRefused] as well. An action that does not exist is
// [postroom.ErrNotFound].
var (
	// ErrRefused: there is no undo, for one of the reasons below, and nothing has been written.
	ErrRefused = errors.New("undo refused")
	// ErrNotCompleted: the action has not been carried out, so that there is nothing to take back.
	ErrNotCompleted = errors.New("the action is not completed")
	// ErrIrreversible: nothing takes the action back.
	ErrIrreversible = errors.New("the action cannot be taken back")
	// ErrNoHint: the action left no images of the message to go back to; action none, for one, changes nothing.
	ErrNoHint = errors.New("the action left nothing to go back to")
	// ErrIsUndo: the action is an undo itself. What it took back can be done again as a new action.
	ErrIsUndo = errors.New("the action is an undo, which is not undone")
	// ErrAlreadyUndone: the action has been taken back, or another job is at it; see [safety.UndoneError].
	ErrAlreadyUndone = safety.ErrAlreadyUndone
)

// ErrNotUndone: there is no report, because the action has not been taken back, or not yet.
var ErrNotUndone = errors.New("the action has not been taken back")

// A Mailbox is where messages are: package gmail has one. A message is named by our id, its state is an image of the
// provider's label ids, the trash included.
//
// Its errors are what a handler returns: plain ones are retried, [queue.Fatal], [queue.RetryAfter] and [queue.Defer] mean
// what they mean there, and [postroom.ErrMessageGone] says that there is no message any more.
type Mailbox interface {
	// Image reads the message as the provider has it now.
	Image(ctx context.Context, accountID, messageID string) (postroom.Image, error)
	// Apply changes the message at the provider and returns what it has become. Applying a change again changes nothing.
	Apply(ctx context.Context, accountID, messageID string, change postroom.LabelChange) (postroom.Image, error)
	// SetImage makes our own copy of the message's labels equal to the image.
	SetImage(ctx context.Context, tx queue.Tx, accountID, messageID string, image postroom.Image) error
}

// Config is what an [Undoer] works with; all of it is required.
type Config struct {
	Queue   *queue.Queue
	Ledger  *safety.Ledger
	Mailbox Mailbox
}

// An Undoer takes actions back. It is safe for concurrent use.
type Undoer struct {
	queue   *queue.Queue
	ledger  *safety.Ledger
	mailbox Mailbox
}

// New makes an undoer; register its [Undoer.Handle] for [Job].
func New(cfg Config) (*Undoer, error) {
	switch {
	case cfg.Queue == nil:
		return nil, errors.New("undo: Config.Queue is nil; it is required")
	case cfg.Ledger == nil:
		return nil, errors.New("undo: Config.Ledger is nil; it is required")
	case cfg.Mailbox == nil:
		return nil, errors.New("undo: Config.Mailbox is nil; it is required")
	}
	return &Undoer{queue: cfg.Queue, ledger: cfg.Ledger, mailbox: cfg.Mailbox}, nil
}

// Request asks for an action to be taken back: it enqueues the job, unless one is at it already (the receipt says so). All
// ways to undo go through it. What can be refused is refused here, before anything is written.
func (u *Undoer) Request(ctx context.Context, actionID string) (receipt queue.EnqueueResult, err error) {
	err = u.queue.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		receipt, err = u.RequestTx(ctx, tx, actionID)
		return err
	})
	return receipt, err
}

// RequestTx is [Undoer.Request] as part of a transaction.
func (u *Undoer) RequestTx(ctx context.Context, tx queue.Tx, actionID string) (queue.EnqueueResult, error) {
	original, err := u.ledger.ActionTx(ctx, tx, actionID)
	if err != nil {
		return queue.EnqueueResult{}, err
	}
	undos, err := u.ledger.UndosTx(ctx, tx, actionID)
	if err != nil {
		return queue.EnqueueResult{}, err
	}
	if err := check(original, undos); err != nil {
		return queue.EnqueueResult{}, err
	}
	return u.queue.EnqueueTx(ctx, tx, newJob(original))
}

// Plan tells what an undo would change at the message as it is now, and refuses as [Undoer.Request] does. It changes
// nothing.
func (u *Undoer) Plan(ctx context.Context, actionID string) (Report, error) {
	original, err := u.ledger.Action(ctx, actionID)
	if err != nil {
		return Report{}, err
	}
	undos, err := u.ledger.Undos(ctx, actionID)
	if err != nil {
		return Report{}, err
	}
	if err := check(original, undos); err != nil {
		return Report{}, err
	}
	now, err := u.mailbox.Image(ctx, original.AccountID, original.MessageID)
	if err != nil {
		return Report{}, fmt.Errorf("undo: plan for action %s: %w", actionID, err)
	}
	return plan(*original.UndoHint.Before, *original.UndoHint.After, now), nil
}

// Report tells what the undo of an action has changed. When the action has not been taken back it is [ErrNotUndone], with
// the reason if an undo was tried and failed.
func (u *Undoer) Report(ctx context.Context, originalID string) (Report, error) {
	if _, err := u.ledger.Action(ctx, originalID); err != nil {
		return Report{}, err
	}
	undos, err := u.ledger.Undos(ctx, originalID)
	if err != nil {
		return Report{}, err
	}
	if len(undos) == 0 {
		return Report{}, fmt.Errorf("undo: action %s: %w", originalID, ErrNotUndone)
	}
	latest := undos[0]
	if latest.State != postroom.ActionCompleted {
		return Report{}, fmt.Errorf("undo: action %s: %w: %s", originalID, ErrNotUndone, describe(latest))
	}
	var report Report
	stored, err := u.ledger.Report(ctx, latest.ID)
	if err == nil {
		err = json.Unmarshal(stored, &report)
	}
	if err != nil {
		return report, fmt.Errorf("undo: read the report of action %s: %w", latest.ID, err)
	}
	return report, nil
}

func describe(undo postroom.Action) string {
	s := fmt.Sprintf("action %s is %s", undo.ID, undo.State)
	if undo.Error != "" {
		s += ": " + undo.Error
	}
	return s
}

// check tells why the action cannot be undone; nil when it can.
func check(original postroom.Action, undos []postroom.Action) error {
	refuse := func(reason error) error {
		return fmt.Errorf("%w: action %s (%s): %w", ErrRefused, original.ID, original.Type, reason)
	}
	hint := original.UndoHint
	switch {
	case safety.IsUndo(original.Type):
		return refuse(ErrIsUndo)
	case original.State != postroom.ActionCompleted:
		return refuse(fmt.Errorf("%w: it is %s", ErrNotCompleted, original.State))
	case hint != nil && hint.Irreversible:
		return refuse(ErrIrreversible)
	case !hint.Undoable():
		return refuse(ErrNoHint)
	}
	for _, undo := range undos {
		if undo.State == postroom.ActionCompleted {
			return fmt.Errorf("%w: %w", ErrRefused, &safety.UndoneError{OriginalID: original.ID, Undo: undo})
		}
	}
	return nil
}
