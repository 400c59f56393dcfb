package gmailtest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/queue"
)

// A filter is the conditions of a statement, with their arguments.
type filter struct {
	conditions []string
	args       []any
}

// add adds a condition; each %s of it is one argument.
func (f *filter) add(condition string, args ...any) {
	f.conditions = append(f.conditions, f.place(condition, args...))
}

// place puts the placeholders of the arguments into a condition.
func (f *filter) place(condition string, args ...any) string {
	places := make([]any, len(args))
	for i, a := range args {
		places[i] = f.arg(a)
	}
	return fmt.Sprintf(condition, places...)
}

// arg adds an argument and returns its placeholder.
func (f *filter) arg(value any) string {
	f.args = append(f.args, value)
	return "$" + strconv.Itoa(len(f.args))
}

func (f *filter) where() string {
	return strings.Join(append([]string{"TRUE"}, f.conditions...), "\n  AND ")
}

// A search selects messages of one account. m is the table messages, or begins with those of a label.
type search struct {
	filter
	account *Account
	labels  map[string][]string // ids by their keys in queries
	needed  []string            // ids of labels that every result must have
	from    string
	by      string // the table that gives the order
	few     bool   // a condition leads to few messages
}

// parseSearch reads labelIds, q and includeSpamTrash.
func (s *Server) parseSearch(ctx context.Context, r *request) (search, error) {
	f := search{account: r.account, needed: r.query["labelIds"], from: "messages m", by: "m"}
	if err := checkLabels(ctx, s.db.Reader(), r.account.id, f.needed); err != nil {
		return f, err
	}
	query, err := gmailquery.Parse(r.query.Get("q"), gmailquery.Options{Now: s.now(), Me: r.account.email})
	if err != nil {
		return f, wire.InvalidArgument("Invalid query: %v", err)
	}
	hidden := !query.Hidden && !slices.Contains(f.needed, labelSpam) && !slices.Contains(f.needed, labelTrash)
	if include, err := boolean(r.query, "includeSpamTrash"); err != nil || include {
		hidden = false
		if err != nil {
			return f, err
		}
	}
	if query.Root != nil {
		if err := f.readLabels(ctx, s.db.Reader()); err != nil {
			return f, err
		}
	}
	return f, f.compile(ctx, s.db.Reader(), query.Root, hidden)
}

// boolean reads a parameter that is true or false.
func boolean(query url.Values, name string) (bool, error) {
	switch value := query.Get(name); value {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, wire.InvalidArgument("Invalid value at '%s' (TYPE_BOOL), %q", name, value)
	}
}

// readLabels loads the labels by their keys in queries.
func (f *search) readLabels(ctx context.Context, q dbquery.Querier) error {
	var rows []labelRow
	if err := dbquery.Select(ctx, q, &rows, selectLabels, f.account.id); err != nil {
		return err
	}
	f.labels = make(map[string][]string, len(rows))
	for _, row := range rows {
		key := gmailquery.LabelKey(row.Name)
		f.labels[key] = append(f.labels[key], row.ID)
	}
	return nil
}

// compile turns the query into conditions.
func (f *search) compile(ctx context.Context, q dbquery.Querier, root gmailquery.Node, hidden bool) error {
	if hidden {
		f.add("m.hidden = 0")
	}
	all, isAnd := root.(gmailquery.And)
	if !isAnd && root != nil {
		all = gmailquery.And{root}
	}
	for _, n := range all {
		if l, isLabel := n.(gmailquery.Label); isLabel && len(f.labels[l.Key]) == 1 {
			f.needed = append(f.needed, f.labels[l.Key][0])
			continue
		}
		f.conditions = append(f.conditions, f.condition(n))
	}
	return f.lead(ctx, q, all)
}

// manyMessages is the number of matches from which it is faster to scan the messages in order until a page is full
// than to begin with the matches of a condition.
const manyMessages = 2000

