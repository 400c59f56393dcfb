package gmail

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// paper is a kind that prints, while there is paper.
type paper struct {
	lacks   atomic.Pointer[error] // why it does not print
	printed atomic.Int32
}

func (p *paper) kind(danger postroom.Danger) postroom.Kind {
	return postroom.Kind{
		Type: "print", Summary: "print the message", Danger: danger,
		Ready: func(context.Context, postroom.Action) error { return *p.lacks.Load() },
		Handler: func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
			p.printed.Add(1)
			return postroom.Outcome{}, nil
		},
		Undo: func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) {
			return nil, nil //nolint:nilnil // not called here
		},
	}
}

func (p *paper) lack(err error) { p.lacks.Store(&err) }

// An action that its kind does not let start is put off without the turn of its message, which others have meanwhile;
// one that its kind refuses fails, and is not carried out.
func TestAnActionThatIsNotReadyLeavesTheTurn(t *testing.T) {
	for name, danger := range map[string]postroom.Danger{"safe": postroom.Safe, "dangerous": postroom.Dangerous} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) { notReady(t, w, danger) })
		})
	}
}

func notReady(t *testing.T, w *world, danger postroom.Danger) {
	t.Helper()
	var p paper
	p.lack(&postroom.HeldError{Reason: "there is no paper", Until: time.Now().Add(time.Hour)})
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{p.kind(danger)}})
	require.NoError(t, err)
	w.cfg.Kinds = kinds
	message, _ := w.known("INBOX", "UNREAD")
	first := w.queued(postroom.Action{MessageID: message, Type: "print"})
	second := w.queued(postroom.Action{MessageID: message, Type: postroom.MarkRead})
	w.cfg.Ledger = inTurn{w.ledger, first}
	var jobs []string
	for _, id := range []string{first, second} {
		enqueued, err := w.queue.EnqueueIn(t.Context(), NewActionJob(w.account, id), time.Hour)
		require.NoError(t, err)
		jobs = append(jobs, enqueued.ID)
	}
	events, err := w.queue.Subscribe(queue.EventFilter{JobIDs: jobs})
	require.NoError(t, err)
	defer events.Close()
	stop := w.work(slog.New(slog.DiscardHandler))

	require.NoError(t, w.queue.Hasten(t.Context(), jobs[0]))
	next(t, events, queue.EventRetried)
	require.Equal(t, postroom.ActionQueued, w.action(first).State)
	require.Contains(t, w.job(jobs[0]).LastError, "there is no paper")
	require.NoError(t, w.queue.Hasten(t.Context(), jobs[1]))
	next(t, events, queue.EventCompleted)
	require.Equal(t, postroom.ActionCompleted, w.action(second).State)

	p.lack(nil)
	require.NoError(t, w.queue.Hasten(t.Context(), jobs[0]))
	next(t, events, queue.EventCompleted)
	require.Equal(t, postroom.ActionCompleted, w.action(first).State)
	stop()

	p.lack(queue.Fatal(errors.New("the printer is gone")))
	_, refused := w.act(message, "print", "")
	require.Equal(t, postroom.ActionFailed, refused.State)
	require.Equal(t, "the printer is gone", refused.Error)
	require.EqualValues(t, 1, p.printed.Load())
}
