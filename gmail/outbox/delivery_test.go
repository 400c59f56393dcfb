package outbox_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// TestLooksBecomeRarer: the longer it is unknown whether a message was sent, the longer the job waits, so that it
// outlasts what keeps it from looking.
func TestLooksBecomeRarer(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
		message, _ := w.letter(worldtest.Question)
		w.cfg.Outbox.Settle = 24 * time.Second
		w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter},
			gmailtest.Fault{Method: gmailtest.MessagesList, Status: http.StatusServiceUnavailable, Times: -1})
		id := w.queued(worldtest.Reply(message, "Yes."))
		result, err := w.queue.Enqueue(t.Context(), outbox.NewSendJob(w.account, id))
		require.NoError(t, err)
		w.runUntil(result.ID, queue.EventRetried)
		require.WithinDuration(t, time.Now().Add(time.Second), w.job(result.ID).NotBefore, time.Second)

		w.put(id, func(a *postroom.Action) {
			before := time.Now().Add(w.cfg.Outbox.Settle - 16*time.Hour)
			a.UndoHint.Intent["until"] = before.Format(time.RFC3339Nano)
		})
		queuetest.PromoteScheduled(t, w.queue)
		w.runUntil(result.ID, queue.EventRetried)
		require.WithinDuration(t, time.Now().Add(time.Hour), w.job(result.ID).NotBefore, time.Minute)
		require.Equal(t, 1, w.job(result.ID).Failures)

		w.server.ClearFaults()
		queuetest.PromoteScheduled(t, w.queue)
		w.run()
		require.Equal(t, postroom.ActionCompleted, w.action(id).State)
		ann.One()
	})
}

// TestASendIsLookedForBeforeItFails: while nobody knows whether the message was sent, a mailbox that cannot be opened
// spends no attempts.
func TestASendIsLookedForBeforeItFails(t *testing.T) {
	w := newWorld(t)
	ann := worldtest.OpenInbox(w.t, w.server, "ann@example.com")
	message, _ := w.letter(worldtest.Question)
	closed := 0
	w.sentCutOff(func() { closed = 3 })
	clients := w.cfg.Clients
	w.cfg.Clients = gmailapi.ClientsFunc(func(ctx context.Context, accountID string) (*gmailapi.Client, error) {
		if closed > 0 {
			closed--
			return nil, errors.New("the keys are not there")
		}
		return clients.Client(ctx, accountID)
	})
	a, job := w.carryOut(worldtest.Reply(message, "Yes."))
	require.Zero(t, closed)
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Equal(t, 1, job.Failures)
	ann.One()
}
