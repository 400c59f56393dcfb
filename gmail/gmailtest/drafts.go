package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A draftRow is a draft: a permanent id, and its current message.
type draftRow struct {
	Account int64  `db:"account"`
	ID      string `db:"id"`
	Seq     int64  `db:"seq"`
	Message string `db:"message_id"`
	Thread  string `db:"thread_id"`
}

func (d *draftRow) api(m *messageRow) *gmail.Draft {
	return &gmail.Draft{Id: d.ID, Message: m.ref()}
}

// draftID makes the id of a draft: an r and a number.
func draftID(message string) string {
	n, err := strconv.ParseUint(message, 16, 64)
	if err != nil {
		return "r0"
	}
	return "r" + strconv.FormatInt(int64(n), 10)
}

func loadDraft(ctx context.Context, q dbquery.Querier, account int64, id string) (draftRow, error) {
	var d draftRow
	number, isDraft := strings.CutPrefix(id, "r")
	if _, err := strconv.ParseInt(number, 10, 64); !isDraft || err != nil {
		return d, wire.InvalidArgument("Invalid draft id: %s", id)
	}
	err := dbquery.Get(ctx, q, &d, selectDraft, account, id)
	return d, foundOr404(err)
}

// readDraft reads a request with a draft. The message is nil if it has none.
func (s *Server) readDraft(r *request) (id string, a *arrival, err error) {
	var request gmail.Draft
	if err := r.readJSON(&request); err != nil {
		return "", nil, err
	}
	if r.media == nil && (request.Message == nil || request.Message.Raw == "") {
		return request.Id, nil, nil
	}
	if a, err = s.readArrival(r, request.Message); err != nil {
		return "", nil, err
	}
	a.labels = []string{labelDraft}
	a.examine()
	return request.Id, a, nil
}

func noDraftMessage() error {
	return wire.InvalidArgument("Message must have 'raw' set, or be uploaded")
}

func (s *Server) createDraft(ctx context.Context, r *request) (any, error) {
	_, a, err := s.readDraft(r)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, noDraftMessage()
	}
	var answer *gmail.Draft
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		m, err := s.accept(ctx, tx, r.account, a)
		if err != nil {
			return err
		}
		d := draftRow{Account: m.Account, ID: draftID(m.ID), Seq: m.Seq}
		answer = d.api(&m)
		return d.insert(ctx, tx)
	})
	return answer, err
}

func (d *draftRow) insert(ctx context.Context, tx queue.Tx) error {
	if _, err := tx.ExecContext(ctx, insertDraft, d.Account, d.ID, d.Seq); err != nil {
		return fmt.Errorf("insert draft %s: %w", d.ID, err)
	}
	return nil
}

// updateDraft replaces the message of a draft. The new message gets a new id, and stays in the thread unless the
// request names one.
func (s *Server) updateDraft(ctx context.Context, r *request) (any, error) {
	_, a, err := s.readDraft(r)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, noDraftMessage()
	}
	var answer *gmail.Draft
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		d, err := loadDraft(ctx, tx, r.account.id, r.param("id"))
		if err != nil {
			return err
		}
		m, err := s.replaceDraft(ctx, tx, r.account, &d, a)
		if err != nil {
			return err
		}
		answer = d.api(&m)
		return d.insert(ctx, tx)
	})
	return answer, err
}

// replaceDraft puts a message in the place of the draft's own, which is deleted with the row of the draft.
func (s *Server) replaceDraft(ctx context.Context, tx queue.Tx, owner *Account, d *draftRow,
	a *arrival) (m messageRow, err error) {
	if a.threadID == "" {
		a.keepsThread, a.threadID = true, d.Thread
	}
	if m, err = s.accept(ctx, tx, owner, a); err != nil {
		return m, err
	}
	d.Seq = m.Seq
	return m, removeMessage(ctx, tx, d.Account, d.Message)
}

func (s *Server) getDraft(ctx context.Context, r *request) (any, error) {
	f, err := parseFormat(r.query)
	if err != nil {
		return nil, err
	}
	d, err := loadDraft(ctx, s.db.Reader(), r.account.id, r.param("id"))
	if err != nil {
		return nil, err
	}
	row, err := loadMessage(ctx, s.db.Reader(), d.Account, d.Message)
	if err != nil {
		return nil, err
	}
	message, err := f.render(ctx, s.db.Reader(), &row)
	return &gmail.Draft{Id: d.ID, Message: message}, err
}

// listDrafts searches the messages that are drafts.
func (s *Server) listDrafts(ctx context.Context, r *request) (any, error) {
	p, err := s.parsePage(ctx, r)
	if err != nil {
		return nil, err
	}
	p.add("EXISTS (SELECT 1 FROM drafts WHERE seq = m.seq)")
	response := &gmail.ListDraftsResponse{ForceSendFields: []string{"ResultSizeEstimate"}}
	if response.ResultSizeEstimate, err = p.estimate(ctx, s.db.Reader(), "m.seq"); err != nil {
		return nil, err
	}
	rows, next, err := p.messages(ctx, s.db.Reader())
	if err != nil {
		return nil, err
	}
	response.NextPageToken = next
	for _, row := range rows {
		var d draftRow
		err := dbquery.Get(ctx, s.db.Reader(), &d, selectDraftOf, row.Seq)
		if errors.Is(err, sql.ErrNoRows) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		response.Drafts = append(response.Drafts,
			&gmail.Draft{Id: d.ID, Message: &gmail.Message{Id: row.ID, ThreadId: row.ThreadID}})
	}
	return response, nil
}

// deleteDraft deletes the draft and its message permanently.
func (s *Server) deleteDraft(ctx context.Context, r *request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		d, err := loadDraft(ctx, tx, r.account.id, r.param("id"))
		if err != nil {
			return err
		}
		return removeMessage(ctx, tx, d.Account, d.Message)
	})
}

// sendDraft sends a draft with its own message, or with the message of the request. The draft is then deleted. A
// message without the id of a draft is just sent.
func (s *Server) sendDraft(ctx context.Context, r *request) (any, error) {
	id, a, err := s.readDraft(r)
	if err != nil {
		return nil, err
	}
	if id == "" && a == nil {
		return nil, &wire.Error{Status: http.StatusBadRequest, Reason: "invalidArgument", Message: "Missing draft id"}
	}
	var m messageRow
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		var d draftRow
		if id != "" {
			if d, err = loadDraft(ctx, tx, r.account.id, id); err != nil {
				return err
			}
		}
		draft, err := d.arrival(ctx, tx, s, a)
		if err != nil {
			return err
		}
		from, err := r.account.sendsFrom(ctx, tx)
		if err != nil {
			return err
		}
		out, err := newLetter(r.account, from, draft)
		if err != nil {
			return err
		}
		if m, err = s.send(ctx, tx, r.account, out); err != nil || id == "" {
			return err
		}
		return removeMessage(ctx, tx, d.Account, d.Message)
	})
	return m.ref(), err
}

// arrival returns the message to send: the draft's own or its replacement.
func (d *draftRow) arrival(ctx context.Context, tx queue.Tx, s *Server, instead *arrival) (*arrival, error) {
	if instead != nil {
		sent := *instead
		if sent.threadID == "" && d.ID != "" {
			sent.keepsThread, sent.threadID = true, d.Thread
		}
		return &sent, nil
	}
	raw, err := loadRaw(ctx, tx, d.Seq)
	return &arrival{account: d.Account, raw: raw, received: s.now(), threadID: d.Thread, keepsThread: true}, err
}
