package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A pipeline runs jobs once at a time, and as often as its host likes: each run begins anew.
func TestAPipelineRunsAgain(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: archives})})
	id := w.add(p, ada)
	for range 2 {
		stop := w.run(p)
		w.eventually(func() bool { return len(p.Awaited()) == 0 })
		require.False(t, p.gate.holds(t.Context(), id))
		require.ErrorIs(t, p.Run(t.Context()), ErrRuns)
		require.ErrorIs(t, p.RunJobs(t.Context()), ErrRuns)
		_, err := p.RunUntilIdle(t.Context())
		require.ErrorIs(t, err, ErrRuns)
		stop()
		require.Equal(t, []Awaited{{What: Stopping}}, p.Awaited())
	}
	p.gate.close()
	require.True(t, p.gate.holds(t.Context(), id), "the next run stores the rules of then before it decides")
	faults, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Empty(t, faults)
	require.False(t, p.gate.holds(t.Context(), id))
}

// A running pipeline notices soon what another process does to the accounts.
func TestAnAccountOfAnotherProcessIsSetUpSoon(t *testing.T) {
	w := newWorld(t)
	p, other := w.pipeline(Config{Rules: archiveAll}), w.pipeline(Config{Rules: archiveAll})
	stop := w.run(p)
	defer stop()
	w.eventually(func() bool { return len(p.Awaited()) == 0 }) // it has looked, and looks again after the interval
	began := time.Now()
	id := w.add(other, "ada@example.org")
	w.deliver("ada@example.org", "From: eve@example.com\r\nSubject: tea\r\n\r\nNow?\r\n")
	w.eventually(func() bool { return w.action(other, id) == "archive" })
	require.Less(t, time.Since(began), superviseInterval/2)
}

// An account that was paused takes the rules that its host has by the time it is resumed: nobody has stored them for
// it.
func TestAResumedAccountTakesTheRulesOfNow(t *testing.T) {
	w := newWorld(t)
	var text atomic.Pointer[string]
	text.Store(new(archives))
	p := w.pipeline(Config{Rules: func(ctx context.Context, a mailstore.Account) (*rulesfile.File, error) {
		return rulesOf(map[string]string{ada: *text.Load()})(ctx, a)
	}})
	id := w.add(p, ada)
	stop := w.run(p)
	defer stop()
	w.eventually(func() bool { return w.storedAction(p) == postroom.Archive && len(p.Awaited()) == 0 })
	write := func(fn func(ctx context.Context, tx queue.Tx) error) { require.NoError(t, w.db.Write(t.Context(), fn)) }
	write(func(ctx context.Context, tx queue.Tx) error { return p.Mail.Pause(ctx, tx, p.Queue, id, "holiday") })
	text.Store(new(deletes))
	write(func(ctx context.Context, tx queue.Tx) error { return p.Mail.Resume(ctx, tx, p.Queue, id) })
	w.eventually(func() bool { return w.storedAction(p) == postroom.Delete })
}

// storedAction is that of the only stored rule.
func (w *world) storedAction(p *Pipeline) postroom.ActionType {
	w.Helper()
	list, err := p.Rules.List(w.Context())
	require.NoError(w, err)
	if len(list) != 1 {
		return ""
	}
	return list[0].Action
}
