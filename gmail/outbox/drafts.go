package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime"
)

// A DraftState is the state of a draft.
type DraftState string

// The states of a draft. The last two are final.
const (
	DraftCreating DraftState = "creating" // Gmail has been asked to make it, or will be
	DraftOpen     DraftState = "open"
	DraftSending  DraftState = "sending" // Gmail has been asked to send it
	DraftSent     DraftState = "sent"    // by this program or by a person
	DraftDeleted  DraftState = "deleted"
)

// A Draft is a draft that this program has made.
type Draft struct {
	AccountID string
	Key       string
	State     DraftState
	ID        string // Gmail's; empty while creating
	ThreadID  string // Gmail's
	MessageID string // its Message-ID when it was last looked at, without angle brackets
	// SentMessageID is Gmail's id of the message that the draft became. For a deleted draft it is the id of a message
	// that was sent in its thread since the draft was made, which may be the draft as a person has edited it; empty if
	// there is none.
	SentMessageID string
}

// DraftsConfig configures [Drafts]. It is copied and checked once, by [NewDrafts].
type DraftsConfig struct {
	// Store keeps the drafts. Required.
	Store *mailstore.Store
	// Clients returns the client of an account. Required.
	Clients gmailapi.Clients
	// Settle is as in [Config]. Default 2 minutes; it must not be negative.
	Settle time.Duration
}

// Drafts makes drafts, one for each key, and tracks them. A key is the host's: after a crash the same key finds the
// earlier draft. Each method first finds out the outcome of an earlier call that was interrupted. While that is
// unknown the error is [gmailapi.ClassUnclear], and [gmailapi.Verdict] retries when it will be known. Methods may be
// called concurrently for one draft: one of them wins, and the others return an error that asks to look again. For a
// paused account the error is [gmailapi.ClassPaused].
//
// A draft with Answers that was sent, by Send or by a person, is a reply to that message once Send or Check has found
// that out. Then a rule that would send a reply to the same recipients is refused, or a person is asked; see
// [SentRecord.SentBefore]. Drafts themselves are never refused because of earlier sends: sending one is a decision of
// its own.
//
// Nothing about a draft is signed: anyone who can write to the database can have another draft of the mailbox sent,
// changed or deleted instead. For a message that a person must approve, use an action, which an [Outbox] sends.
// [NewDrafts] makes one; the zero Drafts is unusable.
type Drafts struct{ DraftsConfig }

// NewDrafts makes a Drafts; a bad configuration is an error that names the field.
func NewDrafts(cfg DraftsConfig) (*Drafts, error) {
	cfg.Settle = cmp.Or(cfg.Settle, 2*time.Minute)
	err := errors.Join(
		fields.Required("outbox: DraftsConfig.Store", cfg.Store, storeNeeded),
		fields.Required("outbox: DraftsConfig.Clients", cfg.Clients, clientsNeeded),
	)
	if cfg.Settle < 0 {
		err = errors.Join(err, errors.New(
			"outbox: DraftsConfig.Settle is negative; it must be positive, or 0 for the default"))
	}
	if err != nil {
		return nil, err
	}
	return &Drafts{cfg}, nil
}

func (d *Drafts) rows() messageRows { return messageRows{d.Store.DB()} }

// Draft returns a stored draft, or [postroom.ErrNotFound]. It does not call Gmail; see [Drafts.Check].
func (d *Drafts) Draft(ctx context.Context, accountID, key string) (Draft, error) {
	row, err := d.rows().draft(ctx, accountID, key)
	if err != nil {
		return Draft{}, err
	}
	return row.draft(), nil
}