// lead chooses the scan order. SQLite has no statistics of words and labels, and would scan all messages in order for
// the few matches of a rare word.
func (f *search) lead(ctx context.Context, q dbquery.Querier, all gmailquery.And) error {
	for _, n := range all {
		var inner filter
		query, ok := f.found(&inner, n)
		if !ok {
			continue
		}
		var count int
		query = fmt.Sprintf("SELECT COUNT(*) FROM (%s LIMIT %d)", query, manyMessages)
		if err := dbquery.Get(ctx, q, &count, query, inner.args...); err != nil {
			return err
		}
		f.few = f.few || count < manyMessages
	}
	return f.leadByLabel(ctx, q)
}

// leadByLabel begins with the messages of the rarest required label, and looks up the others.
func (f *search) leadByLabel(ctx context.Context, q dbquery.Querier) error {
	rarest, least := "", 0
	f.needed = slices.Compact(slices.Sorted(slices.Values(f.needed)))
	for _, id := range f.needed {
		var count int
		if err := dbquery.Get(ctx, q, &count, countLabeledUpTo, f.account.id, id, manyMessages); err != nil {
			return err
		}
		if rarest == "" || count < least {
			rarest, least = id, count
		}
	}
	if f.few && least == manyMessages {
		rarest = "" // words have fewer
	}
	for _, id := range f.needed {
		if id != rarest {
			f.add(hasLabel, id)
		}
	}
	if rarest != "" {
		f.from, f.by, f.few = "message_labels l CROSS JOIN messages m ON m.seq = l.seq", "l", false
		f.add("l.account = %s AND l.label_id = %s", f.account.id, rarest)
		return nil
	}
	f.add(f.sign()+"m.account = %s", f.account.id)
	return nil
}

// sign keeps SQLite from choosing an index for a condition: if another condition has few matches, SQLite prefers to
// scan all of an account in order, which is slow.
func (f *search) sign() string {
	if f.few {
		return "+"
	}
	return ""
}

// order sorts the messages, newest first.
func (f *search) order() string {
	return fmt.Sprintf("%[1]s%[2]s.internal_date DESC, %[1]s%[2]s.seq DESC", f.sign(), f.by)
}

const (
	hasLabel   = "EXISTS (SELECT 1 FROM message_labels WHERE seq = m.seq AND label_id = %s)"
	hasLabelIn = "EXISTS (SELECT 1 FROM message_labels WHERE seq = m.seq AND label_id IN (SELECT value FROM json_each(%s)))"

	// The ids of Gmail's own labels do not begin like that.
	hasUserLabel = "EXISTS (SELECT 1 FROM message_labels WHERE seq = m.seq AND label_id GLOB 'Label_*')"
)

// condition returns the node in SQL.
func (f *search) condition(n gmailquery.Node) string {
	switch n := n.(type) {
	case gmailquery.And:
		return f.join(n, " AND ")
	case gmailquery.Or:
		return f.join(n, " OR ")
	case gmailquery.Not:
		return "NOT " + f.condition(n.Node)
	case gmailquery.Label:
		return f.place(hasLabelIn, textList(f.labels[n.Key]))
	case gmailquery.UserLabel:
		return hasUserLabel
	case gmailquery.Date:
		return f.place(map[bool]string{true: "m.internal_date >= %s", false: "m.internal_date < %s"}[n.After],
			n.At.UnixMilli())
	}
	if query, ok := f.found(&f.filter, n); ok {
		return "m.seq IN (" + query + ")"
	}
	return "FALSE"
}

func (f *search) join(nodes []gmailquery.Node, word string) string {
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = f.condition(n)
	}
	return "(" + strings.Join(parts, word) + ")"
}

