package gmail

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// TestTheNextActionOfAMessageIsHastened: one that waits for another of its message does not ask again and again, and
// nobody reads of it in the log; it runs when the other has ended.
func TestTheNextActionOfAMessageIsHastened(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		message, providerID := w.known("INBOX", "UNREAD")
		began, goOn := make(chan struct{}), make(chan struct{})
		kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{{
			Type: "print", Summary: "print the message",
			Handler: func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
				close(began)
				<-goOn
				return postroom.Outcome{}, nil
			},
		}}})
		require.NoError(t, err)
		w.cfg.Kinds = kinds
		first := w.queued(postroom.Action{MessageID: message, Type: "print"})
		second := w.queued(postroom.Action{MessageID: message, Type: postroom.MarkRead})
		w.cfg.Ledger = inTurn{w.ledger, first}
		waits, err := w.queue.EnqueueIn(t.Context(), NewActionJob(w.account, second), time.Hour)
		require.NoError(t, err)
		w.exec("UPDATE jobs SET interruptions = 300 WHERE id = $1", waits.ID) // it waits for an hour by now
		events, err := w.queue.Subscribe(queue.EventFilter{JobIDs: []string{waits.ID}})
		require.NoError(t, err)
		defer events.Close()

		var log bytes.Buffer
		stop := w.work(slog.New(slog.NewTextHandler(&log, nil)))
		_, err = w.queue.Enqueue(t.Context(), NewActionJob(w.account, first))
		require.NoError(t, err)
		<-began
		require.NoError(t, w.queue.Hasten(t.Context(), waits.ID))
		next(t, events, queue.EventRetried)
		close(goOn)
		next(t, events, queue.EventCompleted)
		stop()

		atGmail, _ := w.labels(providerID)
		require.Equal(t, []string{postroom.LabelInbox}, atGmail)
		require.NotContains(t, log.String(), "will run again")
	})
}

// An inTurn is a ledger in which other actions of the message wait for the first.
type inTurn struct {
	*worldtest.Ledger
	first string
}

func (l inTurn) Start(ctx context.Context, tx queue.Tx, id, jobID string) (postroom.Action, error) {
	first, err := l.ActionTx(ctx, tx, l.first)
	if err == nil && id != l.first && first.State == postroom.ActionExecuting {
		err = &postroom.BusyError{MessageID: first.MessageID, ActionID: first.ID, JobID: first.JobID}
	}
	if err != nil {
		return postroom.Action{}, err
	}
	return l.Ledger.Start(ctx, tx, id, jobID)
}

// next returns when an event of the kind has happened.
func next(t *testing.T, events *queue.Subscription, kind queue.EventKind) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for {
		event, err := events.Next(ctx)
		require.NoError(t, err, kind)
		if event.Kind == kind {
			return
		}
	}
}

// work runs jobs, with a log, until the returned function is called.
func (w *world) work(log *slog.Logger) (stop func()) {
	w.t.Helper()
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{PollInterval: 10 * time.Millisecond, Workers: 4,
		Logger: log})
	require.NoError(w.t, err)
	require.NoError(w.t, Register(d, w.cfg))
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(w.t, <-ended)
	}
}

// TestOnlyWhatHasWaitedIsHastened: the wake-ups and undos of the message that wait for its turn, and no wake-up whose
// time has not come.
func TestOnlyWhatHasWaitedIsHastened(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		message, _ := w.known("INBOX", "UNREAD")
		later := time.Now().Add(time.Hour)
		wakeUp := func(messageID, snoozeID string) queue.NewJob {
			return NewUnsnoozeJob(UnsnoozePayload{AccountID: w.account, MessageID: messageID, ActionID: snoozeID}, later)
		}
		due := func(job queue.NewJob, interruptions int) func() bool {
			enqueued, err := w.queue.Enqueue(t.Context(), job)
			require.NoError(t, err)
			w.exec("UPDATE jobs SET interruptions = $1 WHERE id = $2", interruptions, enqueued.ID)
			return func() bool {
				now, err := w.queue.Job(t.Context(), enqueued.ID)
				require.NoError(t, err)
				return now.NotBefore.Before(later.Add(-time.Minute))
			}
		}
		undoes := queue.NewJob{Type: attempts.Undo, Payload: []byte(`{}`),
			Options: queue.Options{NotBefore: later, Tags: []string{attempts.MessageTag(message)}}}
		waits, undo, sleeps := due(wakeUp(message, "a"), 300), due(undoes, 300), due(wakeUp(message, "b"), 0)
		other := due(wakeUp("another", "c"), 300)

		read := w.queued(postroom.Action{MessageID: message, Type: postroom.MarkRead})
		events, err := w.queue.Subscribe(queue.EventFilter{Types: []string{string(JobAction)}})
		require.NoError(t, err)
		defer events.Close()
		stop := w.work(slog.New(slog.DiscardHandler))
		_, err = w.queue.Enqueue(t.Context(), NewActionJob(w.account, read))
		require.NoError(t, err)
		next(t, events, queue.EventCompleted)
		stop()
		require.True(t, waits())
		require.True(t, undo())
		require.False(t, sleeps())
		require.False(t, other())
	})
}
