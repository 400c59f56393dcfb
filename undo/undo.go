package undo

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// The reasons for refusing an undo; test for them with errors.Is. Each comes in a [*RefusedError]. An unknown action is
// [postroom.ErrNotFound].
var (
	// ErrRefused reports that the action is not undone, for one of the reasons below, and that nothing was written.
	ErrRefused = errors.New("undo refused")
	// ErrNotCompleted reports that the action has not been carried out, so there is nothing to undo.
	ErrNotCompleted = errors.New("the action is not completed")
	// ErrIrreversible reports that the action cannot be undone.
	ErrIrreversible = errors.New("the action cannot be taken back")
	// ErrNoHint reports that the action recorded no snapshots of the message; action none, for instance, changes nothing.
	ErrNoHint = errors.New("the action left nothing to go back to")
	// ErrTooLate reports that the undo of an action such as a snooze cannot be undone: the job that ends the action
	// would have run by now, or is no longer stored. Decide the action again.
	ErrTooLate = errors.New("the time that the action had set has passed")
	// ErrAccountRemoved reports that the account of the action was removed: the message may still be there, but nothing
	// is known of it here. A mailbox that comes back is another account.
	ErrAccountRemoved = errors.New("the mailbox was removed here since, and what was done in it stays")
	// ErrIsRedo reports that the action is the undo of an undo. Undo the first action again instead.
	ErrIsRedo = errors.New("the action is the undo of an undo; undo the first action again instead")
	// ErrAlreadyUndone reports that the action has been undone, or is being undone by another job; see
	// [safety.UndoneError].
	ErrAlreadyUndone = safety.ErrAlreadyUndone
)

// ErrLabelGone reports that a label that an undo restores is no longer in the mailbox.
var ErrLabelGone = errors.New("the mailbox no longer has the label")

// ErrNotUndone reports that there is no report because the action has not been undone.
var ErrNotUndone = errors.New("the action has not been taken back")

// A Mailbox reads and changes messages at the provider; *gmail.Mailbox implements it. It names a message by its UUID,
// and the state of a message is a snapshot of the provider's label ids, the trash included.
//
// Its errors have the meaning that they have for a handler: plain errors are retried, [queue.Fatal],
// [queue.RetryAfter] and [queue.Defer] say otherwise. [postroom.ErrMessageGone] reports that the provider no longer
// has the message.
type Mailbox interface {
	// Snapshot reads the present state of the message at the provider.
	Snapshot(ctx context.Context, accountID, messageID string) (postroom.Snapshot, error)
	// Apply changes the message at the provider and returns its new state. It is idempotent.
	Apply(ctx context.Context, accountID, messageID string, change postroom.LabelChange) (postroom.Snapshot, error)
	// Follow is called before the message is changed. The function that it returns stores the change that was made then,
	// and no changes by others, in the caller's transaction.
	Follow(ctx context.Context, accountID, messageID string) (postroom.StoreChange, error)
}

// An Identifier is a [Mailbox] that compares the provider's id of an action's message with the one in the decision
// ([postroom.Action].ProviderMessageID). An undo changes no other message.
type Identifier interface {
	// Identify returns an error if the two differ.
	Identify(ctx context.Context, action postroom.Action) error
}

// An AccountKeeper is a [Mailbox] that knows which accounts were removed. Their actions are not undone.
type AccountKeeper interface {
	// AccountRemoved reports whether the account was removed, or is being removed.
	AccountRemoved(ctx context.Context, accountID string) (bool, error)
	// AccountRemovedTx is AccountRemoved within a transaction.
	AccountRemovedTx(ctx context.Context, tx queue.Tx, accountID string) (bool, error)
}

// A Limiter is a [Mailbox] whose accounts have limit keys, which the jobs of undos get. While the key of an account
// is paused, its undos wait, and no other action of their messages waits for them.
type Limiter interface {
	LimitKey(accountID string) string
}

// A Hastener is a [Mailbox] that knows the jobs that wait until another action of their message has ended. Without it
// they notice the end of an undo a little later.
type Hastener interface {
	// Hasten makes those jobs of the message due: the queued actions with the given ids, and what else waits.
	Hasten(ctx context.Context, q *queue.Queue, accountID, messageID string, queued []string) error
}

// An Ender is a [Mailbox] that finds out what became of an action whose job has ended without it, such as one that
// may have sent a message. Without it such an action has failed.
type Ender interface {
	// End returns how the action ends. While that cannot be found out, it returns an error.
	End(ctx context.Context, action postroom.Action) (postroom.ActionEnd, error)
}

