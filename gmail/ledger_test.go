package gmail

import (
	"context"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

var (
	_ Ledger        = (*worldtest.Ledger)(nil)
	_ outbox.Ledger = (*worldtest.Ledger)(nil)
)

// queued adds an action and returns its id.
func (w *world) queued(a postroom.Action) string {
	w.t.Helper()
	a.ID, a.State = uuid.NewString(), postroom.ActionQueued
	if a.AccountID == "" {
		a.AccountID = w.account
	}
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.Put(ctx, tx, a) })
	return a.ID
}

func (w *world) action(id string) postroom.Action {
	w.t.Helper()
	a, err := worldtest.ReadAction(w.t.Context(), w.db.Reader(), id)
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
