package safety

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/safety/internal/decisiontest"
)

func TestMain(m *testing.M) { dbtest.Main(m, Migrate) }

// A desk is a ledger and what it asked its host to do.
type desk struct {
	t        require.TestingT
	db       queue.DB
	ledger   *Ledger
	executed []string // ids handed to Execute
	asked    []string // ids handed to Ask
	joined   []string // ids of requests handed to Joined
	now      time.Time
}

// What tests decide, as [decisiontest] has it.
var (
	everyKind = decisiontest.Kinds
	rule      = decisiontest.Rule
	model     = decisiontest.Model
)

const (
	dangerous = "action is classified as dangerous"
	listed    = "action type is in approval_always list"
)

func newDesk(t *testing.T, db queue.DB, change func(*Config)) *desk {
	require.NoError(t, Migrate(t.Context(), db))
	d := &desk{t: t, db: db, now: time.Now()}
	cfg := Config{
		DB: db, Kinds: everyKind(),
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			d.executed = append(d.executed, a.ID)
			return nil
		},
		Ask: func(_ context.Context, _ queue.Tx, r Approval) error {
			d.asked = append(d.asked, r.ActionID)
			return nil
		},
		Joined: func(_ context.Context, _ queue.Tx, first Approval) error {
			d.joined = append(d.joined, first.ID)
			return nil
		},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	d.ledger, err = NewLedger(cfg)
	require.NoError(t, err)
	return d
}

// restart is a new process that remembers nothing.
func (d *desk) restart() {
	var err error
	d.ledger, err = NewLedger(*d.ledger.cfg)
	require.NoError(d.t, err)
}

// write runs fn in a transaction of its own whose clock is the desk's.
func (d *desk) write(fn func(ctx context.Context, tx queue.Tx) error) error {
	var w *driver.WriteTx
	err := d.db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
		w = driver.NewWriteTx(tx, d.db.Dialect(), d.now)
		if err := fn(ctx, w); err != nil {
			return err
		}
		return w.Ending(ctx)
	})
	if err == nil {
		w.Committed()
	}
	return err
}

func (d *desk) record(msg *postroom.Message, dec postroom.Decision) postroom.Action {
	var a postroom.Action
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		a, err = d.ledger.Record(ctx, msg, dec)(ctx, tx)
		return err
	}))
	return a
}

// act runs one change of one action and returns its error.
func (d *desk) act(fn func(ctx context.Context, tx queue.Tx) (postroom.Action, error)) (a postroom.Action, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) error {
		a, err = fn(ctx, tx)
		return err
	})
	return a, err
}

func (d *desk) start(id, job string) (postroom.Action, error) {
	return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.Start(ctx, tx, id, job)
	})
}

func (d *desk) approve(id, by string) (postroom.Action, error) {
	return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.Approve(ctx, tx, id, by)
	})
}

func (d *desk) reject(id, by, why string) (postroom.Action, error) {
	return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.Reject(ctx, tx, id, by, why)
	})
}

func (d *desk) complete(id string, hint postroom.UndoHint) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.Complete(ctx, tx, id, hint) })
}

func (d *desk) fail(id, reason string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.Fail(ctx, tx, id, reason) })
}

func (d *desk) cancel(id, reason string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.Cancel(ctx, tx, id, reason) })
}

func (d *desk) get(id string) postroom.Action {
	a, err := d.ledger.Action(context.Background(), id)
	require.NoError(d.t, err)
	return a
}

// completed records an archive by rule and carries it out.
func (d *desk) completed() postroom.Action {
	a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
	_, err := d.start(a.ID, "job-1")
	require.NoError(d.t, err)
	before, after := postroom.NewSnapshot([]string{"INBOX"}), postroom.NewSnapshot(nil)
	require.NoError(d.t, d.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, Before: &before,
		After: &after}))
	return d.get(a.ID)
}

// message is a new one for each call.
func message(from string) *postroom.Message {
	return &postroom.Message{
		ID: uuid.NewString(), AccountID: "account-1", From: postroom.Address{Name: "Someone", Email: from}, Subject: "Hello",
		ReceivedAt: time.Now(),
	}
}
