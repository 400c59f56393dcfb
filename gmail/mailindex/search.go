package mailindex

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
)

// A Search selects stored messages of an account.
type Search struct {
	// Query is a search as in Gmail's own search box, with the operators of the API: from:, to:, subject:, label:, after:,
	// has:attachment, words, phrases in quotes, OR, a minus for exclusion. Empty: all messages. A term that cannot be
	// parsed finds nothing and is no error, as at Gmail; see Doubts of [Page].
	Query string
	// SpamAndTrash includes messages in the spam and the trash, which are left out unless Query asks for them.
	SpamAndTrash bool
	// Also is asked of each message besides Query. Its zero value asks for nothing.
	Also Condition
	// Limit is the maximum number of results on a page. Default 50; bounds 1 to 500.
	Limit int
	// Cursor is the Next of the page before; empty for the first page. It belongs to the account, the Query, SpamAndTrash
	// and Also that it came of; Limit may differ.
	Cursor string
}

// A Condition is one of SQL about a message, by which a program asks its own tables, in the same database. The message
// is m, with the columns account_id and id, and each %s is one of Args. SQL must be of the program: it is not checked.
type Condition struct {
	SQL  string
	Args []any
}

// A Page is one page of messages, newest first, without those that were deleted at Gmail.
type Page struct {
	Messages []*postroom.Message
	// UnknownLabels are the labels that Query names and that the account did not have at the last sync of labels, in
	// lower case and in order. No message has them.
	UnknownLabels []string
	// Doubts are the terms of Query that are probably slips: Gmail takes them for no errors, nor does Search.
	Doubts []Doubt
	// Next is the Cursor of the next page; empty on the last one. A page may have fewer results than its Limit, or none,
	// and a Next: a search reads at most 5,000 messages for a page, and passes by some 50,000 of which the database knows
	// that they do not match.
	Next string
	// ReadTo is when the last message was received that was looked at, if the page ends for that reason: older ones may
	// match. Otherwise it is zero.
	ReadTo time.Time
}

// A Doubt is a term of a query with an operator that Gmail does not have, which is searched for as words, or
// with a value that the operator does not know, which no message has.
type Doubt struct {
	Term   string // as it is written
	Reason string // how it was interpreted
	Meant  string // a suggestion, such as is:unread; empty if nothing is near
}

// A ThreadPage is one page of the ids of threads; see [Page].
type ThreadPage struct {
	IDs           []string // ours
	UnknownLabels []string
	Doubts        []Doubt
	Next          string
}

// The bounds of a search.
const (
	defaultSearchLimit = 50
	maxSearchLimit     = 500
	searchBatch        = 100  // messages in memory besides the results
	maxSearched        = 5000 // messages read for one page
)

// Search returns a page of the account's messages that match the query, by the time at which Gmail received them,
// newest first. An unknown account is [postroom.ErrNotFound].
func (x *Index) Search(ctx context.Context, accountID string, search Search) (Page, error) {
	run, err := x.newRun(ctx, accountID, search)
	if err != nil {
		return Page{}, err
	}
	page := Page{UnknownLabels: run.labels.unknown(run.query.Root), Doubts: run.doubts()}
	page.Next, err = run.each(ctx, func(m *postroom.Message) (found bool, err error) {
		page.Messages = append(page.Messages, m)
		return true, nil
	})
	page.ReadTo = run.readTo
	return page, err
}

// Threads returns a page of the threads that have a matching message, each once, ordered by the newest of these.
func (x *Index) Threads(ctx context.Context, accountID string, search Search) (ThreadPage, error) {
	run, err := x.newRun(ctx, accountID, search)
	if err != nil {
		return ThreadPage{}, err
	}
	page := ThreadPage{UnknownLabels: run.labels.unknown(run.query.Root), Doubts: run.doubts()}
	page.Next, err = run.each(ctx, func(m *postroom.Message) (found bool, err error) {
		newest, err := run.isNewest(ctx, m)
		if err == nil && newest {
			page.IDs = append(page.IDs, m.ThreadID)
		}
		return newest, err
	})
	return page, err
}