// Config configures an [Undoer] and the handler of [JobAction]. It is copied and checked once, by [NewUndoer] or
// [Register].
type Config struct {
	// Queue takes the jobs. Required.
	Queue *queue.Queue
	// Ledger records the actions and their undos. Required.
	Ledger *safety.Ledger
	// Mailbox reads and changes messages. Required; *gmail.Mailbox implements it.
	Mailbox Mailbox
	// Kinds have the Undo of the kinds that the host carries out itself. Default nil: there are none.
	Kinds *postroom.Kinds
	// ByHand returns what people have changed of the labels of a message since it came; *mailstore.Store has such
	// a method. [Undoer.Reverses] asks for it. Default nil: only changes that the snapshots of actions show are known.
	ByHand func(ctx context.Context, messageID string) (postroom.LabelChange, error)
	// OnRequest is called when the undo of an action is requested, with the name of [Undoer.As], in the transaction that
	// records the request; an error rolls that back. A second request of an undo that is under way is no call. Default
	// nil: no call.
	OnRequest func(ctx context.Context, tx queue.Tx, original postroom.Action, by string) error
}

// An Undoer requests undos and reports on them. It is safe for concurrent use. [NewUndoer] makes one; the zero Undoer
// is unusable.
type Undoer struct {
	queue   *queue.Queue
	ledger  *safety.Ledger
	mailbox Mailbox
	kinds   *postroom.Kinds
	byHand  func(ctx context.Context, messageID string) (postroom.LabelChange, error) // nil without Config.ByHand
	by      string                                                                    // who requests
	// asked is nil without Config.OnRequest.
	asked func(ctx context.Context, tx queue.Tx, original postroom.Action, by string) error
}

// As returns an undoer that puts its requests on record as those of the person or program with the name.
func (u *Undoer) As(name string) *Undoer {
	as := *u
	as.by = name
	return &as
}

// NewUndoer makes an undoer; a missing field of the configuration is an error that names it. [Register] registers the
// handler that carries out its requests.
func NewUndoer(cfg Config) (*Undoer, error) {
	err := errors.Join(
		fields.Required("undo: Config.Queue", cfg.Queue, "the queue of the jobs, made by queue.New"),
		fields.Required("undo: Config.Ledger", cfg.Ledger, "the ledger of the actions, made by safety.NewLedger"),
		fields.Required("undo: Config.Mailbox", cfg.Mailbox, "the mailbox of the messages, such as a *gmail.Mailbox"),
	)
	if err == nil {
		err = errors.Join(fields.Same("undo: Config.Kinds", cfg.Kinds, "Config.Ledger", cfg.Ledger.Kinds()),
			fields.Same("undo: Config.Queue: the database", cfg.Queue.DB(), "Config.Ledger", cfg.Ledger.DB()))
	}
	if err != nil {
		return nil, err
	}
	return &Undoer{queue: cfg.Queue, ledger: cfg.Ledger, mailbox: cfg.Mailbox, kinds: cfg.Kinds,
		byHand: cfg.ByHand, asked: cfg.OnRequest}, nil
}

// Register registers the handler of [JobAction], with the options. A missing field of the configuration is an error
// that names it, and nothing is registered then.
func Register(d *queue.Dispatcher, cfg Config, opts ...queue.HandlerOption) error {
	u, err := NewUndoer(cfg)
	if err := errors.Join(fields.Required("undo: Register: the Dispatcher", d, "one made by queue.NewDispatcher"),
		err); err != nil {
		return err
	}
	queue.Handle(d, JobAction, u.handle, opts...)
	return nil
}

// Request requests the undo of an action: it enqueues the job, unless one is unfinished already, which Duplicate of
// the result reports, and records the request in the ledger; a job without that record undoes nothing. All ways to
// undo use it. It refuses an action that cannot be undone before it writes anything.
func (u *Undoer) Request(ctx context.Context, actionID string) (result queue.EnqueueResult, err error) {
	err = u.queue.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		result, err = u.RequestTx(ctx, tx, actionID)
		return err
	})
	return result, err
}

// RequestTx is [Undoer.Request] in the caller's transaction.
func (u *Undoer) RequestTx(ctx context.Context, tx queue.Tx, actionID string) (queue.EnqueueResult, error) {
	original, err := u.ledger.ActionTx(ctx, tx, actionID)
	if err != nil {
		return queue.EnqueueResult{}, err
	}
	live, err := u.ledger.LiveUndoTx(ctx, tx, actionID)
	if err != nil {
		return queue.EnqueueResult{}, err
	}
	if err := u.mayUndo(ctx, tx, original, live); err != nil {
		return queue.EnqueueResult{}, err
	}
	result, err := u.queue.EnqueueTx(ctx, tx, u.newJob(original))
	if err != nil {
		return result, err
	}
	err = u.ledger.RequestUndo(ctx, tx, original.ID, result.ID, u.by)
	if err == nil && u.asked != nil && !result.Duplicate {
		err = u.asked(ctx, tx, original, u.by)
	}
	return result, err
}

