package replies_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A model is what a reply must be, written from the documentation: a table, and no more.
type model struct {
	state         replies.State
	need, turn    int64
	reworks       int
	message, sent string
	key           string // of a draft that was made elsewhere
	seen          map[string]bool
	jobs          []string // type, need and turn, or type, need and action
	changes       int
}

func (m *model) open() bool {
	return slices.Contains([]replies.State{replies.Pending, replies.Drafted, replies.ReworkRequested}, m.state)
}

func (m *model) first(cause string) bool {
	again := m.seen[cause]
	m.seen[cause] = true
	if !again {
		m.changes++
	}
	return !again
}

func (m *model) work(job string) { m.jobs = append(m.jobs, fmt.Sprint(job, m.need, m.turn)) }

func (m *model) cleanup(action replies.CleanupAction) {
	m.jobs = append(m.jobs, fmt.Sprint("cleanup", m.need, action))
}

func (m *model) begin(message string) {
	if !m.open() {
		m.need, m.reworks, m.sent, m.key = m.need+1, 0, "", ""
	}
	m.state, m.turn = replies.Pending, m.turn+1
	if message != "" {
		m.message = message
	}
}

func (m *model) needed(message string) {
	if m.first("message:"+message) && (!m.open() || m.state == replies.Pending) {
		m.begin(message)
		m.work("draft")
	}
}

func (m *model) made(key string) {
	if m.first("made:"+key) && !m.open() {
		m.begin(key)
		m.state, m.key = replies.Drafted, key
	}
}

func (m *model) notNeeded(message string) {
	if m.first("message:"+message) && m.state == "" {
		m.state, m.need, m.turn, m.message = replies.Skipped, 1, 1, message
	}
}

func (m *model) asked(cause string) {
	if !m.first("asked:"+cause) || m.open() && m.state != replies.Pending {
		return
	}
	if !m.open() {
		m.begin("")
	}
	m.work("manual_draft")
}

func (m *model) rework(cause string) {
	if m.first("rework:"+cause) && m.open() && m.state != replies.Pending {
		m.state, m.turn = replies.ReworkRequested, m.turn+1
		m.work("rework")
	}
}

func (m *model) withdrawn(cause string) {
	if m.first("withdrawn:"+cause) && m.state == replies.ReworkRequested {
		m.state, m.turn = replies.Drafted, m.turn+1
	}
}

func (m *model) done(cause string) {
	if m.first("done:" + cause) {
		m.state, m.need, m.turn = replies.Archived, max(m.need, 1), m.turn+1
		m.cleanup(replies.CleanupDone)
	}
}

func (m *model) vanished(cause string) {
	if m.first("vanished:"+cause) && m.open() && m.state != replies.Pending {
		m.cleanup(replies.CleanupCheckSent)
	}
}

func (m *model) result(event replies.Event, need, turn int64) {
	current := need == m.need && turn == m.turn
	switch {
	case event == replies.EventDrafted && current && m.state == replies.Pending:
		m.state = replies.Drafted
	case event == replies.EventReworked && current && m.state == replies.ReworkRequested && m.reworks < 3:
		m.state, m.reworks = replies.Drafted, m.reworks+1
	case event == replies.EventGaveUp && current && m.state == replies.ReworkRequested && m.reworks == 3:
		m.state = replies.Skipped
	case event == replies.EventSent && need == m.need && m.open():
		m.state, m.sent = replies.Sent, "answer"
	case event == replies.EventSkipped && need == m.need && m.open():
		m.state = replies.Skipped
	default:
		return
	}
	m.changes++
}

// A machine plays events against a store and the model.
type machine struct {
	*model
	w       world
	account string
	works   []replies.Work // of all jobs so far: a late job reports as a present one does
}

func (m *machine) do(t *rapid.T, changed func(ctx context.Context, tx queue.Tx) (bool, error), play func()) {
	before := *m.model
	var did bool
	require.NoError(t, m.w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		did, err = changed(ctx, tx)
		return err
	}))
	play()
	moved := before.state != m.state || before.turn != m.turn || len(before.jobs) != len(m.jobs)
	require.Equal(t, moved, did, "what the method reports")
	m.works = append(m.works, replies.Work{AccountID: m.account, ThreadID: thread, Need: max(m.need, 1),
		Turn: max(m.turn, 1)})
}

