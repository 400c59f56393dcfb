package undo_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, mailstore.Migrate, safety.Migrate) }

const account = "account-1"

// A fixture is a queue, a ledger, a mailbox and the undoer under test.
type fixture struct {
	t      require.TestingT
	db     queue.DB
	queue  *queue.Queue
	ledger *safety.Ledger
	box    *mailbox
	cfg    undo.Config
	undoer *undo.Undoer
}

func newFixture(t testing.TB, db queue.DB) *fixture {
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, safety.Migrate(t.Context(), db))
	h := &fixture{t: t, db: db, box: newMailbox()}
	var err error
	h.queue, err = queue.New(db, &queue.Config{
		Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond},
	})
	require.NoError(t, err)
	h.ledger, err = safety.NewLedger(safety.Config{
		DB:      db,
		Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
	})
	require.NoError(t, err)
	h.cfg = undo.Config{Queue: h.queue, Ledger: h.ledger, Mailbox: h.box}
	h.undoer, err = undo.NewUndoer(h.cfg)
	require.NoError(t, err)
	return h
}

// each runs the test on every database that a queue can be kept in.
func each(t *testing.T, fn func(t *testing.T, h *fixture)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		fn(t, newFixture(t, db))
	})
}

func (h *fixture) write(fn func(ctx context.Context, tx queue.Tx) error) {
	require.NoError(h.t, h.db.Write(context.Background(), fn))
}

func (h *fixture) record(action postroom.ActionType) postroom.Action {
	var a postroom.Action
	h.write(func(ctx context.Context, tx queue.Tx) (err error) {
		msg := &postroom.Message{ID: uuid.NewString(), AccountID: account}
		a, err = h.ledger.Record(ctx, msg, postroom.Decision{
			Action: action, Parameters: postroom.Parameters{"label": "Label_1", "amount": 1, "units": "days"}, Confidence: 1,
			Rationale: "test",
			Source:    postroom.SourceDeterministic, RuleID: "rule-1",
		})(ctx, tx)
		if err == nil && a.State == postroom.ActionPendingApproval {
			a, err = h.ledger.Approve(ctx, tx, a.ID, "ann")
		}
		return err
	})
	return a
}

func (h *fixture) complete(id string, hint postroom.UndoHint) postroom.Action {
	h.write(func(ctx context.Context, tx queue.Tx) error {
		if _, err := h.ledger.Start(ctx, tx, id, "action-job"); err != nil {
			return err
		}
		return h.ledger.Complete(ctx, tx, id, hint)
	})
	a, err := h.ledger.Action(context.Background(), id)
	require.NoError(h.t, err)
	return a
}

// acted is an action that took a message from one image to another; the message is in the mailbox.
func (h *fixture) acted(before, after []string) postroom.Action {
	a := h.record(postroom.Archive)
	b, f := postroom.NewSnapshot(before), postroom.NewSnapshot(after)
	h.box.messages[a.MessageID] = f
	return h.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, Before: &b, After: &f})
}

func (h *fixture) request(id string) queue.EnqueueResult {
	enqueued, err := h.undoer.Request(context.Background(), id)
	require.NoError(h.t, err)
	return enqueued
}

// run works until no undo is left to do. It takes over what a worker that died has left.
func (h *fixture) run() {
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Exclusive: true})
	require.NoError(h.t, err)
	require.NoError(h.t, undo.Register(d, h.cfg))
	require.NoError(h.t, d.RunUntilIdle(context.Background()))
}

func (h *fixture) job(id string) queue.Job {
	job, err := h.queue.Job(context.Background(), id)
	require.NoError(h.t, err)
	return *job
}

func (h *fixture) undos(id string) []postroom.Action {
	undos, err := h.ledger.Undos(context.Background(), id)
	require.NoError(h.t, err)
	return undos
}

func (h *fixture) report(id string) undo.Report {
	r, err := h.undoer.Report(context.Background(), id)
	require.NoError(h.t, err)
	return r
}
