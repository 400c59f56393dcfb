package worldtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A Ledger behaves as the ledger of actions has to: it keeps actions in the database, and each change compares and
// sets.
type Ledger struct {
	DB         queue.DB
	Completing func() error // called before an action completes; may be nil
	Holding    func() error // called before one starts, and by Held; may be nil
	ApprovedBy string       // of every action
	// ApprovedUntil is when the approvals end.
	ApprovedUntil time.Time

	// What Permit says: that no person has approved any, that it does not verify them, and what their messages were
	// before.
	Unattended, Unverified bool
	Before                 *postroom.Snapshot

	turns turns
}

// NewLedger makes a ledger, and its table.
func NewLedger(t *testing.T, db queue.DB) *Ledger {
	t.Helper()
	require.NoError(t, MakeActions(t.Context(), db))
	return &Ledger{DB: db}
}

// MakeActions makes the table of the actions, unless it exists.
func MakeActions(ctx context.Context, db queue.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS test_actions (id TEXT PRIMARY KEY, action TEXT NOT NULL)`)
		return err
	})
}

// Put stores an action, whatever its state was.
func (l *Ledger) Put(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	text, err := json.Marshal(a) //nolint:musttag // read again by Go only
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO test_actions (id, action) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET action = excluded.action`, a.ID, string(text))
	return err
}

// ReadAction returns an action as it is stored.
func ReadAction(ctx context.Context, q dbquery.Querier, id string) (a postroom.Action, err error) {
	var text string
	if err := dbquery.Get(ctx, q, &text, `SELECT action FROM test_actions WHERE id = $1`, id); err != nil {
		return a, fmt.Errorf("action %s: %w", id, postroom.ErrNotFound)
	}
	return a, json.Unmarshal([]byte(text), &a) //nolint:musttag // as above
}

func (l *Ledger) change(ctx context.Context, tx queue.Tx, id string, from postroom.ActionState,
	set func(*postroom.Action)) (postroom.Action, error) {
	a, err := ReadAction(ctx, tx, id)
	if err != nil {
		return a, err
	}
	if a.State != from {
		return a, fmt.Errorf("action %s is %s", id, a.State)
	}
	set(&a)
	return a, l.Put(ctx, tx, a)
}

// Start implements gmail.Ledger.
func (l *Ledger) Start(ctx context.Context, tx queue.Tx, id, jobID string) (postroom.Action, error) {
	if err := l.Held(ctx); err != nil {
		return postroom.Action{}, err
	}
	if err := l.waking(ctx, tx, id); err != nil {
		return postroom.Action{}, err
	}
	a, err := l.change(ctx, tx, id, postroom.ActionQueued, func(a *postroom.Action) {
		a.State, a.JobID = postroom.ActionExecuting, jobID
	})
	switch {
	case err == nil:
		l.turns.take(id)
	case a.State == postroom.ActionExecuting && a.JobID == jobID:
		return a, nil
	}
	return a, err
}

// Complete implements gmail.Ledger.
func (l *Ledger) Complete(ctx context.Context, tx queue.Tx, id string, hint postroom.UndoHint) error {
	_, err := l.change(ctx, tx, id, postroom.ActionExecuting, func(a *postroom.Action) {
		a.State, a.UndoHint = postroom.ActionCompleted, &hint
	})
	if l.Completing != nil {
		err = errors.Join(err, l.Completing())
	}
	return err
}

// Fail implements gmail.Ledger.
func (l *Ledger) Fail(ctx context.Context, tx queue.Tx, id, reason string) error {
	return l.end(ctx, tx, id, postroom.ActionFailed, reason)
}

func (l *Ledger) end(ctx context.Context, tx queue.Tx, id string, state postroom.ActionState, reason string) error {
	a, err := ReadAction(ctx, tx, id)
	if l.turns.end(id) {
		return nil // of its wake-up
	}
	if err != nil || a.State.Final() {
		return cmp.Or(err, fmt.Errorf("action %s is %s", id, a.State))
	}
	a.State, a.Error = state, reason
	return l.Put(ctx, tx, a)
}

// Cancel implements gmail.Ledger.
func (l *Ledger) Cancel(ctx context.Context, tx queue.Tx, id, reason string) error {
	return l.end(ctx, tx, id, postroom.ActionCanceled, reason)
}

