package gmailtest

import (
	"context"
	"net/http"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A threadRow is a thread with what its newest message gives it.
type threadRow struct {
	ThreadID  string `db:"thread_id"`
	Date      int64  `db:"newest"`
	Snippet   string `db:"snippet"`
	HistoryID uint64 `db:"history_id"`
}

func (s *Server) listThreads(ctx context.Context, r *http.Request) (any, error) {
	p, err := s.parsePage(ctx, r.URL.Query())
	if err != nil {
		return nil, err
	}
	response := &gmail.ListThreadsResponse{ForceSendFields: []string{"ResultSizeEstimate"}}
	count := countThreadsWhere + p.where()
	if err := dbquery.Get(ctx, s.db.Reader(), &response.ResultSizeEstimate, count, p.args...); err != nil {
		return nil, err
	}
	rows, err := s.selectThreads(ctx, &p)
	if err != nil {
		return nil, err
	}
	if int64(len(rows)) > p.limit {
		rows = rows[:p.limit]
		last := rows[len(rows)-1]
		response.NextPageToken = cursor{last.Date, last.ThreadID}.token()
	}
	for _, row := range rows {
		response.Threads = append(response.Threads, &gmail.Thread{Id: row.ThreadID, Snippet: row.Snippet, HistoryId: row.HistoryID})
	}
	return response, nil
}

// selectThreads reads one row more than the page holds.
func (s *Server) selectThreads(ctx context.Context, p *page) ([]threadRow, error) {
	query := selectThreadsWhere + p.where() + "\nGROUP BY m.thread_id"
	if p.after != nil {
		query += "\nHAVING (newest, m.thread_id) < (" + p.arg(p.after.date) + ", " + p.arg(p.after.id) + ")"
	}
	query += "\nORDER BY newest DESC, m.thread_id DESC\nLIMIT " + p.arg(p.limit+1)
	var rows []threadRow
	err := dbquery.Select(ctx, s.db.Reader(), &rows, query, p.args...)
	return rows, err
}

func (s *Server) getThread(ctx context.Context, r *http.Request) (any, error) {
	f, err := parseFormat(r.URL.Query())
	if err != nil {
		return nil, err
	}
	var rows []messageRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, selectThread, r.PathValue("id")); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, notFound()
	}
	thread := &gmail.Thread{Id: rows[0].ThreadID}
	for i := range rows {
		message, err := f.render(ctx, s.db.Reader(), &rows[i])
		if err != nil {
			return nil, err
		}
		thread.Messages = append(thread.Messages, message)
		thread.HistoryId = max(thread.HistoryId, rows[i].HistoryID)
	}
	return thread, nil
}

// maxReferences is the number of references of a message that count, from the last.
const maxReferences = 50

// findThread gives the thread of a message that names none: the one that knows it or what it answers, else its own.
func findThread(ctx context.Context, tx queue.Tx, id string, references []string) (string, error) {
	var threads []string
	if err := dbquery.Select(ctx, tx, &threads, selectThreadOf, textList(references)); err != nil {
		return "", err
	}
	if len(threads) == 0 {
		return id, nil
	}
	return threads[0], nil
}

func rememberReferences(ctx context.Context, tx queue.Tx, thread string, references []string) error {
	for _, reference := range references {
		if _, err := tx.ExecContext(ctx, insertReference, reference, thread); err != nil {
			return err
		}
	}
	return nil
}