// Create makes the draft of the key. If the key has a draft, Create returns that, whatever its content and state. See
// [Drafts.Update].
func (d *Drafts) Create(ctx context.Context, accountID, key string, content DraftContent) (Draft, error) {
	if strings.TrimSpace(key) == "" || len(key) > 200 {
		return Draft{}, d.invalid(key,
			fmt.Errorf("the key has %d bytes; give one of 1 to 200, such as an id of your own", len(key)))
	}
	client, err := d.client(ctx, accountID)
	if err != nil {
		return Draft{}, err
	}
	row, err := d.rows().draft(ctx, accountID, key)
	if errors.Is(err, postroom.ErrNotFound) {
		row, err = d.begin(ctx, client, accountID, key)
	}
	if err != nil || row.State != DraftCreating {
		return row.draft(), err
	}
	if found, err := d.lookForCreated(ctx, client, row); found || err != nil {
		return row.draft(), err
	}
	raw, threadID, err := d.build(ctx, client, row, content)
	if err != nil {
		return row.draft(), err
	}
	bounded, cancel, err := d.declare(ctx, client, row, DraftCreating, len(raw))
	defer cancel()
	if err != nil {
		return row.draft(), err
	}
	made, err := client.CreateDraft(bounded, raw, threadID)
	if err == nil && made.ID == "" {
		err = &gmailapi.Error{Op: "create draft " + key, Class: gmailapi.ClassAnswer,
			Err: errors.New("the answer names no draft")}
	}
	if err != nil {
		err = d.failed(ctx, row, DraftCreating, err, len(raw))
		return row.draft(), err
	}
	err = d.opened(ctx, row, made)
	return row.draft(), err
}

// Preview returns the bytes that Create or Update makes of the content for the key, whose Message-ID may be another.
func (d *Drafts) Preview(ctx context.Context, accountID, key string, content DraftContent) (raw []byte, err error) {
	client, err := d.client(ctx, accountID)
	if err != nil {
		return nil, err
	}
	row, err := d.rows().draft(ctx, accountID, key)
	if errors.Is(err, postroom.ErrNotFound) {
		row, err = &draftRow{AccountID: accountID, Key: key, MessageID: "preview@postroom.invalid"}, nil
	}
	if err == nil {
		raw, _, err = d.build(ctx, client, row, content)
	}
	return raw, err
}

// Read returns a draft as it is at Gmail, with a person's changes. A draft that no longer exists is
// [gmailapi.ClassGone]; the draft that is returned with the error has its state. One whose message Gmail has begun to
// send is [gmailapi.ClassUnclear].
func (d *Drafts) Read(ctx context.Context, accountID, key string) (Draft, *mime.Message, error) {
	client, row, err := d.open(ctx, accountID, key, "read")
	if err != nil {
		return row.draft(), nil, err
	}
	m, err := readContent(ctx, client, row)
	if gmailapi.ClassOf(err) == gmailapi.ClassGone {
		draft, err := d.vanished(ctx, client, row, err)
		return draft, nil, err
	}
	return row.draft(), m, err
}

