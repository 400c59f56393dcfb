package mailindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/gmailquery"
)

// Bounds of the use of the index.
const (
	maxUnindexed   = 4 * indexBatch // messages that wait for it; when there are more, all messages are read instead
	maxPhraseWords = 8              // of a phrase that are looked up
)

// candidates are the messages of an account that a query may find.
type candidates struct {
	run       *indexRun
	unindexed []unindexedRow // of the account
	noTerms   bool           // too many wait for the index
	latest    instants
	upto      int64   // where they continue
	seconds   []int64 // of the current batch, latest first
	want      int     // how many seconds the next batch has
	passed    searchCursor
}

// newCandidates returns nil where the index does not help: each message is a candidate then.
func (r *indexRun) newCandidates(ctx context.Context) (*candidates, error) {
	if r.query.Root == nil {
		return nil, nil //nolint:nilnil // none is an answer
	}
	c := &candidates{run: r, want: min(r.limit+1, searchBatch)}
	// Before the index is read: a message that moves between the two meanwhile is seen twice, and not missed.
	err := dbquery.Select(ctx, r.index.db.Reader(), &c.unindexed, sqlUnindexed, r.accountID, maxUnindexed+1)
	if err != nil {
		return nil, fmt.Errorf("mailindex: messages without index: %w", err)
	}
	c.noTerms = len(c.unindexed) > maxUnindexed
	if c.latest = c.of(r.query.Root); c.latest == nil {
		return nil, nil //nolint:nilnil // none is an answer
	}
	c.upto = r.before
	if !r.after.isZero() {
		c.upto = min(c.upto, r.after.at.Unix())
		return c, nil
	}
	var newest []dbtime.Time
	if err := dbquery.Select(ctx, r.index.db.Reader(), &newest, sqlNewest, r.accountID); err != nil {
		return nil, fmt.Errorf("mailindex: newest message: %w", err)
	}
	for _, at := range newest {
		c.upto = min(c.upto, at.Unix())
	}
	return c, nil
}

// of returns when the messages were received that a node may match; nil if only reading them decides.
func (c *candidates) of(n gmailquery.Node) instants {
	switch n := n.(type) {
	case gmailquery.And:
		return c.ofAll(n)
	case gmailquery.Or:
		return c.ofAny(n)
	case gmailquery.Label:
		return c.ofLabels(c.run.labels.ids[n.Key])
	case gmailquery.UserLabel:
		return c.ofLabels(c.run.labels.userIDs())
	case gmailquery.Phrase:
		return c.ofWords(n.Field, n.Words)
	case gmailquery.Around:
		return c.ofWords(n.Field, slices.Concat(n.Left, n.Right))
	case gmailquery.Mark:
		return c.ofTerms(termOf(markTerm, n.Name))
	case gmailquery.MessageID:
		return c.ofTerms(termOf(messageIDTerm, n.ID))
	case gmailquery.Size:
		return c.ofSize(n)
	case gmailquery.Never:
		return &known{}
	default: // exclusions, dates, and no query
		return nil
	}
}

