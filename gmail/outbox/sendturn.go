package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A message is counted for its recipients in the transaction in which its action starts, so that of two that start at
// once each sees the other. One that is beyond the limit does not start. Its place among those that wait is that of its
// decision.

// MostWait is how long a message waits for the limit of its recipients. One that would wait longer needs a person.
const MostWait = 48 * time.Hour

const (
	// turnKept is how long after its turn a place is looked at: it is kept while its action still waits, as after a stop.
	turnKept = time.Hour
	// askedKept is how long it is known that a person was asked.
	askedKept = 30 * 24 * time.Hour
)

// ErrReplyUnclear is the error of an attempt to send a reply while that of an earlier one may have sent it, or not.
var ErrReplyUnclear = errors.New("outbox: it is not known yet whether an earlier reply was sent to this recipient")

// ErrReplied is the error, of [gmailapi.ClassRefused], of a reply to a recipient who has got one lately. It is no
// failure: its action is canceled.
var ErrReplied = errors.New("has got an automatic reply within the last")

// ErrRecipientLimit is the error of [Outbox.Reserve] for a message that has to wait for the limit of its recipients.
var ErrRecipientLimit = errors.New("outbox: a recipient has got as many messages within a day as are allowed")

// A Turn is when a message may be sent, as far as the limits of its recipients are concerned.
type Turn struct {
	// Until is when the message may be sent, unless others that were decided before need the time. The zero time is now.
	Until time.Time
	// Reason says to people what the message waits for.
	Reason string
	// Ask reports that the message would wait longer than [MostWait], or than its approval counts: a person has to be
	// asked instead. If a person then approves the action, the limit does not apply to it.
	Ask bool
}

// Reserve counts the message of an action for its recipients. Call it in the transaction in which the action starts. If
// the error is [ErrRecipientLimit], roll that back and call [Outbox.Wait] in another. An attempt that goes on is
// counted already. What keeps the message from being sent otherwise is the error of [Delivery.Send].
func (o *Outbox) Reserve(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	s, err := o.sendTurn(ctx, tx, a)
	if err != nil || s == nil || !s.m.OpenUntil.IsZero() || s.m.SentID != "" {
		return err
	}
	if counted, err := s.counted(ctx, tx); counted || err != nil {
		return err
	}
	switch turn, err := o.turn(ctx, tx, s); {
	case err != nil:
		return err
	case !turn.Until.IsZero():
		return ErrRecipientLimit
	}
	if err := o.Leave(ctx, tx, a); err != nil {
		return err
	}
	return o.rows().countRecipients(ctx, tx, s.m, s.people)
}

// Wait gives the message of a queued action its place among those that wait for the limits of their recipients, and
// returns when its turn is.
func (o *Outbox) Wait(ctx context.Context, tx queue.Tx, a postroom.Action) (Turn, error) {
	s, err := o.sendTurn(ctx, tx, a)
	if err != nil || s == nil {
		return Turn{}, err
	}
	turn, err := o.turn(ctx, tx, s)
	if err != nil || turn.Until.IsZero() {
		return turn, err
	}
	if err := o.askBeyond(ctx, tx, s.m, &turn); err != nil {
		return turn, err
	}
	for _, email := range s.people {
		_, err := maildb.Exec(ctx, tx, "place of action "+a.ID, sqlPutPlace, a.AccountID, email, a.ID,
			dbtime.Of(s.decided), dbtime.Of(turn.Until), dbvalue.Number(turn.Ask))
		if err != nil {
			return turn, err
		}
	}
	return turn, nil
}

