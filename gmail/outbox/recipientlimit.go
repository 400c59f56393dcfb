package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/queue"
)

var errSendBegun = errors.New("outbox: another job has sent the message")

// beginSend records that the message is about to be sent, and that it is sent to its recipients now. It enforces the
// limits of a recipient, unless an earlier attempt may have sent the message.
func (o *Outbox) beginSend(ctx context.Context, tx queue.Tx, m *storedMessage, n *intent, again bool) error {
	mailbox, err := lockSending(ctx, tx, m.AccountID)
	if err != nil {
		return err
	}
	recipients, err := m.payload.recipients()
	if err != nil {
		return refused(m.ActionID, "a recipient: %w", err)
	}
	people := countedPeople(recipients)
	if !again {
		if err := o.checkBegin(ctx, tx, m, mailbox, people); err != nil {
			return err
		}
	}
	if err := o.rows().countRecipients(ctx, tx, m, people); err != nil {
		return err
	}
	changed, err := maildb.Exec(ctx, tx, "begin to send the message of action "+m.ActionID, sqlBeginSend,
		int64(n.historyID), dbtime.Of(n.until), dbtime.Of(queue.Now(tx)), m.ActionID)
	if err == nil && changed == 0 {
		err = errSendBegun
	}
	return err
}

// lockSending returns the address of the mailbox. On PostgreSQL other sends of the account wait for the transaction.
func lockSending(ctx context.Context, tx queue.Tx, accountID string) (mailbox string, err error) {
	err = maildb.Get(ctx, tx, &mailbox, "account "+accountID, sqlLockSending, accountID)
	return mailbox, err
}

// countedPeople returns the recipients as limits count them: tags and dots make no other person.
func countedPeople(recipients []string) []string {
	people := make([]string, len(recipients))
	for i, email := range recipients {
		people[i] = mailname.Mailbox(email)
	}
	return onceEach(people)
}

// countRecipients counts the message for its recipients, as one that is sent now.
func (s messageRows) countRecipients(ctx context.Context, tx queue.Tx, m *storedMessage, people []string) error {
	for _, email := range people {
		_, err := maildb.Exec(ctx, tx, "recipient of action "+m.ActionID, sqlPutRecipient,
			m.AccountID, email, m.ActionID, string(m.payload.MessageType), dbtime.Of(queue.Now(tx)))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBegin refuses a message that was sent before, and a reply to a recipient who has got one. The message has been
// counted when its action started. Its count can be over only if that was more than a day ago.
func (o *Outbox) checkBegin(ctx context.Context, tx queue.Tx, m *storedMessage, mailbox string, people []string) error {
	if err := o.checkSentBefore(ctx, tx, m, mailbox); err != nil {
		return err
	}
	for _, email := range people {
		got, err := o.got(ctx, tx, m, mailbox, email)
		if err == nil && got.Replies > 0 && m.payload.MessageType == Reply {
			err = o.checkReplied(ctx, tx, m, email, got.Replies)
		}
		if err != nil {
			return err
		}
	}
	turn, err := o.turn(ctx, tx, &sendTurn{m: m, mailbox: mailbox, people: people})
	if err == nil && !turn.Until.IsZero() {
		err = &postroom.HeldError{Until: turn.Until, Reason: turn.Reason}
	}
	return err
}

// checkReplied refuses a reply to a recipient who has got others. If it is not known of any of them whether it was
// sent, and each is still being looked for, the error is [ErrReplyUnclear]: perhaps none was.
func (o *Outbox) checkReplied(ctx context.Context, tx queue.Tx, m *storedMessage, email string, replies int) error {
	var unclear []string
	err := dbquery.Select(ctx, tx, &unclear, sqlUnclearReplies, m.AccountID, email, m.ActionID,
		dbtime.Of(queue.Now(tx).Add(-o.ReplyInterval)))
	if err != nil {
		return fmt.Errorf("outbox: replies to %s: %w", email, err)
	}
	looked := 0
	for _, id := range unclear {
		other, err := o.Ledger.ActionTx(ctx, tx, id)
		if maildb.IgnoreMissing(err) != nil {
			return err
		}
		if other.State == postroom.ActionExecuting {
			looked++
		}
	}
	if looked == replies {
		return fmt.Errorf("%w: %s", ErrReplyUnclear, email)
	}
	return refused(m.ActionID, "%s %w %v (%s)", email, ErrReplied, o.ReplyInterval, o.name("ReplyInterval"))
}

// checkSentBefore refuses a message that the mailbox has sent, or may have sent, before, unless a person has approved
// this action: that is a new decision.
func (o *Outbox) checkSentBefore(ctx context.Context, tx queue.Tx, m *storedMessage, mailbox string) error {
	providerID, err := o.Store.Copies().ProviderIDTx(ctx, tx, m.AccountID, m.payload.OriginalMessageID)
	if err != nil {
		return err
	}
	e, err := sentEarlier(ctx, tx, sendAbout{mailbox, providerID, m.AccountID, m.ActionID}, &m.payload)
	if err != nil || !e.known() {
		return err
	}
	approver, _, err := o.Ledger.Approver(ctx, tx, m.ActionID)
	if err == nil && approver == "" {
		err = refused(m.ActionID, "%s; it is sent again only if a person approves that", e)
	}
	return err
}

// recipientWindow is the window of RecipientsDay.
const recipientWindow = 24 * time.Hour

// A received is how many messages of other actions a recipient has got.
type received struct {
	Messages int `db:"messages"` // within a day
	Replies  int `db:"replies"`  // within ReplyInterval
}

// got counts the messages that a recipient has got, and forgets those that count no more.
func (o *Outbox) got(ctx context.Context, tx queue.Tx, m *storedMessage, mailbox, recipient string) (r received,
	err error) {
	now := queue.Now(tx)
	day, interval := now.Add(-recipientWindow), now.Add(-o.ReplyInterval)
	oldest := now.Add(-max(recipientWindow, o.ReplyInterval))
	if _, err := maildb.Exec(ctx, tx, "recipient "+recipient, sqlForgetRecipient, m.AccountID, recipient,
		dbtime.Of(oldest)); err != nil {
		return r, err
	}
	err = maildb.Get(ctx, tx, &r, "recipient "+recipient, sqlCountRecipient, dbtime.Of(day), dbtime.Of(interval),
		m.AccountID, recipient, m.ActionID, hashOfMailbox(mailbox), hashOfRecipient(mailbox, recipient), dbtime.Of(oldest))
	return r, err
}

// tooMany is the reason of a message that waits for the limit of a recipient.
func (o *Outbox) tooMany(recipient string, got received, ahead int) string {
	reason := fmt.Sprintf("%s has got %d messages within a day", recipient, got.Messages)
	if ahead > 0 {
		reason += fmt.Sprintf(", and %d that were decided before wait", ahead)
	}
	return fmt.Sprintf("%s; at most %d are allowed (%s)", reason, o.RecipientsDay, o.name("RecipientsDay"))
}
