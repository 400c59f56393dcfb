package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A threadRow is a thread with the values of its newest message.
type threadRow struct {
	ThreadID  string `db:"thread_id"`
	Date      int64  `db:"newest"`
	Snippet   string `db:"snippet"`
	HistoryID uint64 `db:"history_id"`
}

func (s *Server) listThreads(ctx context.Context, r *request) (any, error) {
	p, err := s.parsePage(ctx, r)
	if err != nil {
		return nil, err
	}
	response := &gmail.ListThreadsResponse{ForceSendFields: []string{"ResultSizeEstimate"}}
	if response.ResultSizeEstimate, err = p.estimate(ctx, s.db.Reader(), "m.thread_id"); err != nil {
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
		err := dbquery.Get(ctx, s.db.Reader(), &row, selectThreadNewest, r.account.id, row.ThreadID)
		if errors.Is(err, sql.ErrNoRows) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		response.Threads = append(response.Threads, &gmail.Thread{Id: row.ThreadID, Snippet: row.Snippet,
			HistoryId: row.HistoryID})
	}
	return response, nil
}

// selectThreads reads one row more than the page has.
func (s *Server) selectThreads(ctx context.Context, p *page) ([]threadRow, error) {
	query := selectThreadsListed + p.from + "\nWHERE " + p.where() + "\nGROUP BY m.thread_id"
	if p.after != nil {
		query += "\nHAVING (newest, m.thread_id) < (" + p.arg(p.after.date) + ", " + p.arg(p.after.id) + ")"
	}
	query += "\nORDER BY newest DESC, m.thread_id DESC\nLIMIT " + p.arg(p.limit+1)
	var rows []threadRow
	err := dbquery.Select(ctx, s.db.Reader(), &rows, query, p.args...)
	return rows, err
}

func (s *Server) getThread(ctx context.Context, r *request) (any, error) {
	f, err := parseFormat(r.query)
	if err != nil {
		return nil, err
	}
	if f.name == "raw" {
		return nil, wire.InvalidArgument("Invalid value at 'format': threads are not given as raw")
	}
	rows, err := loadThread(ctx, s.db.Reader(), r.account.id, r.param("id"))
	if err != nil {
		return nil, err
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

// loadThread returns the messages of a thread, oldest first. There is at least one.
func loadThread(ctx context.Context, q dbquery.Querier, account int64, id string) ([]messageRow, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	var rows []messageRow
	if err := dbquery.Select(ctx, q, &rows, selectThread, account, id); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, wire.NotFound()
	}
	return rows, nil
}

func (s *Server) modifyThread(ctx context.Context, r *request) (any, error) {
	var request gmail.ModifyThreadRequest
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	return s.changeThread(ctx, r, request.AddLabelIds, request.RemoveLabelIds)
}

func (s *Server) trashThread(ctx context.Context, r *request) (any, error) {
	return s.changeThread(ctx, r, []string{labelTrash}, []string{labelInbox})
}

func (s *Server) untrashThread(ctx context.Context, r *request) (any, error) {
	return s.changeThread(ctx, r, nil, []string{labelTrash})
}

// changeThread changes the labels of all messages of a thread.
func (s *Server) changeThread(ctx context.Context, r *request, add, remove []string) (any, error) {
	thread := &gmail.Thread{}
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := checkChange(ctx, tx, r.account.id, add, remove); err != nil {
			return err
		}
		rows, err := loadThread(ctx, tx, r.account.id, r.param("id"))
		if err != nil {
			return err
		}
		*thread = gmail.Thread{Id: rows[0].ThreadID}
		for _, row := range rows {
			m, err := changeLabels(ctx, tx, row.Account, row.ID, add, remove)
			if err != nil {
				return err
			}
			thread.Messages = append(thread.Messages, m.ref())
			thread.HistoryId = max(thread.HistoryId, m.HistoryID)
		}
		return nil
	})
	return thread, err
}

// deleteThread permanently deletes all messages of a thread.
func (s *Server) deleteThread(ctx context.Context, r *request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		rows, err := loadThread(ctx, tx, r.account.id, r.param("id"))
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := removeMessage(ctx, tx, row.Account, row.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxReferences is the number of references of a message that count, from the last.
const maxReferences = 50

// findThread returns the thread of a message that does not name one: a thread with the same subject that contains the
// message or one that it references, otherwise a new one.
func (a *arrival) findThread(ctx context.Context, tx queue.Tx) (string, error) {
	var threads []string
	if err := dbquery.Select(ctx, tx, &threads, selectThreadOf, a.account, textList(a.references),
		a.subjectKey); err != nil {
		return "", err
	}
	if len(threads) == 0 {
		return a.id, nil
	}
	return threads[0], nil
}

// checkThread checks the thread in a request, which must exist. A message that does not answer another with the same
// subject in it begins a new thread, as at Gmail.
func (a *arrival) checkThread(ctx context.Context, tx queue.Tx) error {
	if a.threadID == "" || a.keepsThread {
		return nil
	}
	if err := checkID(a.threadID); err != nil {
		return err
	}
	var keys []string
	if err := dbquery.Select(ctx, tx, &keys, selectSubjects, a.account, a.threadID); err != nil {
		return err
	}
	if len(keys) == 0 {
		return wire.NotFound()
	}
	var known []string
	if err := dbquery.Select(ctx, tx, &known, selectReferencesOf, a.account, a.threadID,
		textList(a.references)); err != nil {
		return err
	}
	if !a.answers || len(known) == 0 || len(without([]string{a.subjectKey}, keys)) > 0 {
		a.threadID = ""
	}
	return nil
}

// answerPrefix matches the usual prefixes of the subject of an answer or a forward in the most frequent languages.
var answerPrefix = regexp.MustCompile(`^(?i:\s*(re|aw|sv|vs|antw|odp|fwd?|wg|tr|rv|enc)(\[\d+\])?\s*[:\x{ff1a}])*\s*`)

// subjectKey returns a key that is equal for the subjects of one thread.
func subjectKey(subject string) string {
	return strings.ToLower(strings.Join(strings.Fields(answerPrefix.ReplaceAllString(subject, "")), " "))
}

func rememberReferences(ctx context.Context, tx queue.Tx, account int64, thread string, references []string) error {
	for _, reference := range references {
		if _, err := tx.ExecContext(ctx, insertReference, account, reference, thread); err != nil {
			return err
		}
	}
	return nil
}