// readContent reads a draft at Gmail.
func readContent(ctx context.Context, client *gmailapi.Client, row *draftRow) (*mime.Message, error) {
	ref, _, err := client.GetDraft(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	raw, err := client.GetRaw(ctx, ref.Message.ID)
	if gmailapi.ClassOf(err) == gmailapi.ClassGone { // an edit makes another message of a draft
		return nil, row.unclear(errors.New("it was edited or sent while it was read"), attempts.Soon)
	}
	if err != nil {
		return nil, err
	}
	if !slices.Contains(raw.LabelIDs, postroom.LabelDraft) || slices.Contains(raw.LabelIDs, postroom.LabelSent) {
		return nil, row.unclear(errors.New("its message is no draft any more: it is being sent"), attempts.Soon)
	}
	content, err := raw.Bytes()
	if err != nil {
		return nil, &gmailapi.Error{Op: "read draft " + row.Key, Class: gmailapi.ClassAnswer, Err: err}
	}
	return mime.ParseBytes(content, nil)
}

// checkContent has the content of a draft checked. What became of one that is gone is found out by the call after it.
func (d *Drafts) checkContent(ctx context.Context, client *gmailapi.Client, row *draftRow,
	check func(*mime.Message) error) error {
	if check == nil {
		return nil
	}
	m, err := readContent(ctx, client, row)
	switch {
	case gmailapi.ClassOf(err) == gmailapi.ClassGone:
		return nil
	case err != nil:
		return err
	}
	return check(m)
}

// begin chooses the Message-ID of a draft that is to be made.
func (d *Drafts) begin(ctx context.Context, client *gmailapi.Client, accountID, key string) (*draftRow, error) {
	own, err := ownAddresses(ctx, d.Store, client, accountID)
	if err != nil {
		return &draftRow{}, err
	}
	id, err := newMessageID(primaryOf(own).Email)
	if err != nil {
		return &draftRow{}, err
	}
	return d.rows().insertDraft(ctx, accountID, key, id)
}

// Update replaces the content of a draft, including a person's changes. A draft that no longer exists is
// [gmailapi.ClassGone]; the draft that is returned with the error has its state.
func (d *Drafts) Update(ctx context.Context, accountID, key string, content DraftContent) (Draft, error) {
	client, row, err := d.open(ctx, accountID, key, "update")
	if err != nil {
		return row.draft(), err
	}
	before := row.draftReply
	raw, threadID, err := d.build(ctx, client, row, content)
	if err != nil {
		return row.draft(), err
	}
	changed, err := client.UpdateDraft(ctx, row.ID, raw, threadID)
	if err != nil {
		row.draftReply = before
	}
	if gmailapi.ClassOf(err) == gmailapi.ClassGone {
		return d.vanished(ctx, client, row, err)
	}
	if err != nil {
		return row.draft(), err
	}
	err = d.opened(ctx, row, changed)
	return row.draft(), err
}

// Send sends a draft as it is at Gmail, with a person's changes, once. A draft that was sent already is returned as
// it is. A deleted one is [gmailapi.ClassGone].
func (d *Drafts) Send(ctx context.Context, accountID, key string) (Draft, error) {
	return d.SendIf(ctx, accountID, key, nil)
}

// SendIf is Send for a draft that check accepts, if it is not nil, and else returns the error of check. The draft is
// read at Gmail once no other call of this program can change it any more. A person can, until Gmail is asked to send
// it: Gmail offers no way to close the milliseconds between.
func (d *Drafts) SendIf(ctx context.Context, accountID, key string, check func(*mime.Message) error) (Draft, error) {
	client, row, err := d.find(ctx, accountID, key)
	if err != nil || row.State == DraftSent {
		return row.draft(), err
	}
	if err := d.settle(ctx, client, row); err != nil || row.State == DraftSent {
		return row.draft(), err
	}
	if row.State != DraftOpen {
		return row.draft(), row.not("send")
	}
	bounded, cancel, err := d.declare(ctx, client, row, DraftSending, 0)
	defer cancel()
	if err != nil {
		return row.draft(), err
	}
	if err := d.checkContent(bounded, client, row, check); err != nil { // nothing was sent
		row.State = DraftOpen
		return row.draft(), errors.Join(err, d.rows().saveDraft(context.WithoutCancel(ctx), row, 0))
	}
	sent, err := client.SendDraft(bounded, row.ID)
	switch {
	case err == nil && sent.ID != "":
		err = d.sent(ctx, row, sent)
		return row.draft(), err
	case err == nil:
		err = &gmailapi.Error{Op: "send draft " + key, Class: gmailapi.ClassAnswer,
			Err: errors.New("the answer names no message")}
	case gmailapi.ClassOf(err) == gmailapi.ClassGone:
		draft, err := d.vanished(ctx, client, row, err)
		if draft.State == DraftSent { // by a person, or by an earlier call
			err = nil
		}
		return draft, err
	}
	err = d.failed(ctx, row, DraftOpen, err, 0)
	return row.draft(), err
}

// Delete deletes a draft permanently. Deleting a deleted draft is no error; a sent one is [gmailapi.ClassGone].
func (d *Drafts) Delete(ctx context.Context, accountID, key string) (Draft, error) {
	return d.DeleteIf(ctx, accountID, key, nil)
}

// DeleteIf is Delete for a draft that check accepts, if it is not nil, and else returns the error of check. A person
// can edit the draft after it was read for check: Gmail deletes without a condition, and what was written in these
// milliseconds is lost. Once Gmail is asked to delete it, the end of ctx has no effect.
func (d *Drafts) DeleteIf(ctx context.Context, accountID, key string, check func(*mime.Message) error) (Draft, error) {
	client, row, err := d.find(ctx, accountID, key)
	if err != nil || row.State == DraftDeleted {
		return row.draft(), err
	}
	if err := d.settle(ctx, client, row); err != nil || row.State == DraftDeleted {
		return row.draft(), err
	}
	if row.State != DraftOpen {
		return row.draft(), row.not("delete")
	}
	if err := d.checkContent(ctx, client, row, check); err != nil {
		return row.draft(), err
	}
	// Whoever gives up now does not take back what Gmail was asked for, and nobody else knows by whose word it was.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.UploadTimeout(0))
	defer cancel()
	switch err := client.DeleteDraft(bounded, row.ID); {
	case gmailapi.ClassOf(err) == gmailapi.ClassGone:
		draft, err := d.vanished(ctx, client, row, err)
		if draft.State == DraftDeleted {
			err = nil
		}
		return draft, err
	case err != nil:
		return row.draft(), err
	}
	row.State = DraftDeleted
	err = d.rows().endDraft(ctx, row)
	return row.draft(), err
}

// Check asks Gmail for the state of a draft: a person may have sent or deleted it. Call it when the history reports
// that its message is gone, or on a schedule. A draft that a person has sent is found by the Message-ID that it had
// at the last look. Gmail gives an edited draft another Message-ID: if it is sent before the next look, it counts as
// deleted, and SentMessageID names the message that was sent in its thread.
func (d *Drafts) Check(ctx context.Context, accountID, key string) (Draft, error) {
	client, row, err := d.find(ctx, accountID, key)
	if err == nil {
		err = d.settle(ctx, client, row)
	}
	return row.draft(), err
}

// find returns the draft and the account's client.
func (d *Drafts) find(ctx context.Context, accountID, key string) (*gmailapi.Client, *draftRow, error) {
	row, err := d.rows().draft(ctx, accountID, key)
	if err != nil {
		return nil, &draftRow{}, err
	}
	client, err := d.client(ctx, accountID)
	return client, row, err
}

// Client returns the client of an account whose jobs run.
func (d *Drafts) client(ctx context.Context, accountID string) (*gmailapi.Client, error) {
	account, err := d.Store.Account(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find account", Class: gmailapi.ClassNotFound, Err: err}
	}
	if err == nil {
		err = account.Usable()
	}
	if err != nil {
		return nil, err
	}
	return gmailapi.FindClient(ctx, d.Clients, accountID)
}

// open is find for a draft that has to be open.
func (d *Drafts) open(ctx context.Context, accountID, key, op string) (*gmailapi.Client, *draftRow, error) {
	client, row, err := d.find(ctx, accountID, key)
	if err == nil && row.State != DraftOpen {
		err = d.settle(ctx, client, row)
	}
	if err == nil && row.State != DraftOpen {
		err = row.not(op)
	}
	return client, row, err
}

func (d *Drafts) invalid(key string, err error) error {
	return &gmailapi.Error{Op: "draft " + key, Class: gmailapi.ClassInvalid, Err: err}
}

// declare durably records that Gmail is about to be asked, and the position in the history. It fails if another call
// does so. The call to Gmail must use the context that it returns: once that has ended, no later effect of the call
// can come.
func (d *Drafts) declare(
	ctx context.Context, client *gmailapi.Client, row *draftRow, state DraftState, size int,
) (bounded context.Context, cancel context.CancelFunc, err error) {
	profile, err := client.Profile(ctx)
	if err != nil {
		return ctx, func() {}, err
	}
	bounded, cancel = context.WithTimeout(ctx, client.UploadTimeout(size))
	before := *row
	if row.HistoryID == 0 || state == DraftSending {
		row.HistoryID = int64(profile.HistoryID)
	}
	row.State = state
	if err := d.rows().saveDraft(ctx, row, client.UploadTimeout(size)+d.Settle); err != nil {
		*row = before
		return bounded, cancel, err
	}
	return bounded, cancel, nil
}

// failed notes a call that has failed: the draft is in the state then, or it is not known.
func (d *Drafts) failed(ctx context.Context, row *draftRow, state DraftState, cause error, size int) error {
	if !gmailapi.IsUnclear(cause, size) {
		row.State = state
		return errors.Join(cause, d.rows().saveDraft(context.WithoutCancel(ctx), row, 0))
	}
	note := d.rows().saveDraft(context.WithoutCancel(ctx), row, d.Settle)
	return row.unclear(errors.Join(cause, note), d.Settle/24)
}

func (d *Drafts) opened(ctx context.Context, row *draftRow, made gmailapi.DraftRef) error {
	row.State, row.ID, row.ThreadID = DraftOpen, made.ID, made.Message.ThreadID
	return d.rows().saveDraft(ctx, row, 0)
}

func (d *Drafts) sent(ctx context.Context, row *draftRow, sent gmailapi.MessageRef) error {
	row.State, row.SentMessageID, row.ThreadID = DraftSent, sent.ID, sent.ThreadID
	return d.rows().endDraft(ctx, row)
}
