package mailstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A ThreadPage is one page of threads; see [mailindex.Page].
type ThreadPage struct {
	Threads       []Thread
	UnknownLabels []string
	Doubts        []mailindex.Doubt
	Next          string
}

// Search returns a page of the account's messages that match the query, by the time at which Gmail received them,
// newest first. An index finds words, labels, properties, sizes and Message-IDs, so that a page takes as long in a
// large mailbox as in a small one. A query that only excludes (-word, is:read) reads messages, newest first. See the
// documentation of the package. An unknown account is [postroom.ErrNotFound].
func (s *Store) Search(ctx context.Context, accountID string, search mailindex.Search) (mailindex.Page, error) {
	return s.Index().Search(ctx, accountID, search)
}

// SearchThreads returns a page of the threads that have a matching message, each once, ordered by the newest of these.
func (s *Store) SearchThreads(ctx context.Context, accountID string, search mailindex.Search) (ThreadPage, error) {
	found, err := s.Index().Threads(ctx, accountID, search)
	page := ThreadPage{UnknownLabels: found.UnknownLabels, Doubts: found.Doubts, Next: found.Next}
	for _, id := range found.IDs {
		thread, fault := s.Thread(ctx, accountID, id)
		if fault != nil {
			return page, errors.Join(err, fault)
		}
		page.Threads = append(page.Threads, thread)
	}
	return page, err
}

// Index returns the search index of the stored mail. The jobs of package gmail build it. A program that stores messages
// without them must call [mailindex.Index.Build] now and then, and once after an upgrade from a version without an
// index.
func (s *Store) Index() *mailindex.Index { return mailindex.New(s.db, indexedMail{s}) }

// indexedMail is the mail that the index is of.
type indexedMail struct{ *Store }

var _ mailindex.Source = indexedMail{}

func (m indexedMail) Address(ctx context.Context, accountID string) (email string, err error) {
	err = maildb.Get(ctx, m.db.Reader(), &email, "account "+accountID, sqlAddress, accountID)
	return email, err
}

func (m indexedMail) Lock(ctx context.Context, tx queue.Tx, accountID string) error {
	_, err := m.Progress().LockCursor(ctx, tx, accountID)
	return err
}

func (m indexedMail) Messages(ctx context.Context, q mailindex.Querier, clauses string,
	args ...any) ([]mailindex.Message, error) {
	return selectFound(ctx, q, sqlSearch+clauses, args...)
}

// selectFound reads messages by sqlSearch, or sqlSearchBare.
func selectFound(ctx context.Context, q mailindex.Querier, query string, args ...any) ([]mailindex.Message, error) {
	var rows []struct {
		messageRow
		At dbtime.Time `db:"at"`
	}
	if err := dbquery.Select(ctx, q, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("gmail: search: %w", err)
	}
	messages := make([]mailindex.Message, len(rows))
	for i := range rows {
		message, err := rows[i].message()
		if err != nil {
			return nil, err
		}
		messages[i] = mailindex.Message{Message: message, At: rows[i].At.Time}
	}
	return messages, nil
}

// ThreadMessages returns the messages of a thread, oldest first, without those that were deleted at Gmail; none for
// an unknown thread.
func (s *Store) ThreadMessages(ctx context.Context, accountID, threadID string) ([]*postroom.Message, error) {
	return selectMessages(ctx, s.db.Reader(), sqlThreadMessages, accountID, threadID)
}

// ThreadMessagesTx is ThreadMessages within a transaction, for a thread with Gmail's id.
func (s *Store) ThreadMessagesTx(ctx context.Context, tx queue.Tx, accountID, providerID string) (
	[]*postroom.Message, error,
) {
	var id string
	err := maildb.Get(ctx, tx, &id, "thread "+providerID, sqlThreadID, accountID, providerID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return selectMessages(ctx, tx, sqlThreadMessages, accountID, id)
}

// ThreadHeaders is ThreadMessages without the texts, and with what was received until an instant.
func (s *Store) ThreadHeaders(
	ctx context.Context, accountID, threadID string, until time.Time,
) ([]*postroom.Message, error) {
	return selectMessages(ctx, s.db.Reader(), sqlThreadHeaders, accountID, threadID, dbtime.Of(until))
}

func selectMessages(ctx context.Context, q dbquery.Querier, query string, args ...any) ([]*postroom.Message, error) {
	var rows []messageRow
	if err := dbquery.Select(ctx, q, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("gmail: messages: %w", err)
	}
	messages := make([]*postroom.Message, len(rows))
	for i := range rows {
		var err error
		if messages[i], err = rows[i].message(); err != nil {
			return nil, err
		}
	}
	return messages, nil
}
