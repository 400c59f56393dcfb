package gmailtest

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The kinds of a change.
const (
	kindAdded   = "added"
	kindDeleted = "deleted"
	kindLabels  = "labels"
)

// record writes one change of the message into the history. m is the message after the change.
func (m *messageRow) record(ctx context.Context, tx queue.Tx, kind string, added, removed []string) error {
	var err error
	if m.HistoryID, err = nextHistory(ctx, tx, m.Account); err != nil {
		return fmt.Errorf("history of message %s: %w", m.ID, err)
	}
	_, err = tx.ExecContext(ctx, insertHistory,
		m.Account, m.HistoryID, kind, m.ID, m.ThreadID, m.Labels, textList(added), textList(removed))
	if err != nil {
		return fmt.Errorf("history of message %s: %w", m.ID, err)
	}
	if _, err := tx.ExecContext(ctx, updateMessageHistory, m.HistoryID, m.hidden(), m.Seq); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, insertNotification, m.HistoryID, slices.Concat(m.Labels, removed), m.Account)
	return err
}

// The bounds of an account's history: the newest entry, and the last forgotten one.
type historyBounds struct {
	Newest uint64 `db:"history_id"`
	Floor  uint64 `db:"history_floor"`
}

func (s *Server) historyBounds(ctx context.Context, a *Account) (historyBounds, error) {
	var b historyBounds
	err := dbquery.Get(ctx, s.db.Reader(), &b, selectHistoryBounds, a.id)
	if err != nil {
		err = fmt.Errorf("read history of %s: %w", a.email, err)
	}
	return b, err
}

type historyRow struct {
	ID        uint64   `db:"id"`
	Kind      string   `db:"kind"`
	MessageID string   `db:"message_id"`
	ThreadID  string   `db:"thread_id"`
	Labels    textList `db:"labels"`
	Added     textList `db:"labels_added"`
	Removed   textList `db:"labels_removed"`
}

// historyTypes are the conditions behind the values of the parameter of that name.
var historyTypes = map[string]string{
	"messageAdded":   "kind = 'added'",
	"messageDeleted": "kind = 'deleted'",
	"labelAdded":     "labels_added <> '[]'",
	"labelRemoved":   "labels_removed <> '[]'",
}

// A historyQuery holds the parameters of history.list.
type historyQuery struct {
	filter
	types []string // empty: all
	limit int64
}

func parseHistoryQuery(query url.Values) (historyQuery, error) {
	q := historyQuery{types: query["historyTypes"]}
	var err error
	if q.limit, err = maxResults(query.Get("maxResults"), 500); err != nil {
		return q, err
	}
	var kinds []string
	for _, t := range q.types {
		condition, ok := historyTypes[t]
		if !ok {
			return q, wire.InvalidArgument("Invalid value at 'history_types': %q", t)
		}
		kinds = append(kinds, condition)
	}
	if len(kinds) > 0 {
		q.add("(" + strings.Join(kinds, " OR ") + ")")
	}
	if label := query.Get("labelId"); label != "" {
		q.add("EXISTS (SELECT 1 FROM json_each(labels) WHERE value = %s)", label)
	}
	return q, nil
}

func (q *historyQuery) wants(historyType string) bool {
	return len(q.types) == 0 || slices.Contains(q.types, historyType)
}

func (s *Server) listHistory(ctx context.Context, r *request) (any, error) {
	query := r.query
	start, err := strconv.ParseUint(query.Get("startHistoryId"), 10, 63)
	if err != nil {
		return nil, wire.InvalidArgument("Missing/invalid parameter: startHistoryId")
	}
	q, err := parseHistoryQuery(query)
	if err != nil {
		return nil, err
	}
	// The bounds are read before the rows: a change in between is returned again, not lost.
	bounds, err := s.historyBounds(ctx, r.account)
	if err != nil {
		return nil, err
	}
	if start < bounds.Floor {
		return nil, wire.NotFound()
	}
	if start > bounds.Newest {
		return nil, wire.InvalidArgument("Invalid startHistoryId: the mailbox is at %d and not yet at %d",
			bounds.Newest, start)
	}
	if token := query.Get("pageToken"); token != "" {
		if start, err = strconv.ParseUint(token, 10, 63); err != nil {
			return nil, wire.InvalidArgument("Invalid pageToken")
		}
	}
	rows, next, err := s.selectHistory(ctx, r.account, &q, start)
	if err != nil {
		return nil, err
	}
	if forgotten, err := s.forgottenSince(ctx, r.account, bounds); forgotten || err != nil {
		return nil, cmp.Or(err, wire.NotFound())
	}
	response := &gmail.ListHistoryResponse{HistoryId: bounds.Newest, NextPageToken: next}
	for _, row := range rows {
		response.History = append(response.History, row.api(&q))
	}
	return response, nil
}

// forgottenSince reports whether the history was forgotten since its bounds were read: the rows that were read then
// are not all of it.
func (s *Server) forgottenSince(ctx context.Context, a *Account, then historyBounds) (bool, error) {
	now, err := s.historyBounds(ctx, a)
	return now.Floor != then.Floor, err
}

func (s *Server) selectHistory(ctx context.Context, a *Account, q *historyQuery, start uint64) (rows []historyRow,
	next string, err error) {
	q.add("account = %s", a.id)
	q.add("id > %s", start)
	limit := q.arg(q.limit + 1)
	err = dbquery.Select(ctx, s.db.Reader(), &rows,
		selectHistoryWhere+q.where()+"\nORDER BY id\nLIMIT "+limit, q.args...)
	if int64(len(rows)) > q.limit {
		rows = rows[:q.limit]
		next = strconv.FormatUint(rows[len(rows)-1].ID, 10)
	}
	return rows, next, err
}

// api returns the record in the form of Gmail, with the requested arrays.
func (h *historyRow) api(q *historyQuery) *gmail.History {
	message := &gmail.Message{Id: h.MessageID, ThreadId: h.ThreadID, LabelIds: h.Labels}
	record := &gmail.History{
		Id:       h.ID,
		Messages: []*gmail.Message{{Id: h.MessageID, ThreadId: h.ThreadID}},
	}
	if h.Kind == kindAdded && q.wants("messageAdded") {
		record.MessagesAdded = []*gmail.HistoryMessageAdded{{Message: message}}
	}
	if h.Kind == kindDeleted && q.wants("messageDeleted") {
		record.MessagesDeleted = []*gmail.HistoryMessageDeleted{{Message: message}}
	}
	if len(h.Added) > 0 && q.wants("labelAdded") {
		record.LabelsAdded = []*gmail.HistoryLabelAdded{{Message: message, LabelIds: h.Added}}
	}
	if len(h.Removed) > 0 && q.wants("labelRemoved") {
		record.LabelsRemoved = []*gmail.HistoryLabelRemoved{{Message: message, LabelIds: h.Removed}}
	}
	return record
}

// ForgetHistory forgets the history so far, as Gmail does after about a week. history.list then answers 404 to any id
// older than the current one.
func (a *Account) ForgetHistory(ctx context.Context) error {
	return a.server.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, forgetHistory, a.id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, deleteHistory, a.id)
		return err
	})
}
