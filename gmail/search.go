package gmail

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/gmailquery"
)

// A Search selects stored messages of an account.
type Search struct {
	// Query is a search as in Gmail's own search box, with the operators of the API: from:, to:, subject:, label:, after:,
	// has:attachment, words, phrases in quotes, OR, a minus for exclusion. Empty: all messages. A term that cannot be parsed
	// finds nothing and is no error, as at Gmail; see Doubts of [SearchPage].
	Query string
	// SpamAndTrash includes messages in the spam and the trash, which are left out unless Query asks for them.
	SpamAndTrash bool
	// Limit is the maximum number of results on a page. Default 50; bounds 1 to 500.
	Limit int
	// Cursor is the Next of the page before; empty for the first page. It belongs to the account, the Query and SpamAndTrash that it came
	// of; Limit may differ.
	Cursor string
}

// The bounds of a search.
const (
	defaultSearchLimit = 50
	maxSearchLimit     = 500
	searchBatch        = 100  // messages in memory besides the results
	maxSearched        = 5000 // messages read for one page
)

// A SearchPage is one page of messages, newest first, without those that were deleted at Gmail.
type SearchPage struct {
	Messages []*postroom.Message
	// UnknownLabels are the labels that Query names and that the account did not have at the last sync of labels, in lower case and in
	// order. No message has them.
	UnknownLabels []string
	// Doubts are the terms of Query that are probably slips: Gmail takes them for no errors, nor does Search.
	Doubts []SearchDoubt
	// Next is the Cursor of the next page; empty on the last one. A page may have fewer results than its Limit, or none, and a
	// Next: a search reads at most 5,000 messages for a page.
	Next string
}

// A ThreadPage is one page of threads; see [SearchPage].
type ThreadPage struct {
	Threads       []Thread
	UnknownLabels []string
	Doubts        []SearchDoubt
	Next          string
}

// A SearchDoubt is a term of a query with an operator that Gmail does not have, which is searched for as words, or with a value that
// the operator does not know, which no message has.
type SearchDoubt struct {
	Term   string // as it is written
	Reason string // how it was interpreted
	Meant  string // a suggestion, such as is:unread; empty if nothing is near
}

// Search returns a page of the account's messages that match the query, by the time at which Gmail received them, newest first.
// An index finds words, labels, properties, sizes and Message-IDs, so that a page takes as long in a large mailbox as in a small
// one. A query that only excludes (-word, is:read) reads messages, newest first. See "Lists and searches" in the package
// documentation. An unknown account is [postroom.ErrNotFound].
func (s *Store) Search(ctx context.Context, accountID string, search Search) (SearchPage, error) {
	run, err := s.newSearch(ctx, accountID, search)
	if err != nil {
		return SearchPage{}, err
	}
	page := SearchPage{UnknownLabels: run.labels.unknown(run.query.Root), Doubts: run.doubts()}
	page.Next, err = run.each(ctx, func(m *postroom.Message) (found bool, err error) {
		page.Messages = append(page.Messages, m)
		return true, nil
	})
	return page, err
}

// SearchThreads returns a page of the threads that have a matching message, each once, ordered by the newest of these.
func (s *Store) SearchThreads(ctx context.Context, accountID string, search Search) (ThreadPage, error) {
	run, err := s.newSearch(ctx, accountID, search)
	if err != nil {
		return ThreadPage{}, err
	}
	page := ThreadPage{UnknownLabels: run.labels.unknown(run.query.Root), Doubts: run.doubts()}
	page.Next, err = run.each(ctx, func(m *postroom.Message) (found bool, err error) {
		newest, err := run.isNewest(ctx, m)
		if err != nil || !newest {
			return false, err
		}
		thread, err := s.Thread(ctx, accountID, m.ThreadID)
		page.Threads = append(page.Threads, thread)
		return true, err
	})
	return page, err
}

// ThreadMessages returns the messages of a thread, oldest first, without those that were deleted at Gmail; none for an unknown
// thread.
func (s *Store) ThreadMessages(ctx context.Context, accountID, threadID string) ([]*postroom.Message, error) {
	return s.selectMessages(ctx, sqlThreadMessages, accountID, threadID)
}