// askBeyond asks a person about a message that would wait for too long, or for longer than its approval counts: it
// would be asked about again only then.
func (o *Outbox) askBeyond(ctx context.Context, tx queue.Tx, m *storedMessage, turn *Turn) error {
	approver, approved, err := o.Ledger.Approver(ctx, tx, m.ActionID)
	if err != nil {
		return err
	}
	lapses := approver != "" && !turn.Until.Before(approved)
	if turn.Ask = lapses || turn.Until.Sub(queue.Now(tx)) > MostWait; turn.Ask {
		turn.Reason += "; the message would wait until " + turn.Until.UTC().Format(time.RFC3339)
	}
	if lapses {
		turn.Reason += ", and the approval by " + approver + " counts until " + approved.UTC().Format(time.RFC3339)
	}
	return nil
}

// Leave gives up the place of an action that has ended without sending.
func (o *Outbox) Leave(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	_, err := maildb.Exec(ctx, tx, "place of action "+a.ID, sqlLeavePlace, a.AccountID, a.ID)
	return err
}

// Actions are the actions that [CountWaiting] looks at; a [Ledger] has them.
type Actions interface {
	// Action returns an action, or an error that matches [postroom.ErrNotFound].
	Action(ctx context.Context, id string) (postroom.Action, error)
}

// mostOverdue bounds how many actions CountWaiting looks at.
const mostOverdue = 1000

// CountWaiting returns how many messages wait for the limits of their recipients. One whose action was canceled counts
// until its turn. Those whose turn came some time ago, as during a stop, count while their actions are queued.
func CountWaiting(ctx context.Context, db queue.DB, actions Actions) (waiting int, err error) {
	before := dbtime.Of(time.Now().Add(-turnKept))
	if err := maildb.Get(ctx, db.Reader(), &waiting, "messages that wait", sqlCountWaiting, before); err != nil {
		return 0, err
	}
	var overdue []string
	if err := dbquery.Select(ctx, db.Reader(), &overdue, sqlOverdueActions, before, mostOverdue); err != nil {
		return 0, fmt.Errorf("outbox: messages that wait: %w", err)
	}
	for _, id := range overdue {
		a, err := actions.Action(ctx, id)
		if err := maildb.IgnoreMissing(err); err != nil {
			return 0, err
		}
		if err == nil && a.State == postroom.ActionQueued {
			waiting++
		}
	}
	return waiting, nil
}

// A sendTurn is what decides whose turn it is.
type sendTurn struct {
	m       *storedMessage
	mailbox string
	people  []string  // as limits count them
	decided time.Time // zero: no other goes before
}

// sendTurn locks the account and reads the message of an action; nil if it has none that can be read.
func (o *Outbox) sendTurn(ctx context.Context, tx queue.Tx, a postroom.Action) (*sendTurn, error) {
	mailbox, err := lockSending(ctx, tx, a.AccountID)
	if err != nil {
		return nil, maildb.IgnoreMissing(err)
	}
	m, err := readMessage(ctx, tx, a.ID)
	if errors.Is(err, postroom.ErrNotFound) || gmailapi.ClassOf(err) == gmailapi.ClassRefused {
		return nil, nil //nolint:nilnil // Send says so
	}
	if err != nil {
		return nil, err
	}
	recipients, err := m.payload.recipients()
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // Send says so
	}
	s := &sendTurn{m: m, mailbox: mailbox, people: countedPeople(recipients), decided: a.CreatedAt}
	if s.decided.IsZero() {
		s.decided = queue.Now(tx)
	}
	return s, nil
}

// counted reports whether an earlier attempt has counted the message.
func (s *sendTurn) counted(ctx context.Context, tx queue.Tx) (bool, error) {
	var n int
	err := maildb.Get(ctx, tx, &n, "recipients of action "+s.m.ActionID, sqlCountCounted, s.m.AccountID, s.m.ActionID)
	return n > 0, err
}

