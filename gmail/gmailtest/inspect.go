package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// ErrNoMessage reports that the mailbox has no message with the id. ErrNoLabel reports that it has no label with the
// name.
var (
	ErrNoMessage = errors.New("gmailtest: no such message")
	ErrNoLabel   = errors.New("gmailtest: no such label")
)

// A Message describes a message in the mailbox.
type Message struct {
	ID        string    `json:"id"`
	ThreadID  string    `json:"thread_id"`
	MessageID string    `json:"message_id"` // of RFC 5322, without angle brackets; empty if it has none
	Labels    []string  `json:"labels"`     // names, sorted; a system label's name is its id
	Received  time.Time `json:"received"`   // the internalDate
	Mailbox   string    `json:"mailbox"`    // the name of the source it was imported from; empty if it came from the API
	Position  int       `json:"position"`   // its position there, from 1
}

type messageView struct {
	ID        string   `db:"id"`
	ThreadID  string   `db:"thread_id"`
	MessageID string   `db:"rfc822_id"`
	Received  int64    `db:"internal_date"`
	Labels    textList `db:"labels"`
	Mailbox   string   `db:"mailbox"`
	Position  int      `db:"position"`
}

func (v *messageView) message() Message {
	return Message{
		ID: v.ID, ThreadID: v.ThreadID, MessageID: v.MessageID, Labels: v.Labels,
		Received: time.UnixMilli(v.Received).UTC(), Mailbox: v.Mailbox, Position: v.Position,
	}
}

// Message returns the message with the id, or [ErrNoMessage].
func (a *Account) Message(ctx context.Context, id string) (Message, error) {
	var v messageView
	err := dbquery.Get(ctx, a.server.db.Reader(), &v, selectMessageView, a.id, id)
	if errors.Is(err, sql.ErrNoRows) {
		return Message{}, fmt.Errorf("%w: %s", ErrNoMessage, id)
	}
	return v.message(), err
}

// Position returns the position, from 1, of a message in the mailbox that it was imported from, even after the
// message was deleted. The error is [ErrNoMessage] for a message that was not imported.
func (a *Account) Position(ctx context.Context, id string) (int, error) {
	var position int
	err := dbquery.Get(ctx, a.server.db.Reader(), &position, selectPosition, a.id, id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%w: %s", ErrNoMessage, id)
	}
	return position, err
}

// Snapshot returns all messages, sorted by id. Two servers have equal snapshots if the same mailbox was imported and
// the same changes were made to the same messages.
func (a *Account) Snapshot(ctx context.Context) ([]Message, error) {
	var views []messageView
	if err := dbquery.Select(ctx, a.server.db.Reader(), &views, selectSnapshot, a.id); err != nil {
		return nil, fmt.Errorf("gmailtest: snapshot: %w", err)
	}
	messages := make([]Message, len(views))
	for i := range views {
		messages[i] = views[i].message()
	}
	return messages, nil
}

// A Refused is an entry of an imported mailbox that Gmail does not accept as a message.
type Refused struct {
	Mailbox  string `db:"mailbox"`
	Position int    `db:"position"` // from 1
	Name     string `db:"name"`     // its file within a folder; empty in an mbox
	Problem  string `db:"problem"`
	Subject  string `db:"subject"` // as far as it can be read
}

// Refused lists the entries that [Account.Import] refused, by mailbox and position.
func (a *Account) Refused(ctx context.Context) ([]Refused, error) {
	var refused []Refused
	if err := dbquery.Select(ctx, a.server.db.Reader(), &refused, selectRefused, a.id); err != nil {
		return nil, fmt.Errorf("gmailtest: refused messages: %w", err)
	}
	return refused, nil
}

// Count returns the number of messages in the mailbox.
func (a *Account) Count(ctx context.Context) (int, error) {
	counts, err := a.counts(ctx)
	return int(counts.Messages), err
}

// messageCounts counts the content of the mailbox.
type messageCounts struct {
	Messages int64 `db:"messages"`
	Threads  int64 `db:"threads"`
}

func (a *Account) counts(ctx context.Context) (messageCounts, error) {
	var c messageCounts
	err := dbquery.Get(ctx, a.server.db.Reader(), &c, countMessages, a.id)
	if err != nil {
		err = fmt.Errorf("gmailtest: count the messages of %s: %w", a.email, err)
	}
	return c, err
}
