package ruleschat

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
)

type sessionRow struct {
	ID        string      `db:"id"`
	AccountID string      `db:"account_id"`
	By        string      `db:"begun_by"`
	CreatedAt dbtime.Time `db:"created_at"`
	UpdatedAt dbtime.Time `db:"updated_at"`
}

func (r *sessionRow) value() Session {
	return Session{ID: r.ID, AccountID: r.AccountID, By: r.By, CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time}
}

type messageRow struct {
	SessionID  string      `db:"session_id"`
	Number     int         `db:"number"`
	Role       string      `db:"role"`
	Text       string      `db:"content"`
	Model      string      `db:"model"`
	Proposal   string      `db:"proposal"`
	Base       string      `db:"base"`
	Result     string      `db:"result"`
	AcceptedBy string      `db:"accepted_by"`
	AcceptedAt dbtime.Time `db:"accepted_at"`
	CreatedAt  dbtime.Time `db:"created_at"`
}

// proposalJSON is the stored form of a proposal, and the form of the model's tool call.
type proposalJSON struct {
	Rules  string   `json:"rules,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

func (r *messageRow) value() (Message, error) {
	m := Message{SessionID: r.SessionID, Number: r.Number, Role: llm.Role(r.Role), Text: r.Text, Model: r.Model,
		At: r.CreatedAt.Time}
	if r.Proposal == "" {
		return m, nil
	}
	var p proposalJSON
	if err := json.Unmarshal([]byte(r.Proposal), &p); err != nil {
		return m, fmt.Errorf("the proposal of message %d was altered: %w", r.Number, err)
	}
	m.Proposal = &Proposal{Rules: p.Rules, Remove: p.Remove, AcceptedBy: r.AcceptedBy, AcceptedAt: r.AcceptedAt.Time,
		base: r.Base, result: r.Result}
	return m, nil
}

const maxSessions = 1000

// Sessions returns the sessions of an account, or for an empty id of all, the one with the latest message first. limit
// is 1 to 1000.
func (c *Chat) Sessions(ctx context.Context, accountID string, limit int) ([]Session, error) {
	if limit < 1 || limit > maxSessions {
		return nil, fmt.Errorf("ruleschat: Sessions: the limit is %d; it must be within 1 and %d", limit, maxSessions)
	}
	var rows []sessionRow
	if err := dbquery.Select(ctx, c.cfg.DB.Reader(), &rows, sqlSessions, accountID, limit); err != nil {
		return nil, failed("list sessions", err)
	}
	list := make([]Session, len(rows))
	for i := range rows {
		list[i] = rows[i].value()
	}
	return list, nil
}

// Session returns a session, or [postroom.ErrNotFound].
func (c *Chat) Session(ctx context.Context, id string) (Session, error) {
	var row sessionRow
	err := dbquery.Get(ctx, c.cfg.DB.Reader(), &row, sqlSession, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	return row.value(), failed("session "+id, err)
}

// Messages returns the messages of a session, oldest first. An unknown session has none.
func (c *Chat) Messages(ctx context.Context, sessionID string) ([]Message, error) {
	return messages(ctx, c.cfg.DB.Reader(), sessionID)
}

func messages(ctx context.Context, q dbquery.Querier, sessionID string) ([]Message, error) {
	var rows []messageRow
	if err := dbquery.Select(ctx, q, &rows, sqlMessages, sessionID); err != nil {
		return nil, failed("read session "+sessionID, err)
	}
	list := make([]Message, len(rows))
	for i := range rows {
		m, err := rows[i].value()
		if err != nil {
			return nil, failed("read session "+sessionID, err)
		}
		list[i] = m
	}
	return list, nil
}

// touch returns [postroom.ErrNotFound] if the session does not exist.
func (c *Chat) touch(ctx context.Context, tx queue.Tx, sessionID string) error {
	n, err := dbquery.Exec(ctx, tx, sqlTouchSession, dbtime.Of(queue.Now(tx)), sessionID)
	if err == nil && n == 0 {
		err = postroom.ErrNotFound
	}
	return failed("session "+sessionID, err)
}

// keep stores a message, and sets its number and its time.
func (c *Chat) keep(ctx context.Context, m *Message) error {
	return c.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return c.keepTx(ctx, tx, m) })
}

func (c *Chat) keepTx(ctx context.Context, tx queue.Tx, m *Message) error {
	proposal, base, result := "", "", ""
	if p := m.Proposal; p != nil {
		text, err := json.Marshal(proposalJSON{p.Rules, p.Remove})
		if err != nil {
			return err
		}
		proposal, base, result = string(text), p.base, p.result
	}
	m.Text = dbvalue.Clean(m.Text)
	if err := c.touch(ctx, tx, m.SessionID); err != nil {
		return err
	}
	if err := dbquery.Get(ctx, tx, &m.Number, sqlNextNumber, m.SessionID); err != nil {
		return failed("session "+m.SessionID, err)
	}
	m.At = dbtime.Truncate(queue.Now(tx))
	_, err := tx.ExecContext(ctx, sqlInsertMessage,
		m.SessionID, m.Number, string(m.Role), m.Text, dbvalue.Clean(m.Model), dbvalue.Clean(proposal), base, result,
		dbtime.Of(m.At))
	return failed("session "+m.SessionID, err)
}
