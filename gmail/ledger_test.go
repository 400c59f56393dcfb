package gmail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A testLedger behaves as a ledger has to: it keeps actions in the database, and each change compares and sets.
type testLedger struct {
	db       queue.DB
	complete func() error // called before an action completes
	approver string       // of every action

	// What Permit says: that no person has approved any, that it does not vouch for them, and what their messages were before.
	alone, unvouched bool
	before           *postroom.Snapshot
	held             func() error // called before one starts, and by Held; may be nil

	turns turns
}

var (
	_ Ledger       = (*testLedger)(nil)
	_ OutboxLedger = (*testLedger)(nil)
)

func newTestLedger(t *testing.T, db queue.DB) *testLedger {
	t.Helper()
	require.NoError(t, makeTestActions(t.Context(), db))
	return &testLedger{db: db}
}

func makeTestActions(ctx context.Context, db queue.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE test_actions (id TEXT PRIMARY KEY, action TEXT NOT NULL)`)
		return err
	})
}

func (l *testLedger) put(ctx context.Context, tx queue.Tx, a postroom.Action) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO test_actions (id, action) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET action = excluded.action`, a.ID, string(text))
	return err
}

func readAction(ctx context.Context, q dbquery.Querier, id string) (a postroom.Action, err error) {
	var text string
	if err := dbquery.Get(ctx, q, &text, `SELECT action FROM test_actions WHERE id = $1`, id); err != nil {
		return a, fmt.Errorf("action %s: %w", id, postroom.ErrNotFound)
	}
	return a, json.Unmarshal([]byte(text), &a)
}

func (l *testLedger) change(ctx context.Context, tx queue.Tx, id string, from postroom.ActionState, set func(*postroom.Action)) (postroom.Action, error) {
	a, err := readAction(ctx, tx, id)
	if err != nil {
		return a, err
	}
	if a.State != from {
		return a, fmt.Errorf("action %s is %s", id, a.State)
	}
	set(&a)
	return a, l.put(ctx, tx, a)
}

func (l *testLedger) Start(ctx context.Context, tx queue.Tx, id, jobID string) (postroom.Action, error) {
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

func (l *testLedger) Complete(ctx context.Context, tx queue.Tx, id string, hint postroom.UndoHint) error {
	_, err := l.change(ctx, tx, id, postroom.ActionExecuting, func(a *postroom.Action) {
		a.State, a.UndoHint = postroom.ActionCompleted, &hint
	})
	if l.complete != nil {
		err = errors.Join(err, l.complete())
	}
	return err
}

func (l *testLedger) Fail(ctx context.Context, tx queue.Tx, id, reason string) error {
	return l.end(ctx, tx, id, postroom.ActionFailed, reason)
}

func (l *testLedger) end(ctx context.Context, tx queue.Tx, id string, state postroom.ActionState, reason string) error {
	a, err := readAction(ctx, tx, id)
	if l.turns.end(id) {
		return nil // of its wake-up
	}
	if err != nil || a.State.Final() {
		return cmp.Or(err, fmt.Errorf("action %s is %s", id, a.State))
	}
	a.State, a.Error = state, reason
	return l.put(ctx, tx, a)
}

func (l *testLedger) Cancel(ctx context.Context, tx queue.Tx, id, reason string) error {
	return l.end(ctx, tx, id, postroom.ActionCanceled, reason)
}

func (l *testLedger) Action(ctx context.Context, id string) (postroom.Action, error) {
	return readAction(ctx, l.db.Reader(), id)
}

func (l *testLedger) ActionTx(ctx context.Context, tx queue.Tx, id string) (postroom.Action, error) {
	return readAction(ctx, tx, id)
}

func (l *testLedger) Verified(ctx context.Context, id string) (postroom.Action, bool, error) {
	a, err := l.Action(ctx, id)
	return a, err == nil, err
}

func (l *testLedger) DeclareIntent(ctx context.Context, tx queue.Tx, a postroom.Action, announced postroom.Parameters) (postroom.Action, error) {
	return l.change(ctx, tx, a.ID, postroom.ActionExecuting, func(is *postroom.Action) {
		is.UndoHint = nil
		if announced != nil {
			is.UndoHint = &postroom.UndoHint{InverseAction: postroom.None, Irreversible: true, Intent: announced}
		}
	})
}

func (l *testLedger) SetContent(ctx context.Context, tx queue.Tx, id, sha256 string) error {
	a, err := readAction(ctx, tx, id)
	switch {
	case err != nil:
		return err
	case a.ContentSHA256 == sha256:
		return nil
	case a.ContentSHA256 != "" || a.State.Final():
		return fmt.Errorf("action %s is %s and sends %q", id, a.State, a.ContentSHA256)
	}
	a.ContentSHA256 = sha256
	return l.put(ctx, tx, a)
}

func (l *testLedger) Approver(context.Context, queue.Tx, string) (string, error) {
	return l.approver, nil
}

func (l *testLedger) Permit(ctx context.Context, id string) (postroom.Permit, error) {
	a, err := l.Action(ctx, id)
	p := postroom.Permit{Verified: !l.unvouched, Action: a, Approver: "ada", Before: l.before}
	if l.alone {
		p.Approver = ""
	}
	return p, err
}

func (l *testLedger) Hold(ctx context.Context, tx queue.Tx, id, reason string) (postroom.Action, error) {
	return l.change(ctx, tx, id, postroom.ActionQueued, func(a *postroom.Action) {
		a.State, a.Error = postroom.ActionPendingApproval, reason
	})
}

func (l *testLedger) Held(context.Context) error {
	if l.held == nil {
		return nil
	}
	return l.held()
}

func (l *testLedger) Executing(ctx context.Context, accountID, messageID string) (*postroom.Action, error) {
	actions, err := actionsOf(ctx, l.db.Reader(), accountID, messageID)
	for _, a := range actions {
		if a.State == postroom.ActionExecuting {
			return &a, err
		}
	}
	return nil, err
}

func actionsOf(ctx context.Context, q dbquery.Querier, accountID, messageID string) (actions []postroom.Action, err error) {
	var texts []string
	if err := dbquery.Select(ctx, q, &texts, `SELECT action FROM test_actions`); err != nil {
		return nil, err
	}
	for _, text := range texts {
		var a postroom.Action
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, err
		}
		if a.AccountID == accountID && a.MessageID == messageID {
			actions = append(actions, a)
		}
	}
	return actions, nil
}

// queued adds an action and returns its id.
func (w *world) queued(a postroom.Action) string {
	w.t.Helper()
	a.ID, a.State = uuid.NewString(), postroom.ActionQueued
	if a.AccountID == "" {
		a.AccountID = w.account
	}
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.put(ctx, tx, a) })
	return a.ID
}

func (w *world) action(id string) postroom.Action {
	w.t.Helper()
	a, err := readAction(w.t.Context(), w.db.Reader(), id)
	require.NoError(w.t, err)
	return a
}

// act runs an action on a message of ours and returns the job and the action as it ended.
func (w *world) act(messageID string, t postroom.ActionType, label string) (*queue.Job, postroom.Action) {
	w.t.Helper()
	a := postroom.Action{MessageID: messageID, Type: t}
	if label != "" {
		a.Parameters = postroom.Parameters{postroom.ParamLabel: label}
	}
	id := w.queued(a)
	job := w.run(NewActionJob(w.account, id))
	return w.job(job), w.action(id)
}

// put changes an action behind everybody's back.
func (w *world) put(id string, change func(*postroom.Action)) postroom.Action {
	w.t.Helper()
	a := w.action(id)
	change(&a)
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.put(ctx, tx, a) })
	return a
}
