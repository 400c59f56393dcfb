package gmail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/queue"
)

// outboundRows are the rows of the messages that are sent, and of drafts.
type outboundRows struct{ db queue.DB }

func (o *Outbox) rows() outboundRows { return outboundRows{o.Store.DB()} }
func (d *Drafts) rows() outboundRows { return outboundRows{d.Store.DB()} }

// An outboundMessage is the message of one action, as it is stored.
type outboundMessage struct {
	ActionID     string      `db:"action_id"`
	AccountID    string      `db:"account_id"`
	MessageID    string      `db:"rfc_message_id"`
	Payload      string      `db:"payload_json"`
	SHA256       string      `db:"sha256"`
	Size         int64       `db:"size"`
	HistoryID    int64       `db:"history_id"` // from before the first attempt to send; 0 before
	OpenUntil    dbtime.Time `db:"open_until"`
	SentID       string      `db:"sent_message_id"`
	SentThreadID string      `db:"sent_thread_id"`

	payload  OutboundPayload
	original *original // if it was read
	mailbox  string    // whose address is in the bytes
}

// storedPayload returns the payload as text, and as it will be read again.
func storedPayload(p OutboundPayload) (text string, stored OutboundPayload, err error) {
	if text, err = maildb.JSON(p); err == nil {
		err = json.Unmarshal([]byte(text), &stored)
	}
	return text, stored, err
}

// contentSum returns the hash of what is sent: the bytes and their thread.
func contentSum(threadID string, raw []byte) string {
	h := sha256.New()
	if threadID != "" {
		h.Write([]byte(threadID + "\n"))
	}
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil))
}

// outbound returns the message of an action, or [postroom.ErrNotFound].
func (s outboundRows) outbound(ctx context.Context, actionID string) (*outboundMessage, error) {
	return readOutbound(ctx, s.db.Reader(), actionID)
}

func readOutbound(ctx context.Context, q dbquery.Querier, actionID string) (*outboundMessage, error) {
	var m outboundMessage
	if err := maildb.Get(ctx, q, &m, "message of action "+actionID, sqlOutbound, actionID); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(m.Payload), &m.payload); err != nil {
		return nil, refused(actionID, "its message as stored: %w", err)
	}
	return &m, nil
}

// putOutbound stores the message by one of two statements: an insert, or a replacement.
func (s outboundRows) putOutbound(ctx context.Context, tx queue.Tx, m *outboundMessage, statement string) error {
	now := dbtime.Of(queue.Now(tx))
	_, err := maildb.Exec(ctx, tx, "message of action "+m.ActionID, statement,
		m.ActionID, m.AccountID, string(m.payload.MessageType), m.MessageID, m.Payload, m.SHA256, m.Size, now, now, m.payload.OriginalMessageID)
	return err
}

// fits refuses a message that is not that of the action, or not the given one.
func (m *outboundMessage) fits(a postroom.Action, given *OutboundPayload) error {
	if err := m.payload.validFor(a); err != nil {
		return err
	}
	if given == nil {
		return nil
	}
	want := *given
	want.MessageID = cmp.Or(want.MessageID, m.payload.MessageID)
	text, _, err := storedPayload(want)
	if err == nil && text != m.Payload {
		err = refused(a.ID, "what is given is not the message that was composed for the action")
	}
	return err
}

// validFor refuses a payload that does not belong to the action.
func (p *OutboundPayload) validFor(a postroom.Action) error {
	want := OutboundReply
	if a.Type == postroom.Forward {
		want = OutboundForward
	}
	switch {
	case p.ActionID != a.ID, p.AccountID != a.AccountID, p.OriginalMessageID != a.MessageID:
		return refused(a.ID, "its message is for action %s of account %s and message %s", p.ActionID, p.AccountID, p.OriginalMessageID)
	case p.MessageType != want:
		return refused(a.ID, "its message is a %s, and the action is %s", p.MessageType, a.Type)
	case p.MessageType == OutboundForward && p.ThreadID != "":
		return refused(a.ID, "a forward begins a thread of its own, and its message names the thread %s", p.ThreadID)
	case strings.ContainsAny(p.ThreadID, "\r\n"):
		return refused(a.ID, "its message names the thread %q, which has a line break in it", p.ThreadID)
	}
	return nil
}

var errSendBegun = errors.New("gmail: another job has sent the message")

// beginSend records that the message is about to be sent, and the recipients it counts for. It enforces the limits of a
// recipient, unless an earlier attempt may have sent the message.
func (o *Outbox) beginSend(ctx context.Context, tx queue.Tx, m *outboundMessage, n *announcement, again bool) error {
	var mailbox string
	if err := maildb.Get(ctx, tx, &mailbox, "account "+m.AccountID, sqlLockSending, m.AccountID); err != nil {
		return err
	}
	recipients, err := m.payload.recipients()
	if err != nil {
		return refused(m.ActionID, "a recipient: %w", err)
	}
	if !again {
		if err := o.checkSentBefore(ctx, tx, m, mailbox); err != nil {
			return err
		}
	}
	now := queue.Now(tx)
	for _, email := range recipients {
		email = mailname.Mailbox(email) // tags and dots make no other person
		if !again {
			if err := o.checkRecipient(ctx, tx, m, mailbox, email); err != nil {
				return err
			}
		}
		_, err := maildb.Exec(ctx, tx, "recipient of action "+m.ActionID, sqlInsertRecipient,
			m.AccountID, email, m.ActionID, string(m.payload.MessageType), dbtime.Of(now))
		if err != nil {
			return err
		}
	}
	changed, err := maildb.Exec(ctx, tx, "begin to send the message of action "+m.ActionID, sqlBeginSend, int64(n.historyID), dbtime.Of(n.until), dbtime.Of(now), m.ActionID)
	if err == nil && changed == 0 {
		err = errSendBegun
	}
	return err
}