func (s *Store) selectMessages(ctx context.Context, query string, args ...any) ([]*postroom.Message, error) {
	var rows []messageRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
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

// A searchRun is a search under way.
type searchRun struct {
	store     *Store
	accountID string
	limit     int
	query     gmailquery.Query
	labels    searchLabels
	scope     string       // of the cursors
	filter    searchFilter // of every batch
	after     searchCursor
	index     *candidates // nil: all messages that meet the filter
	// The seconds that the dates of the query leave, both included.
	since, before int64
}

func (s *Store) newSearch(ctx context.Context, accountID string, search Search) (*searchRun, error) {
	if search.Limit < 0 || search.Limit > maxSearchLimit {
		return nil, fmt.Errorf("gmail: Search.Limit is %d; it must be within 1 and %d, or 0 for the default", search.Limit, maxSearchLimit)
	}
	if search.Limit == 0 {
		search.Limit = defaultSearchLimit
	}
	search.Query = dbvalue.Clean(search.Query) // as the texts that it looks into
	run := &searchRun{
		store: s, accountID: accountID, limit: search.Limit, scope: search.scope(accountID), since: firstInstant, before: lastInstant,
	}
	var err error
	if run.after, err = parseSearchCursor(search.Cursor, run.scope); err != nil {
		return nil, err
	}
	account, err := s.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if run.query, err = gmailquery.Parse(search.Query, gmailquery.Options{Now: time.Now(), Me: account.Email}); err != nil {
		return nil, fmt.Errorf("gmail: Search.Query: %w", err)
	}
	stored, err := s.Labels(ctx, accountID)
	if err != nil {
		return nil, err
	}
	run.labels = newSearchLabels(stored)
	if !search.SpamAndTrash && !run.query.Hidden {
		run.filter.addLabel(false, postroom.LabelSpam)
		run.filter.addLabel(false, postroom.LabelTrash)
	}
	run.narrow(run.query.Root)
	run.index, err = run.newCandidates(ctx)
	return run, err
}

func (r *searchRun) doubts() (list []SearchDoubt) {
	for _, d := range r.query.Doubts {
		list = append(list, SearchDoubt(d))
	}
	return list
}

// each calls take with the messages that the query finds until there are enough that take accepts, and returns the cursor of the
// next page.
func (r *searchRun) each(ctx context.Context, take func(*postroom.Message) (accepted bool, err error)) (next string, err error) {
	accepted := 0
	for range maxSearched / searchBatch {
		batch, more, err := r.batch(ctx)
		if err != nil {
			return "", err
		}
		for i, m := range batch {
			r.after = searchCursor{m.at, m.ID}
			if !r.finds(m) {
				continue
			}
			ok, err := take(m.Message)
			if err != nil {
				return "", err
			}
			if ok {
				accepted++
			}
			if accepted == r.limit && (i < len(batch)-1 || more) {
				return r.after.in(r.scope), nil
			}
		}
		if !more {
			return "", nil
		}
		r.pass()
	}
	return r.after.in(r.scope), nil
}

// A searchedMessage is a message and its place in the order of a search.
type searchedMessage struct {
	*postroom.Message
	at time.Time
}

// batch reads messages after the cursor, and reports whether there may be more.
func (r *searchRun) batch(ctx context.Context) (batch []searchedMessage, more bool, err error) {
	if r.index != nil {
		return r.index.batch(ctx)
	}
	filter := r.batchFilter()
	limit := filter.arg(searchBatch)
	batch, err = r.read(ctx, filter, sqlSearchOrder+limit)
	return batch, len(batch) == searchBatch, err
}

// pass moves the cursor past the batch, so that a page continues there even if it has read no message.
func (r *searchRun) pass() {
	if r.index != nil {
		r.after = r.index.passed
	}
}

// batchFilter returns the filter of the messages after the cursor. SQLite reads an index from the cursor on by the first of its
// two conditions only. Without a cursor the condition holds for all messages: with it a PostgreSQL without statistics (ANALYZE)
// chooses that index as well, and not another one whose messages it would have to sort.
func (r *searchRun) batchFilter() searchFilter {
	filter := r.filter.clone()
	filter.add("m.deleted_at IS NULL")
	filter.add("m.account_id = %s", r.accountID)
	if r.after.isZero() {
		filter.add("COALESCE(m.received_at, m.created_at) <= %s", dbtime.Of(time.Unix(lastInstant, 0)))
	} else {
		filter.add("COALESCE(m.received_at, m.created_at) <= %s", dbtime.Of(r.after.at))
		filter.add("(COALESCE(m.received_at, m.created_at), m.id) < (%s, %s)", dbtime.Of(r.after.at), r.after.id)
	}
	return filter
}

func (r *searchRun) read(ctx context.Context, filter searchFilter, order string) ([]searchedMessage, error) {
	return readMessages(ctx, r.store.db.Reader(), sqlSearch+filter.where()+order, filter.args)
}

func (r *searchRun) finds(m searchedMessage) bool {
	return gmailquery.Match(r.query, r.labels.document(m.Message, m.at))
}

// isNewest reports whether the search finds no newer message of the thread.
func (r *searchRun) isNewest(ctx context.Context, m *postroom.Message) (bool, error) {
	filter := r.filter.clone()
	filter.add(sqlNotDeleted)
	filter.add("m.thread_id = %s", m.ThreadID)
	filter.add("(COALESCE(m.received_at, m.created_at), m.id) > (%s, %s)", dbtime.Of(r.after.at), r.after.id)
	newer, err := r.read(ctx, filter, "")
	return !slices.ContainsFunc(newer, r.finds), err
}

// narrow adds conditions that each message found meets, and that the database can decide.
func (r *searchRun) narrow(n gmailquery.Node) {
	switch n := n.(type) {
	case gmailquery.And:
		for _, child := range n {
			r.narrow(child)
		}
	case gmailquery.Label:
		r.filter.addLabel(true, r.labels.ids[n.Key]...)
	case gmailquery.Not:
		if l, ok := n.Node.(gmailquery.Label); ok {
			for _, id := range r.labels.ids[l.Key] {
				r.filter.addLabel(false, id)
			}
		}
	case gmailquery.Date:
		r.narrowTime(n)
	case gmailquery.MessageID:
		r.filter.add("m.rfc_message_id = %s", n.ID)
	case gmailquery.Size:
		r.filter.add("m.size "+map[bool]string{true: ">", false: "<"}[n.Larger]+" %s", n.Bytes)
	}
}

func (r *searchRun) narrowTime(n gmailquery.Date) {
	switch {
	case n.After:
		r.since = max(r.since, n.At.Unix())
		r.filter.add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(n.At))
	case n.At.Unix() <= lastInstant: // a later one leaves nothing out
		r.before = min(r.before, n.At.Unix())
		r.filter.add("COALESCE(m.received_at, m.created_at) < %s", dbtime.Of(n.At))
	}
}

