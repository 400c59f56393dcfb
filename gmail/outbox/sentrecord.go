package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/queue"
)

// The record of what was sent belongs to the mailbox and not to an account's id. When an account is removed, the table
// sent_before takes over the facts of its rows. When the mailbox comes back, as another account, the ledger and the
// outbox look there before they send. Gmail's id of a message is permanent in a mailbox. Its Message-ID does not
// count: anybody can send a message with the Message-ID of another, and would so keep the other from being forwarded.

// A SentRecord is the record of what mailboxes have sent, also those whose accounts were removed. [NewSentRecord]
// makes one.
type SentRecord struct{ store *mailstore.Store }

// NewSentRecord returns the record in the database of a store.
func NewSentRecord(store *mailstore.Store) SentRecord { return SentRecord{store} }

// sentHash returns the hash that sent_before stores instead of a text. It differs between mailboxes.
func sentHash(mailbox string, parts ...string) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q", append([]string{mailname.Mailbox(mailbox)}, parts...))
	return hex.EncodeToString(h.Sum(nil))
}

func hashOfMailbox(mailbox string) string { return sentHash(mailbox) }

// hashOfSend returns the hash of a send: the type of message and its original.
func hashOfSend(mailbox string, t MessageType, providerID string) string {
	return sentHash(mailbox, "sent", string(t), providerID)
}

// hashOfTarget returns the hash of an address, and hashOfRecipient that of the recipient whom the limits count for it.
func hashOfTarget(mailbox, email string) string {
	return sentHash(mailbox, "target", mailname.Address(email))
}

func hashOfRecipient(mailbox, email string) string {
	return sentHash(mailbox, "recipient", mailname.Mailbox(email))
}

type sentRow struct {
	ActionID  string      `db:"action_id"` // of a draft: its name in sent_before
	DraftKey  string      `db:"draft_key"` // empty: it is no draft
	Type      MessageType `db:"message_type"`
	Payload   string      `db:"payload_json"`
	SentID    string      `db:"sent_message_id"` // empty: it is not known whether it was sent
	UpdatedAt dbtime.Time `db:"updated_at"`      // when it was sent, or tried
}