// checkSentBefore refuses a message that the mailbox has sent before, or may have sent, unless a person has approved this action:
// that is a new decision.
func (o *Outbox) checkSentBefore(ctx context.Context, tx queue.Tx, m *outboundMessage, mailbox string) error {
	providerID, err := o.Store.Copies().ProviderIDTx(ctx, tx, m.AccountID, m.payload.OriginalMessageID)
	if err != nil {
		return err
	}
	e, err := sentEarlier(ctx, tx, sendAbout{mailbox, providerID, m.AccountID, m.ActionID}, &m.payload)
	if err != nil || !e.known() {
		return err
	}
	approver, err := o.Ledger.Approver(ctx, tx, m.ActionID)
	if err == nil && approver == "" {
		err = refused(m.ActionID, "%s; it is sent again only if a person approves that", e)
	}
	return err
}

// recipientWindow is the window of RecipientsDay.
const recipientWindow = 24 * time.Hour

// checkRecipient refuses a message to a recipient who has reached a limit.
func (o *Outbox) checkRecipient(ctx context.Context, tx queue.Tx, m *outboundMessage, mailbox, recipient string) error {
	now := queue.Now(tx)
	day, interval := now.Add(-recipientWindow), now.Add(-o.ReplyInterval)
	oldest := now.Add(-max(recipientWindow, o.ReplyInterval))
	if _, err := maildb.Exec(ctx, tx, "recipient "+recipient, sqlForgetRecipient, m.AccountID, recipient, dbtime.Of(oldest)); err != nil {
		return err
	}
	var sent struct {
		Messages int `db:"messages"`
		Replies  int `db:"replies"`
	}
	err := maildb.Get(ctx, tx, &sent, "recipient "+recipient, sqlCountRecipient, dbtime.Of(day), dbtime.Of(interval), m.AccountID, recipient, m.ActionID,
		hashOfMailbox(mailbox), hashOfRecipient(mailbox, recipient), dbtime.Of(oldest))
	switch {
	case err != nil:
		return err
	case sent.Messages >= o.RecipientsDay:
		return refused(m.ActionID, "%s has got %d messages within a day; at most %d are allowed (%s)",
			recipient, sent.Messages, o.RecipientsDay, o.name("RecipientsDay"))
	case sent.Replies > 0 && m.payload.MessageType == OutboundReply:
		return refused(m.ActionID, "%s has got an automatic reply within the last %v (%s)", recipient, o.ReplyInterval, o.name("ReplyInterval"))
	}
	return nil
}

// forgetSend notes that the message of an action was not sent, and never will be.
func (s outboundRows) forgetSend(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	if err := s.forgetRecipients(ctx, tx, a.AccountID, a.ID); err != nil {
		return err
	}
	return s.forgetAttempt(ctx, tx, a.ID)
}

// noteFailure notes that an action has failed. If it cannot be told any more whether its message was sent, that goes on counting as
// one that may have been.
func (s outboundRows) noteFailure(ctx context.Context, tx queue.Tx, a postroom.Action, cause error) error {
	if errors.Is(cause, errLost) {
		return nil
	}
	return s.forgetSend(ctx, tx, a)
}

// forgetAttempt notes that an attempt has sent nothing.
func (s outboundRows) forgetAttempt(ctx context.Context, tx queue.Tx, actionID string) error {
	return s.setOpenUntil(ctx, tx, actionID, dbtime.Time{})
}

func (s outboundRows) setOpenUntil(ctx context.Context, tx queue.Tx, actionID string, until dbtime.Time) error {
	_, err := maildb.Exec(ctx, tx, "message of action "+actionID, sqlOpenUntil, until, dbtime.Of(queue.Now(tx)), actionID)
	return err
}

// markSent records that the message was sent, even if its row was removed.
func (s outboundRows) markSent(ctx context.Context, tx queue.Tx, actionID string, sent gmailapi.MessageRef) error {
	_, err := maildb.Exec(ctx, tx, "message of action "+actionID, sqlMarkSent, sent.ID, sent.ThreadID, dbtime.Of(queue.Now(tx)), actionID)
	return err
}

// forgetRecipients removes a message that was never sent from the count of its recipients.
func (s outboundRows) forgetRecipients(ctx context.Context, tx queue.Tx, accountID, actionID string) error {
	_, err := maildb.Exec(ctx, tx, "recipients of action "+actionID, sqlForgetRecipients, accountID, actionID)
	return err
}