// ofAll omits the nodes that do not help: the others include all matches.
func (c *candidates) ofAll(nodes []gmailquery.Node) instants {
	var found all
	for _, n := range nodes {
		if one := c.of(n); one != nil {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

func (c *candidates) ofAny(nodes []gmailquery.Node) instants {
	found := make(anyOf, len(nodes))
	for i, n := range nodes {
		if found[i] = c.of(n); found[i] == nil {
			return nil
		}
	}
	return found
}

func (c *candidates) ofLabels(ids []string) instants {
	found := make(anyOf, len(ids))
	for i, id := range ids {
		found[i] = newStored(&labelReader{index: c.run.index, accountID: c.run.accountID, labelID: id})
	}
	return found
}

// usual are words that most messages have: to look them up costs the most and leaves out the least.
var usual = []string{"com", "http", "https", "net", "org", "the", "www"}

// ofWords returns the instants that have all the words, or the longest of many, if there are others than usual ones.
func (c *candidates) ofWords(field gmailquery.Field, words []string) instants {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	telling := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(usual, word) })
	if len(telling) > 0 {
		words = telling
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var found all
	for _, word := range words[:min(len(words), maxPhraseWords)] {
		one := c.ofTerms(wordTerm(field, word))
		if one == nil {
			return nil
		}
		found = append(found, one)
	}
	return found
}

func (c *candidates) ofSize(n gmailquery.Size) instants {
	first, last := firstSizeClass, sizeClass(n.Bytes)
	if n.Larger {
		first, last = last, lastSizeClass
	}
	var terms []term
	for class := first; class <= last; class++ {
		terms = append(terms, sizeClassTerm(class))
	}
	return c.ofTerms(terms...)
}

// ofTerms returns the instants that have one of the terms.
func (c *candidates) ofTerms(terms ...term) instants {
	if c.noTerms {
		return nil
	}
	var waiting []int64
	for _, row := range c.unindexed {
		if row.Terms == nil || slices.ContainsFunc(terms, row.has) {
			waiting = append(waiting, row.Received)
		}
	}
	waits := latestFirst(waiting)
	found := anyOf{&waits}
	for _, t := range terms {
		found = append(found, newStored(&termReader{index: c.run.index, accountID: c.run.accountID, term: t}))
	}
	return found
}

// batch reads the candidates after the cursor, and reports whether there may be more.
func (c *candidates) batch(ctx context.Context) (batch []Message, more bool, err error) {
	if len(c.seconds) == 0 {
		if err := c.collect(ctx); err != nil || len(c.seconds) == 0 {
			return nil, false, err
		}
	}
	rows, err := c.messagesOf(ctx, c.seconds)
	if err != nil {
		return nil, false, err
	}
	ids := make([]any, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
		c.passed = searchCursor{row.At.Time, row.ID}
	}
	if len(ids) > 0 {
		filter := c.run.filter.Clone()
		filter.Add(maildb.NotDeleted)
		filter.Add("m.id IN ("+strings.Repeat(", %s", len(ids))[2:]+")", ids...)
		if batch, err = c.run.read(ctx, filter, ""); err != nil {
			return nil, false, err
		}
		slices.SortFunc(batch, func(a, b Message) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	}
	if len(rows) == maxCandidates {
		return batch, true, nil // the same seconds may have more
	}
	c.seconds, c.passed = c.seconds[:0], searchCursor{time.Unix(c.upto+1, 0), firstID}
	at, err := c.latest.next(ctx, c.upto)
	return batch, at >= c.run.since, err
}

// maxCandidates is the number of messages that one batch may have.
const maxCandidates = 5 * searchBatch

// collect finds the seconds of the next batch. If most candidates do not match, the batch is larger than the last.
func (c *candidates) collect(ctx context.Context) error {
	for range c.want {
		at, err := c.latest.next(ctx, c.upto)
		if err != nil || at < c.run.since {
			return err
		}
		c.upto = at - 1
		c.seconds = append(c.seconds, at)
	}
	c.want = min(2*c.want, maxSeconds)
	return nil
}

// maxSeconds is the number of seconds whose messages one statement looks up; SQLite joins no more SELECTs than 500.
const maxSeconds = 250

// A messageKey is a message's place in the order of a search.
type messageKey struct {
	ID string      `db:"id"`
	At dbtime.Time `db:"at"`
}

// messagesOf returns the messages that were received within the seconds, after the cursor.
func (c *candidates) messagesOf(ctx context.Context, seconds []int64) (rows []messageKey, err error) {
	var filter maildb.Filter
	account := filter.Arg(c.run.accountID)
	each := make([]string, len(seconds))
	for i, second := range seconds {
		each[i] = fmt.Sprintf(sqlReceivedWithin, account, filter.Arg(dbtime.Of(time.Unix(second, 0))),
			filter.Arg(dbtime.Of(time.Unix(second+1, 0))))
	}
	query := "SELECT id, at FROM (" + strings.Join(each, "\nUNION ALL") + ") m"
	if !c.run.after.isZero() {
		filter.Add("(at, id) < (%s, %s)", dbtime.Of(c.run.after.at), c.run.after.id)
		query += filter.Where()
	}
	query += "\nORDER BY at DESC, id DESC\nLIMIT " + filter.Arg(maxCandidates)
	if err := dbquery.Select(ctx, c.run.index.db.Reader(), &rows, query, filter.Args...); err != nil {
		return nil, fmt.Errorf("mailindex: search: %w", err)
	}
	return rows, nil
}

// has reports whether the message has the term.
func (r *unindexedRow) has(t term) bool {
	for i := 0; i+4 <= len(r.Terms); i += 4 {
		if decodeTerm(r.Terms[i:]) == t {
			return true
		}
	}
	return false
}