// A searchFilter is conditions of a statement and their arguments.
type searchFilter struct {
	conditions []string
	args       []any
}

func (f *searchFilter) clone() searchFilter {
	return searchFilter{slices.Clone(f.conditions), slices.Clone(f.args)}
}

// arg adds an argument and returns its place.
func (f *searchFilter) arg(value any) string {
	f.args = append(f.args, value)
	return fmt.Sprintf("$%d", len(f.args))
}

// add adds a condition; each %s of it is one argument.
func (f *searchFilter) add(condition string, args ...any) {
	at := make([]any, len(args))
	for i, a := range args {
		at[i] = f.arg(a)
	}
	f.conditions = append(f.conditions, fmt.Sprintf(condition, at...))
}

// addLabel asks for messages with one of the labels, or without it. REPLACE finds a text alike on both engines: exactly. PostgreSQL takes
// an expression to be equal to another one for one row in 200, and to differ for all others. It must expect most messages not to have the
// label, or it would read all of a large mailbox, and sort it, for a page; hence the CASE.
func (f *searchFilter) addLabel(has bool, ids ...string) {
	var one []string
	for _, id := range ids {
		quoted, _ := json.Marshal(id) //nolint:errchkjson // a text
		one = append(one, "REPLACE(CAST(m.labels_json AS TEXT), "+f.arg(string(quoted))+", '') <> CAST(m.labels_json AS TEXT)")
	}
	condition := "FALSE"
	if len(one) > 0 {
		condition = "(" + strings.Join(one, " OR ") + ")"
	}
	if !has {
		condition = "CASE WHEN " + condition + " THEN 1 ELSE 0 END <> 1"
	}
	f.conditions = append(f.conditions, condition)
}

func (f *searchFilter) where() string { return "\nWHERE " + strings.Join(f.conditions, "\n  AND ") }
