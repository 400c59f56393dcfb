package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// messageRows are the rows of the messages that are sent, and of drafts.
type messageRows struct{ db queue.DB }

// A storedMessage is the message of one action, as it is stored.
type storedMessage struct {
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

	payload  Payload
	original *original // if it was read
	mailbox  string    // whose address is in the bytes
}

// storedPayload returns the payload as text, and as it will be read again.
func storedPayload(p Payload) (text string, stored Payload, err error) {
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

// message returns the message of an action, or [postroom.ErrNotFound].
func (s messageRows) message(ctx context.Context, actionID string) (*storedMessage, error) {
	return readMessage(ctx, s.db.Reader(), actionID)
}

func readMessage(ctx context.Context, q dbquery.Querier, actionID string) (*storedMessage, error) {
	var m storedMessage
	if err := maildb.Get(ctx, q, &m, "message of action "+actionID, sqlMessage, actionID); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(m.Payload), &m.payload); err != nil {
		return nil, refused(actionID, "its message as stored: %w", err)
	}
	return &m, nil
}

// putMessage stores the message by one of two statements: an insert, or a replacement.
func (s messageRows) putMessage(ctx context.Context, tx queue.Tx, m *storedMessage, statement string) error {
	now := dbtime.Of(queue.Now(tx))
	_, err := maildb.Exec(ctx, tx, "message of action "+m.ActionID, statement,
		m.ActionID, m.AccountID, string(m.payload.MessageType), m.MessageID, m.Payload, m.SHA256, m.Size, now, now,
		m.payload.OriginalMessageID)
	return err
}

// fits refuses a message that is not that of the action, or not the given one.
func (m *storedMessage) fits(a postroom.Action, given *Payload) error {
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
func (p *Payload) validFor(a postroom.Action) error {
	want := Reply
	if a.Type == postroom.Forward {
		want = Forward
	}
	switch {
	case p.ActionID != a.ID, p.AccountID != a.AccountID, p.OriginalMessageID != a.MessageID:
		return refused(a.ID, "its message is for action %s of account %s and message %s", p.ActionID, p.AccountID,
			p.OriginalMessageID)
	case p.MessageType != want:
		return refused(a.ID, "its message is a %s, and the action is %s", p.MessageType, a.Type)
	case p.MessageType == Forward && p.ThreadID != "":
		return refused(a.ID, "a forward begins a thread of its own, and its message names the thread %s", p.ThreadID)
	case strings.ContainsAny(p.ThreadID, "\r\n"):
		return refused(a.ID, "its message names the thread %q, which has a line break in it", p.ThreadID)
	}
	return nil
}

// forgetSend notes that the message of an action was not sent, and never will be.
func (s messageRows) forgetSend(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	if err := s.forgetRecipients(ctx, tx, a.AccountID, a.ID); err != nil {
		return err
	}
	return s.forgetAttempt(ctx, tx, a.ID)
}

// forgetAttempt notes that an attempt has sent nothing.
func (s messageRows) forgetAttempt(ctx context.Context, tx queue.Tx, actionID string) error {
	return s.setOpenUntil(ctx, tx, actionID, dbtime.Time{})
}

func (s messageRows) setOpenUntil(ctx context.Context, tx queue.Tx, actionID string, until dbtime.Time) error {
	_, err := maildb.Exec(ctx, tx, "message of action "+actionID, sqlOpenUntil, until, dbtime.Of(queue.Now(tx)), actionID)
	return err
}

// markSent records that the message was sent, even if its row was removed.
func (s messageRows) markSent(ctx context.Context, tx queue.Tx, actionID string, sent gmailapi.MessageRef) error {
	_, err := maildb.Exec(ctx, tx, "message of action "+actionID, sqlMarkSent, sent.ID, sent.ThreadID,
		dbtime.Of(queue.Now(tx)), actionID)
	return err
}

// forgetRecipients removes a message that was never sent from the count of its recipients.
func (s messageRows) forgetRecipients(ctx context.Context, tx queue.Tx, accountID, actionID string) error {
	_, err := maildb.Exec(ctx, tx, "recipients of action "+actionID, sqlForgetRecipients, accountID, actionID)
	return err
}