// Action implements outbox.Ledger.
func (l *Ledger) Action(ctx context.Context, id string) (postroom.Action, error) {
	return ReadAction(ctx, l.DB.Reader(), id)
}

// Queued implements gmail.Ledger.
func (l *Ledger) Queued(ctx context.Context, accountID, messageID string) (ids []string, err error) {
	var all []string
	if err := l.DB.Reader().SelectContext(ctx, &all, `SELECT id FROM test_actions ORDER BY id`); err != nil {
		return nil, err
	}
	for _, id := range all {
		a, err := l.Action(ctx, id)
		if err != nil {
			return nil, err
		}
		if a.AccountID == accountID && a.MessageID == messageID && a.State == postroom.ActionQueued {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ActionTx implements outbox.Ledger.
func (l *Ledger) ActionTx(ctx context.Context, tx queue.Tx, id string) (postroom.Action, error) {
	return ReadAction(ctx, tx, id)
}

// Verified implements outbox.Ledger.
func (l *Ledger) Verified(ctx context.Context, id string) (postroom.Action, bool, error) {
	a, err := l.Action(ctx, id)
	return a, err == nil, err
}

// DeclareIntent implements outbox.Ledger.
func (l *Ledger) DeclareIntent(ctx context.Context, tx queue.Tx, a postroom.Action,
	declared postroom.Parameters) (postroom.Action, error) {
	return l.change(ctx, tx, a.ID, postroom.ActionExecuting, func(is *postroom.Action) {
		is.UndoHint = nil
		if declared != nil {
			is.UndoHint = &postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Intent: declared}
		}
	})
}

// SetContent implements outbox.Ledger.
func (l *Ledger) SetContent(ctx context.Context, tx queue.Tx, id, sha256 string) error {
	a, err := ReadAction(ctx, tx, id)
	switch {
	case err != nil:
		return err
	case a.ContentSHA256 == sha256:
		return nil
	case a.ContentSHA256 != "" || a.State.Final():
		return fmt.Errorf("action %s is %s and sends %q", id, a.State, a.ContentSHA256)
	}
	a.ContentSHA256 = sha256
	return l.Put(ctx, tx, a)
}

// Approver implements outbox.Ledger.
func (l *Ledger) Approver(context.Context, queue.Tx, string) (string, time.Time, error) {
	return l.ApprovedBy, l.ApprovedUntil, nil
}

// Permit implements gmail.Ledger.
func (l *Ledger) Permit(ctx context.Context, id string) (postroom.Permit, error) {
	a, err := l.Action(ctx, id)
	p := postroom.Permit{Verified: !l.Unverified, Action: a, Approver: "ada", Before: l.Before}
	if l.Unattended {
		p.Approver = ""
	}
	return p, err
}

// Hold implements gmail.Ledger.
func (l *Ledger) Hold(ctx context.Context, tx queue.Tx, id, reason string) (postroom.Action, error) {
	return l.change(ctx, tx, id, postroom.ActionQueued, func(a *postroom.Action) {
		a.State, a.Error = postroom.ActionPendingApproval, reason
	})
}

// Held implements gmail.Ledger.
func (l *Ledger) Held(context.Context) error {
	if l.Holding == nil {
		return nil
	}
	return l.Holding()
}

// Executing implements gmail.Ledger.
func (l *Ledger) Executing(ctx context.Context, accountID, messageID string) (*postroom.Action, error) {
	actions, err := actionsOf(ctx, l.DB.Reader(), accountID, messageID)
	for _, a := range actions {
		if a.State == postroom.ActionExecuting {
			return &a, err
		}
	}
	return nil, err
}

func actionsOf(ctx context.Context, q dbquery.Querier, accountID, messageID string) (actions []postroom.Action,
	err error) {
	var texts []string
	if err := dbquery.Select(ctx, q, &texts, `SELECT action FROM test_actions`); err != nil {
		return nil, err
	}
	for _, text := range texts {
		var a postroom.Action
		if err := json.Unmarshal([]byte(text), &a); err != nil { //nolint:musttag // as above
			return nil, err
		}
		if a.AccountID == accountID && a.MessageID == messageID {
			actions = append(actions, a)
		}
	}
	return actions, nil
}