// turn returns when a message may be sent. Its own earlier count does not matter.
func (o *Outbox) turn(ctx context.Context, tx queue.Tx, s *sendTurn) (last Turn, err error) {
	if allowed, err := o.allowedBeyond(ctx, tx, s.m); allowed || err != nil {
		return last, err
	}
	for _, email := range s.people {
		got, err := o.got(ctx, tx, s.m, s.mailbox, email)
		if err != nil {
			return last, err
		}
		ahead, err := o.ahead(ctx, tx, s, email)
		if err != nil {
			return last, err
		}
		if got.Messages+ahead < o.RecipientsDay {
			continue
		}
		until, err := o.freeAt(ctx, tx, s, email, got, ahead)
		if err != nil {
			return last, err
		}
		if until.After(last.Until) {
			last = Turn{Until: until, Reason: o.tooMany(email, got, ahead)}
		}
	}
	return last, nil
}

// allowedBeyond reports whether a person has approved the message after it was beyond the limit.
func (o *Outbox) allowedBeyond(ctx context.Context, tx queue.Tx, m *storedMessage) (bool, error) {
	var asked int
	err := maildb.Get(ctx, tx, &asked, "place of action "+m.ActionID, sqlCountAsked, m.AccountID, m.ActionID)
	if err != nil || asked == 0 {
		return false, err
	}
	approver, _, err := o.Ledger.Approver(ctx, tx, m.ActionID)
	return approver != "", err
}

// ahead counts the messages to a recipient that wait and were decided before.
func (o *Outbox) ahead(ctx context.Context, tx queue.Tx, s *sendTurn, email string) (n int, err error) {
	if s.decided.IsZero() {
		return 0, nil
	}
	if err := o.forgetPlaces(ctx, tx, s.m.AccountID, email); err != nil {
		return 0, err
	}
	err = maildb.Get(ctx, tx, &n, "places of recipient "+email, sqlCountAhead, s.m.AccountID, email,
		dbtime.Of(s.decided), s.m.ActionID)
	return n, err
}

// forgetPlaces gives up the places of actions that wait no more. Those of others are looked at again after a time.
func (o *Outbox) forgetPlaces(ctx context.Context, tx queue.Tx, accountID, email string) error {
	now, what := queue.Now(tx), "places of recipient "+email
	_, err := maildb.Exec(ctx, tx, what, sqlForgetAsked, accountID, email, dbtime.Of(now.Add(-askedKept)))
	if err != nil {
		return err
	}
	var overdue []string
	err = dbquery.Select(ctx, tx, &overdue, sqlOverduePlaces, accountID, email, dbtime.Of(now.Add(-turnKept)))
	if err != nil {
		return fmt.Errorf("outbox: %s: %w", what, err)
	}
	for _, id := range overdue {
		a, err := o.Ledger.ActionTx(ctx, tx, id)
		switch {
		case maildb.IgnoreMissing(err) != nil:
			return err
		case err == nil && a.State == postroom.ActionQueued:
			_, err = maildb.Exec(ctx, tx, what, sqlKeepPlace, dbtime.Of(now), accountID, id)
		default:
			_, err = maildb.Exec(ctx, tx, what, sqlLeavePlace, accountID, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// freeAt returns when a recipient may get the message, if those ahead are sent as soon as they may be: each message
// makes room for another a day after it was sent.
func (o *Outbox) freeAt(ctx context.Context, tx queue.Tx, s *sendTurn, email string, got received,
	ahead int) (time.Time, error) {
	now := queue.Now(tx)
	day := now.Add(-recipientWindow)
	beyond := ahead
	skip := max(got.Messages-o.RecipientsDay, 0) // the limit was lowered
	if free := o.RecipientsDay - got.Messages; free > 0 {
		beyond -= free
	}
	days, place := beyond/o.RecipientsDay, beyond%o.RecipientsDay
	at := now // of those ahead that are sent now
	if place+skip < got.Messages {
		var sent dbtime.Time
		err := maildb.Get(ctx, tx, &sent, "recipient "+email, sqlRecipientAt, s.m.AccountID, email, s.m.ActionID,
			dbtime.Of(day), hashOfMailbox(s.mailbox), hashOfRecipient(s.mailbox, email), place+skip)
		if err != nil {
			return now, err
		}
		at = sent.Time
	}
	return at.Add(time.Duration(days+1) * recipientWindow), nil
}