// Keep adds to the record what an account that is being removed has sent, or may have sent. Its jobs must have been
// canceled: nothing is sent meanwhile. Package gmail calls it. A further call continues one that was interrupted.
func (r SentRecord) Keep(ctx context.Context, account mailstore.Account) error {
	for moved := moveBatch; moved == moveBatch; {
		err := r.store.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			moved, err = r.moveSent(ctx, tx, account)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// moveBatch is how many messages one transaction moves.
const moveBatch = 500

// moveSent moves a batch, and returns its size.
func (r SentRecord) moveSent(ctx context.Context, tx queue.Tx, account mailstore.Account) (int, error) {
	var rows []sentRow
	if err := dbquery.Select(ctx, tx, &rows, sqlSentMessages, account.ID, moveBatch); err != nil {
		return 0, fmt.Errorf("outbox: what account %s has sent: %w", account.ID, err)
	}
	for i := range rows {
		if err := rows[i].remember(ctx, tx, r.store, account); err != nil {
			return 0, err
		}
		if err := rows[i].delete(ctx, tx, account.ID); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

func (r *sentRow) delete(ctx context.Context, tx queue.Tx, accountID string) (err error) {
	if r.DraftKey == "" {
		_, err = maildb.Exec(ctx, tx, "message of action "+r.ActionID, sqlDeleteMessage, r.ActionID)
	} else {
		_, err = maildb.Exec(ctx, tx, r.ActionID, sqlDeleteDraft, accountID, r.DraftKey)
	}
	return err
}

// countedAs returns the recipient whom limits count. They do not count drafts, which people send.
func (r *sentRow) countedAs(mailbox, email string) string {
	if r.DraftKey != "" {
		return ""
	}
	return hashOfRecipient(mailbox, email)
}

// remember writes a row for each recipient. A payload that was altered and cannot be parsed names none, and does not
// prevent the removal of an account.
func (r *sentRow) remember(ctx context.Context, tx queue.Tx, store *mailstore.Store, account mailstore.Account) error {
	var p Payload
	err := json.Unmarshal([]byte(r.Payload), &p)
	emails, unread := p.recipients()
	if err != nil || unread != nil {
		return nil //nolint:nilerr // as above
	}
	providerID, err := store.Copies().ProviderIDTx(ctx, tx, account.ID, p.OriginalMessageID)
	if maildb.IgnoreMissing(err) != nil {
		return err
	}
	for _, email := range emails {
		_, err := maildb.Exec(ctx, tx, "recipient of action "+r.ActionID, sqlInsertSentBefore, hashOfMailbox(account.Email),
			hashOfSend(account.Email, r.Type, providerID), hashOfTarget(account.Email, email), r.ActionID,
			r.countedAs(account.Email, email),
			string(r.Type), dbvalue.Number(r.SentID != ""), r.UpdatedAt)
		if err != nil {
			return err
		}
	}
	return nil
}

// Forget deletes the record of what the mailbox had sent when an account with this address was removed: if the
// mailbox comes back, its rules may send the same once more, and the limits of recipients are reset. The record of an
// existing account stays. Forget returns for how many recipients it deleted records; after an error, how many until
// then.
func (r SentRecord) Forget(ctx context.Context, email string) (forgotten int, err error) {
	forgotten, err = dbquery.DeleteInBatches(ctx, r.store.DB(), sqlForgetSent, hashOfMailbox(email))
	if err != nil {
		err = fmt.Errorf("outbox: forget what was sent: %w", err)
	}
	return forgotten, err
}

// Kept returns how many recipients of messages [SentRecord.Forget] would forget: none for an address that no account
// had.
func (r SentRecord) Kept(ctx context.Context, email string) (kept int, err error) {
	err = maildb.Get(ctx, r.store.DB().Reader(), &kept, "what was sent before", sqlSentKept, hashOfMailbox(email))
	return kept, err
}

// A sendAbout is a send that is about to happen: the mailbox, the original, and the action.
type sendAbout struct{ mailbox, providerID, accountID, actionID string }

// An earlierSend is a message that the mailbox has sent about the same original.
type earlierSend struct {
	removed bool      // some of it before its account was removed
	at      time.Time // the last time
	certain bool      // it was sent
	got     []string  // the recipients that it went to
	others  []string  // that it did not
	what    MessageType
}

// known reports whether there is any.
func (e *earlierSend) known() bool { return len(e.got) > 0 }

// whole reports whether nothing is left to send: all recipients have surely got it.
func (e *earlierSend) whole() bool { return e.known() && e.certain && len(e.others) == 0 }

// String describes the earlier send for people.
func (e *earlierSend) String() string {
	what := map[MessageType]string{Forward: "a forward of this message",
		Reply: "a reply to this message"}[e.what]
	to, at := strings.Join(e.got, ", "), e.at.UTC().Format(time.RFC3339)
	if !e.certain {
		return fmt.Sprintf("%s may have been sent to %s on %s: %s; look among its sent mail", what, to, at,
			e.or("the mailbox was removed here before that was known", "it is not known yet"))
	}
	text := fmt.Sprintf("%s was sent to %s on %s%s", what, to, at,
		e.or(", before the mailbox was removed here and came back", ""))
	if len(e.others) > 0 {
		text += "; not to " + strings.Join(e.others, ", ")
	}
	return text
}

// or returns one of two texts, by whether the account was removed since.
func (e *earlierSend) or(removed, here string) string {
	if e.removed {
		return removed
	}
	return here
}

// A sentTo is a send to one recipient, whose address is a hash.
type sentTo struct {
	Target  string      `db:"target"`
	Certain int         `db:"certain"`
	SentAt  dbtime.Time `db:"sent_at"`
}

// sentHere returns the messages that the account has sent about the original for other actions, or as a draft.
func (s sendAbout) sentHere(ctx context.Context, q dbquery.Querier, p *Payload) (all []sentTo, err error) {
	var rows []sentRow
	if err := dbquery.Select(ctx, q, &rows, sqlSentAbout, p.OriginalMessageID, s.accountID, string(p.MessageType),
		s.actionID); err != nil {
		return nil, fmt.Errorf("outbox: what was sent about message %s: %w", p.OriginalMessageID, err)
	}
	for i := range rows {
		var sent Payload
		if json.Unmarshal([]byte(rows[i].Payload), &sent) != nil {
			continue
		}
		emails, err := sent.recipients()
		if err != nil {
			continue
		}
		for _, email := range emails {
			all = append(all, sentTo{hashOfTarget(s.mailbox, email), dbvalue.Number(rows[i].SentID != ""), rows[i].UpdatedAt})
		}
	}
	return all, nil
}

// sentEarlier looks for messages that the mailbox has sent about the original, as this account or as one that was
// removed.
func sentEarlier(ctx context.Context, q dbquery.Querier, s sendAbout, p *Payload) (*earlierSend, error) {
	emails, err := p.recipients()
	if err != nil {
		return nil, err
	}
	var rows []sentTo
	err = dbquery.Select(ctx, q, &rows, sqlSentBefore, hashOfMailbox(s.mailbox),
		hashOfSend(s.mailbox, p.MessageType, s.providerID))
	if err != nil {
		return nil, fmt.Errorf("outbox: what was sent before about message %s: %w", s.providerID, err)
	}
	here, err := s.sentHere(ctx, q, p)
	if err != nil {
		return nil, err
	}
	e := &earlierSend{certain: true, what: p.MessageType, removed: len(here) == 0}
	rows = append(rows, here...)
	certain := make(map[string]bool, len(rows)) // by the address
	at := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		certain[r.Target] = certain[r.Target] || r.Certain == 1
		at[r.Target] = r.SentAt.Time // they are ordered by time, those before the removal first
	}
	for _, email := range emails {
		target := hashOfTarget(s.mailbox, email)
		when, sent := at[target]
		if !sent {
			e.others = append(e.others, email)
			continue
		}
		e.got = append(e.got, email)
		e.certain = e.certain && certain[target]
		if when.After(e.at) {
			e.at = when
		}
	}
	return e, nil
}

// SentBefore returns, for people, what the mailbox has sent about the message, also before it was removed and came
// back, of what the action would send; empty if nothing. all reports whether the action would send nothing else.
// Package safety calls it when a decision is recorded.
func (r SentRecord) SentBefore(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, t postroom.ActionType, parameters postroom.Parameters,
) (said string, all bool, err error) {
	if !sendsMessage(t) || msg == nil || msg.ProviderID == "" {
		return "", false, nil
	}
	var mailbox string
	if err := maildb.Get(ctx, tx, &mailbox, "account "+msg.AccountID, sqlMailboxOf, msg.AccountID); err != nil {
		return "", false, maildb.IgnoreMissing(err)
	}
	p, err := compose(postroom.Action{Type: t, Parameters: parameters}, msg,
		[]gmailapi.SendAs{{Email: mailbox, Primary: true}})
	if err != nil {
		return "", false, nil //nolint:nilerr // nothing is sent: the job refuses it, with this reason
	}
	p.OriginalMessageID = msg.ID
	e, err := sentEarlier(ctx, tx, sendAbout{mailbox, msg.ProviderID, msg.AccountID, ""}, &p)
	if err != nil || !e.known() {
		return "", false, err
	}
	return e.String(), e.whole(), nil
}
