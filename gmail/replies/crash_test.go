package replies_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// drafts makes one draft for each key, as package outbox does.
type drafts struct {
	mu   sync.Mutex
	text map[string]string // by key
}

func (d *drafts) write(ctx context.Context, key, text string) error {
	return queuetest.Outside(ctx, "write the draft", func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.text[key] = text
		return nil
	})
}

func (d *drafts) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, key := range slices.Sorted(maps.Keys(d.text)) {
		list = append(list, key+": "+d.text[key])
	}
	return list
}

// writes is the handler of a job that writes. next is what a person does once the draft lies ready.
func writes(store *replies.Store, d *drafts, text string,
	report func(context.Context, queue.Tx, replies.Work) (bool, error),
	next func(context.Context, queue.Tx) (bool, error),
) func(ctx context.Context, w *queue.Work[replies.Work]) error {
	return func(ctx context.Context, w *queue.Work[replies.Work]) error {
		reply, current, err := store.Current(ctx, w.Payload)
		if err != nil || !current {
			return err
		}
		if err := d.write(ctx, reply.DraftKey(), text); err != nil {
			return err
		}
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			if _, err := report(ctx, tx, w.Payload); err != nil {
				return err
			}
			_, err := next(ctx, tx)
			return err
		})
	}
}

// A life with a rework and a draft that the person sends ends the same wherever a process dies.
func TestALifeEndsTheSameWhereverAProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		require.NoError(t, replies.Migrate(t.Context(), q.DB()))
		store, err := replies.New(replies.Config{DB: q.DB(), Queue: q})
		require.NoError(t, err)
		d := &drafts{text: map[string]string{}}
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := store.Needed(ctx, tx, account, thread, "m1")
			return err
		}))
		cleanup := func(ctx context.Context, w *queue.Work[replies.Cleanup]) error {
			return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
				_, err := store.Sent(ctx, tx, w.Payload.AccountID, w.Payload.ThreadID, w.Payload.Need, "m2", "")
				return err
			})
		}
		outside := func() []string {
			reply, err := store.Reply(t.Context(), account, thread)
			require.NoError(t, err)
			require.Equal(t, replies.Sent, reply.State)
			require.EqualValues(t, 1, reply.Reworks)
			require.Equal(t, []string{"reply:thread:1: Hi Grace"}, d.all())
			return d.all()
		}
		return queuetest.Scenario{Outside: outside, Register: func(dispatcher *queue.Dispatcher) {
			queue.Handle(dispatcher, replies.JobDraft,
				writes(store, d, "Dear Grace", store.Drafted, event(store.Rework, "history 7")))
			queue.Handle(dispatcher, replies.JobRework,
				writes(store, d, "Hi Grace", store.Reworked, event(store.Vanished, "history 9")))
			queue.Handle(dispatcher, replies.JobCleanup, cleanup)
		}}
	})
}