// wordColumns are the columns with the words of a field.
var wordColumns = map[gmailquery.Field]struct{ table, column string }{
	gmailquery.Anywhere:  {"message_words", "message_words"},
	gmailquery.Sender:    {"message_words", "sender"},
	gmailquery.Recipient: {"message_words", "recipient"},
	gmailquery.CC:        {"message_words", "cc"},
	gmailquery.BCC:       {"message_words", "bcc"},
	gmailquery.Subject:   {"message_words", "subject"},
	gmailquery.Body:      {"message_words", "body"},
	gmailquery.Filename:  {"message_words", "filename"},
	gmailquery.List:      {"message_keys", "list"},
	gmailquery.Delivered: {"message_keys", "delivered"},
}

// found returns the query that finds the seqs of a node's messages by an index, with its arguments in the filter. ok
// is false if there is none.
func (f *search) found(in *filter, n gmailquery.Node) (query string, ok bool) {
	switch n := n.(type) {
	case gmailquery.Phrase:
		return in.words(n.Field, quotePhrase(n.Words)), true
	case gmailquery.Around:
		return in.words(n.Field, fmt.Sprintf("%s NEAR/%d %s", quotePhrase(n.Left), n.Between, quotePhrase(n.Right))), true
	case gmailquery.Mark:
		return in.place("SELECT seq FROM message_marks WHERE mark = %s", n.Name), true
	case gmailquery.Size:
		sign := map[bool]string{true: ">", false: "<"}[n.Larger]
		return in.place("SELECT seq FROM messages WHERE account = %s AND size "+sign+" %s", f.account.id, n.Bytes), true
	case gmailquery.MessageID:
		return in.place("SELECT seq FROM messages WHERE account = %s AND rfc822_id = %s", f.account.id, n.ID), true
	default:
		return "", false
	}
}

func (f *filter) words(field gmailquery.Field, expression string) string {
	in := wordColumns[field]
	return f.place("SELECT docid FROM "+in.table+" WHERE "+in.column+" MATCH %s", expression)
}

// quotePhrase returns words, which must contain only letters and digits, as a phrase of SQLite's full-text search.
func quotePhrase(words []string) string { return `"` + strings.Join(words, " ") + `"` }

// insertWordList makes the message searchable.
func insertWordList(ctx context.Context, tx queue.Tx, seq int64, w rawmail.WordList) error {
	text := func(f gmailquery.Field) string { return strings.Join(w.Fields[f], " ") }
	_, err := tx.ExecContext(ctx, insertWords, seq, text(gmailquery.Sender), text(gmailquery.Recipient),
		text(gmailquery.CC),
		text(gmailquery.BCC), text(gmailquery.Subject), text(gmailquery.Body), text(gmailquery.Filename))
	if err != nil {
		return fmt.Errorf("insert words: %w", err)
	}
	if len(w.Fields[gmailquery.List])+len(w.Fields[gmailquery.Delivered]) > 0 {
		if _, err := tx.ExecContext(ctx, insertKeys, seq, text(gmailquery.List), text(gmailquery.Delivered)); err != nil {
			return fmt.Errorf("insert words: %w", err)
		}
	}
	for _, mark := range w.Marks {
		if _, err := tx.ExecContext(ctx, insertMark, seq, mark); err != nil {
			return fmt.Errorf("insert marks: %w", err)
		}
	}
	return nil
}

// indexAll makes messages searchable that were inserted before the server could search for words.
func (s *Server) indexAll(ctx context.Context) error {
	for {
		left, err := s.indexSome(ctx)
		if err != nil || !left {
			return err
		}
	}
}

func (s *Server) indexSome(ctx context.Context) (left bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		var rows []struct {
			Seq int64  `db:"seq"`
			Raw []byte `db:"raw"`
		}
		if err := dbquery.Select(ctx, tx, &rows, selectUnindexed, batchMessages); err != nil {
			return err
		}
		left = len(rows) > 0
		for _, row := range rows {
			message := rawmail.Parse(row.Raw)
			words := rawmail.ReadWords(message)
			if err := insertWordList(ctx, tx, row.Seq, words); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, updateIndexed, subjectKey(rawmail.DecodeText(message.Header.Get("Subject"))),
				row.Seq); err != nil {
				return err
			}
		}
		return nil
	})
	return left, err
}