func (m *machine) check(t *rapid.T) {
	r, err := m.w.store.Reply(t.Context(), m.account, thread)
	if m.state == "" {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, []any{m.state, m.need, m.turn, int64(m.reworks), m.message, m.sent},
		[]any{r.State, r.Need, r.Turn, r.Reworks, r.MessageID, r.SentMessageID})
	key := m.key
	if key == "" {
		key = fmt.Sprintf("reply:%s:%d", thread, m.need)
	}
	require.Equal(t, key, r.DraftKey())
	history, err := m.w.store.History(t.Context(), m.account, thread)
	require.NoError(t, err)
	require.Len(t, history, m.changes)
	last := replies.State("")
	for _, c := range history {
		require.Equal(t, last, c.From, "each line continues the last")
		last = c.To
	}
	require.Equal(t, m.state, last)
	require.ElementsMatch(t, m.jobs, m.w.jobsOf(t, m.account))
}

func (m *machine) actions() map[string]func(*rapid.T) {
	type outside func(context.Context, queue.Tx, string, string, string) (bool, error)
	event := func(call outside, play func(string)) func(*rapid.T) {
		return func(t *rapid.T) {
			cause := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7", "8"}).Draw(t, "cause")
			m.do(t, func(ctx context.Context, tx queue.Tx) (bool, error) {
				return call(ctx, tx, m.account, thread, cause)
			}, func() { play(cause) })
		}
	}
	result := func(kind replies.Event, call func(context.Context, queue.Tx, replies.Work) (bool, error)) func(*rapid.T) {
		return func(t *rapid.T) {
			w := replies.Work{AccountID: m.account, ThreadID: thread, Need: 1, Turn: 1}
			if n := len(m.works); n > 0 {
				w = m.works[n-1-rapid.IntRange(0, min(n-1, 3)).Draw(t, "late")]
			}
			m.do(t, func(ctx context.Context, tx queue.Tx) (bool, error) { return call(ctx, tx, w) },
				func() { m.result(kind, w.Need, w.Turn) })
		}
	}
	return map[string]func(*rapid.T){
		"":       m.check,
		"needed": event(m.w.store.Needed, m.needed),
		"not needed": event(func(ctx context.Context, tx queue.Tx, account, thread, id string) (bool, error) {
			return m.w.store.NotNeeded(ctx, tx, account, thread, id, "a newsletter")
		}, m.notNeeded),
		"made": event(func(ctx context.Context, tx queue.Tx, account, thread, key string) (bool, error) {
			return m.w.store.Made(ctx, tx, account, thread, key, key)
		}, m.made),
		"asked": event(func(ctx context.Context, tx queue.Tx, account, thread, cause string) (bool, error) {
			return m.w.store.Asked(ctx, tx, account, thread, "", cause)
		}, m.asked),
		"rework":       event(m.w.store.Rework, m.rework),
		"rework again": event(m.w.store.Rework, m.rework),
		"withdrawn":    event(m.w.store.Withdrawn, m.withdrawn),
		"done":         event(m.w.store.Done, m.done),
		"vanished":     event(m.w.store.Vanished, m.vanished),
		"drafted":      result(replies.EventDrafted, m.w.store.Drafted),
		"reworked":     result(replies.EventReworked, m.w.store.Reworked),
		"gave up":      result(replies.EventGaveUp, m.w.store.GaveUp),
		"sent": result(replies.EventSent, func(ctx context.Context, tx queue.Tx, w replies.Work) (bool, error) {
			return m.w.store.Sent(ctx, tx, w.AccountID, w.ThreadID, w.Need, "answer", "")
		}),
		"skipped": result(replies.EventSkipped, func(ctx context.Context, tx queue.Tx, w replies.Work) (bool, error) {
			return m.w.store.Skipped(ctx, tx, w.AccountID, w.ThreadID, w.Need, "the label was taken off")
		}),
	}
}

func TestAnyOrderOfEventsIsThatOfTheModel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db)
		var accounts atomic.Int64
		rapid.Check(t, func(t *rapid.T) {
			m := &machine{model: &model{seen: map[string]bool{}}, w: w,
				account: fmt.Sprint("account", accounts.Add(1))}
			t.Repeat(m.actions())
		})
	})
}
