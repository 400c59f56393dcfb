package drafting

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A button is a label of this package. Its text is stored in tables and payloads.
type button string

const (
	needsResponse  button = "needs_response"
	outboxLabel    button = "outbox"
	reworkButton   button = "rework"
	doneButton     button = "done"
	actionRequired button = "action_required"
	waiting        button = "waiting"
)

var buttons = []button{needsResponse, outboxLabel, reworkButton, doneButton, actionRequired, waiting}

// colors are those of the labels that are made here, of Gmail's palette: blue for what a person presses, green for what
// is ready or done, red for what a person has to do, yellow for what waits.
var colors = map[button]gmailapi.LabelColor{
	needsResponse:  {Text: "#ffffff", Background: "#4a86e8"},
	outboxLabel:    {Text: "#094228", Background: "#b9e4d0"},
	reworkButton:   {Text: "#0d3b44", Background: "#a4c2f4"},
	doneButton:     {Text: "#ffffff", Background: "#16a766"},
	actionRequired: {Text: "#ffffff", Background: "#cc3a21"},
	waiting:        {Text: "#594c05", Background: "#fce8b3"},
}

func (l *Labels) name(b button) string {
	switch b {
	case needsResponse:
		return l.NeedsResponse
	case outboxLabel:
		return l.Outbox
	case reworkButton:
		return l.Rework
	case doneButton:
		return l.Done
	case actionRequired:
		return l.ActionRequired
	}
	return l.Waiting
}

// labelIDs are the labels of an account that are buttons.
type labelIDs map[string]button // by Gmail's id

func (s *Service) labelIDs(ctx context.Context, accountID string) (labelIDs, error) {
	labels, err := s.cfg.Store.Labels(ctx, accountID)
	return s.idsOf(labels), err
}

// labelIDsTx is for transactions: one that waits for a second connection keeps others from theirs.
func (s *Service) labelIDsTx(ctx context.Context, tx queue.Tx, accountID string) (labelIDs, error) {
	labels, err := s.cfg.Store.LabelsTx(ctx, tx, accountID)
	return s.idsOf(labels), err
}

func (s *Service) idsOf(labels []postroom.Label) labelIDs {
	ids := make(labelIDs)
	for _, label := range labels {
		for _, b := range buttons {
			if gmailapi.SameLabelName(label.Name, s.cfg.Labels.name(b)) {
				ids[label.ID] = b
			}
		}
	}
	return ids
}

func (l labelIDs) of(b button) string {
	for id, other := range l {
		if other == b {
			return id
		}
	}
	return ""
}

const (
	sqlInsertButton = `
INSERT INTO reply_buttons (account_id, thread_id, button, pressed, history_id)
VALUES ($1, $2, $3, 0, 0)
ON CONFLICT (account_id, thread_id, button) DO NOTHING`

	// A write of nothing, which locks the row on PostgreSQL.
	sqlLockButton = `
UPDATE reply_buttons
SET pressed = pressed
WHERE account_id = $1 AND thread_id = $2 AND button = $3
RETURNING pressed, presses, history_id`

	sqlSetButton = `
UPDATE reply_buttons
SET pressed = $1, presses = presses + $1, history_id = CASE WHEN history_id > $2 THEN history_id ELSE $2 END
WHERE account_id = $3 AND thread_id = $4 AND button = $5`

	sqlButton = `
SELECT pressed, presses, history_id
FROM reply_buttons
WHERE account_id = $1 AND thread_id = $2 AND button = $3`

	sqlForgetButtons = `DELETE FROM reply_buttons WHERE account_id = $1`
)

// A buttonState is the record of a button of a thread.
type buttonState struct {
	Pressed   bool  `db:"pressed"`
	Presses   int64 `db:"presses"`    // how often it was pressed
	HistoryID int64 `db:"history_id"` // changes up to it were taken note of
}

// A threadKey names a thread, by Gmail's id.
type threadKey struct{ accountID, threadID string }

func (t threadKey) lockButton(ctx context.Context, tx queue.Tx, b button) (state buttonState, err error) {
	if _, err = dbquery.Exec(ctx, tx, sqlInsertButton, t.accountID, t.threadID, string(b)); err == nil {
		err = dbquery.Get(ctx, tx, &state, sqlLockButton, t.accountID, t.threadID, string(b))
	}
	if err != nil {
		err = fmt.Errorf("drafting: button %s of thread %s: %w", b, t.threadID, err)
	}
	return state, err
}

// button returns the record of a button; the zero state if it was never pressed.
func (t threadKey) button(ctx context.Context, q dbquery.Querier, b button) (state buttonState, err error) {
	err = dbquery.Get(ctx, q, &state, sqlButton, t.accountID, t.threadID, string(b))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return state, err
}

// setButton records that a button is pressed or released, and up to which change of the history.
func (t threadKey) setButton(ctx context.Context, tx queue.Tx, b button, pressed bool, historyID uint64) error {
	_, err := dbquery.Exec(ctx, tx, sqlSetButton, dbvalue.Number(pressed), int64(historyID), t.accountID, t.threadID,
		string(b))
	if err != nil {
		err = fmt.Errorf("drafting: button %s of thread %s: %w", b, t.threadID, err)
	}
	return err
}

// release records that the work of buttons is done, up to a change of the history.
func (t threadKey) release(ctx context.Context, tx queue.Tx, historyID uint64, list ...button) error {
	for _, b := range list {
		if _, err := t.lockButton(ctx, tx, b); err != nil {
			return err
		}
		if err := t.setButton(ctx, tx, b, false, historyID); err != nil {
			return err
		}
	}
	return nil
}

// Forget deletes what this package keeps of an account.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetButtons, sqlForgetTexts, sqlForgetDays} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("drafting: forget account %s: %w", accountID, err)
		}
	}
	return nil
}

func joined(parts ...string) string { return strings.Join(parts, ":") }
