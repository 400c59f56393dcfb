package mailindex

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/gmailquery"
)

// An indexRun is a search under way.
type indexRun struct {
	index      *Index
	accountID  string
	limit      int
	query      gmailquery.Query
	labels     searchLabels
	scope      string        // of the cursors
	filter     maildb.Filter // of every batch
	after      searchCursor
	candidates *candidates // nil: all messages that meet the filter
	// The seconds that the dates of the query leave, both included.
	since, before int64
	window        window    // of a search without candidates
	readTo        time.Time // how far it has read, if that is why a page ends
}

func (x *Index) newRun(ctx context.Context, accountID string, search Search) (*indexRun, error) {
	if search.Limit < 0 || search.Limit > maxSearchLimit {
		return nil, fmt.Errorf("mailindex: Search.Limit is %d; it must be within 1 and %d, or 0 for the default", search.Limit,
			maxSearchLimit)
	}
	if search.Limit == 0 {
		search.Limit = defaultSearchLimit
	}
	search.Query = dbvalue.Clean(search.Query) // as the texts that it looks into
	run := &indexRun{
		index: x, accountID: accountID, limit: search.Limit, scope: search.scope(accountID), since: firstInstant,
		before: lastInstant, window: window{windows: x.windows, rows: x.windows.first},
	}
	var err error
	if run.after, err = parseSearchCursor(search.Cursor, run.scope); err != nil {
		return nil, err
	}
	me, err := x.mail.Address(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if run.query, err = gmailquery.Parse(search.Query, gmailquery.Options{Now: time.Now(), Me: me}); err != nil {
		return nil, fmt.Errorf("mailindex: Search.Query: %w", err)
	}
	stored, err := x.mail.Labels(ctx, accountID)
	if err != nil {
		return nil, err
	}
	run.labels = newSearchLabels(stored)
	if !search.SpamAndTrash && !run.query.Hidden {
		run.filter.AddLabel(false, postroom.LabelSpam)
		run.filter.AddLabel(false, postroom.LabelTrash)
	}
	if search.Also.SQL != "" {
		run.filter.Add(search.Also.SQL, search.Also.Args...)
	}
	run.narrow(run.query.Root)
	run.candidates, err = run.newCandidates(ctx)
	return run, err
}

func (r *indexRun) doubts() (list []Doubt) {
	for _, d := range r.query.Doubts {
		list = append(list, Doubt(d))
	}
	return list
}

// each calls take with the messages that the query finds until there are enough that take accepts, and returns the
// cursor of the next page.
func (r *indexRun) each(ctx context.Context, take func(*postroom.Message) (accepted bool, err error)) (next string,
	err error) {
	accepted := 0
	for n := 0; n < maxSearched/searchBatch && r.window.looked < r.window.passed; n++ {
		batch, more, err := r.batch(ctx)
		if err != nil {
			return "", err
		}
		for i, m := range batch {
			r.after = searchCursor{m.At, m.ID}
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
	r.readTo = r.after.at
	return r.after.in(r.scope), nil
}

// batch reads messages after the cursor, and reports whether there may be more.
func (r *indexRun) batch(ctx context.Context) (batch []Message, more bool, err error) {
	if r.candidates != nil {
		return r.candidates.batch(ctx)
	}
	filter := r.batchFilter()
	if err := r.openWindow(ctx, &filter); err != nil {
		return nil, false, err
	}
	limit := filter.Arg(searchBatch)
	if batch, err = r.read(ctx, filter, sqlSearchOrder+limit); err != nil {
		return nil, false, err
	}
	return batch, r.window.close(len(batch)), nil
}

// pass moves the cursor past the batch, so that a page continues there even if it has read no message.
func (r *indexRun) pass() {
	switch {
	case r.candidates != nil:
		r.after = r.candidates.passed
	case !r.window.end.isZero():
		r.after = r.window.end
	}
}

// batchFilter returns the filter of the messages after the cursor. SQLite reads an index from the cursor on by the
// first of its two conditions only. Without a cursor the condition holds for all messages: with it a PostgreSQL
// without statistics (ANALYZE) chooses that index as well, and not another one whose messages it would have to sort.
func (r *indexRun) batchFilter() maildb.Filter {
	filter := r.filter.Clone()
	filter.Add("m.deleted_at IS NULL")
	filter.Add("m.account_id = %s", r.accountID)
	r.addCursor(&filter)
	return filter
}

func (r *indexRun) addCursor(filter *maildb.Filter) {
	if r.after.isZero() {
		filter.Add("COALESCE(m.received_at, m.created_at) <= %s", dbtime.Of(time.Unix(lastInstant, 0)))
		return
	}
	filter.Add("COALESCE(m.received_at, m.created_at) <= %s", dbtime.Of(r.after.at))
	filter.Add("(COALESCE(m.received_at, m.created_at), m.id) < (%s, %s)", dbtime.Of(r.after.at), r.after.id)
}

func (r *indexRun) read(ctx context.Context, filter maildb.Filter, order string) ([]Message, error) {
	return r.index.mail.Messages(ctx, r.index.db.Reader(), filter.Where()+order, filter.Args...)
}

func (r *indexRun) finds(m Message) bool {
	return gmailquery.Match(r.query, r.labels.document(m.Message, m.At))
}

// isNewest reports whether the search finds no newer message of the thread.
func (r *indexRun) isNewest(ctx context.Context, m *postroom.Message) (bool, error) {
	filter := r.filter.Clone()
	filter.Add(maildb.NotDeleted)
	filter.Add("m.thread_id = %s", m.ThreadID)
	filter.Add("(COALESCE(m.received_at, m.created_at), m.id) > (%s, %s)", dbtime.Of(r.after.at), r.after.id)
	newer, err := r.read(ctx, filter, "")
	return !slices.ContainsFunc(newer, r.finds), err
}

// narrow adds conditions that each message found meets, and that the database can decide.
func (r *indexRun) narrow(n gmailquery.Node) {
	switch n := n.(type) {
	case gmailquery.And:
		for _, child := range n {
			r.narrow(child)
		}
	case gmailquery.Label:
		r.filter.AddLabel(true, r.labels.ids[n.Key]...)
	case gmailquery.Not:
		if l, ok := n.Node.(gmailquery.Label); ok {
			for _, id := range r.labels.ids[l.Key] {
				r.filter.AddLabel(false, id)
			}
		}
	case gmailquery.Date:
		r.narrowTime(n)
	case gmailquery.MessageID:
		r.filter.Add("m.rfc_message_id = %s", n.ID)
	case gmailquery.Size:
		r.filter.Add("m.size "+map[bool]string{true: ">", false: "<"}[n.Larger]+" %s", n.Bytes)
	}
}

func (r *indexRun) narrowTime(n gmailquery.Date) {
	switch {
	case n.After:
		r.since = max(r.since, n.At.Unix())
		r.filter.Add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(n.At))
	case n.At.Unix() <= lastInstant: // a later one leaves nothing out
		r.before = min(r.before, n.At.Unix())
		r.filter.Add("COALESCE(m.received_at, m.created_at) < %s", dbtime.Of(n.At))
	}
}