// Plan returns what an undo would change at the message now, and refuses as [Undoer.Request] does. It changes nothing.
func (u *Undoer) Plan(ctx context.Context, actionID string) (Report, error) {
	original, err := u.ledger.Action(ctx, actionID)
	if err != nil {
		return Report{}, err
	}
	live, err := u.ledger.LiveUndo(ctx, actionID)
	if err != nil {
		return Report{}, err
	}
	if err := u.mayUndo(ctx, nil, original, live); err != nil {
		return Report{}, err
	}
	if byHost(original) {
		return Report{Preserved: []ExternalChange{}}, nil
	}
	now, err := u.mailbox.Snapshot(ctx, original.AccountID, original.MessageID)
	if err != nil {
		return Report{}, fmt.Errorf("undo: plan for action %s: %w", actionID, err)
	}
	return u.plan(ctx, original, now)
}

// plan returns the report of an undo of the action when the message has the snapshot now.
func (u *Undoer) plan(ctx context.Context, original postroom.Action, now postroom.Snapshot) (Report, error) {
	past, err := u.ledger.History(ctx, original.AccountID, original.MessageID)
	if err != nil {
		return Report{}, err
	}
	return u.planIn(ctx, past, original.ID, now)
}

// planIn is plan for a message with this past.
func (u *Undoer) planIn(ctx context.Context, past []safety.Past, actionID string,
	now postroom.Snapshot) (Report, error) {
	ended, err := u.endedByThemselves(ctx, past, now)
	if err != nil {
		return Report{}, err
	}
	return replay(past, ended).plan(actionID, now), nil
}

// Report returns what the undo of an action has changed. If the action has not been undone, the error is
// [ErrNotUndone], with the reason if an undo was tried and failed.
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
	live, err := u.ledger.LiveUndo(ctx, originalID)
	if err != nil {
		return Report{}, err
	}
	if live == nil || live.State != postroom.ActionCompleted {
		return Report{}, fmt.Errorf("undo: action %s: %w: %s", originalID, ErrNotUndone, describe(latest))
	}
	return u.storedReport(ctx, latest.ID)
}

func describe(undo postroom.Action) string {
	if undo.State == postroom.ActionCompleted {
		return fmt.Sprintf("action %s has been taken back itself", undo.ID)
	}
	s := fmt.Sprintf("action %s is %s", undo.ID, undo.State)
	if undo.Error != "" {
		s += ": " + undo.Error
	}
	return s
}

// mayUndo returns an error if the action cannot be undone now; live is its undo, if it has one. tx is nil outside of a
// transaction.
func (u *Undoer) mayUndo(ctx context.Context, tx queue.Tx, original postroom.Action, live *postroom.Action) error {
	if err := u.check(original, live); err != nil {
		return err
	}
	if err := u.checkAccount(ctx, tx, original); err != nil {
		return err
	}
	_, err := u.revivable(ctx, tx, original)
	if errors.Is(err, ErrTooLate) {
		return refused(original, err)
	}
	return err
}

// check returns an error if the action cannot be undone at any time.
func (u *Undoer) check(original postroom.Action, live *postroom.Action) error {
	if err := checkState(original, live); err != nil {
		return err
	}
	if err := u.checkHost(original); err != nil {
		return refused(original, err)
	}
	return nil
}

// checkAccount returns an error if there is no mailbox left to undo the action in. The host may undo its own actions
// all the same. tx is nil outside of a transaction.
func (u *Undoer) checkAccount(ctx context.Context, tx queue.Tx, original postroom.Action) (err error) {
	keeper, ok := u.mailbox.(AccountKeeper)
	if !ok || byHost(original) {
		return nil
	}
	var removed bool
	if tx == nil {
		removed, err = keeper.AccountRemoved(ctx, original.AccountID)
	} else {
		removed, err = keeper.AccountRemovedTx(ctx, tx, original.AccountID)
	}
	if removed {
		return refused(original, ErrAccountRemoved)
	}
	return err
}

func refused(original postroom.Action, reason error) error {
	return &RefusedError{ActionID: original.ID, Type: original.Type, Reason: reason}
}

func checkState(original postroom.Action, live *postroom.Action) error {
	refuse := func(reason error) error { return refused(original, reason) }
	hint := original.UndoHint
	switch {
	case safety.IsRedo(original.Type):
		return refuse(ErrIsRedo)
	case original.State == postroom.ActionPendingApproval:
		return refuse(fmt.Errorf("%w: it %s", ErrNotCompleted, original.State.Words()))
	case original.State != postroom.ActionCompleted:
		return refuse(fmt.Errorf("%w: it is %s", ErrNotCompleted, original.State))
	case hint != nil && hint.Irreversible:
		return refuse(ErrIrreversible)
	case !hint.Undoable():
		return refuse(ErrNoHint)
	case live != nil && live.State == postroom.ActionCompleted:
		return refuse(&safety.UndoneError{OriginalID: original.ID, Undo: *live})
	}
	return nil
}
