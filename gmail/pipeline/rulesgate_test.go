package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A job that has asked the gate just before it opened, and is queued again just after, is not for a later run.
func TestAJobIsGivenBackAsTheGateOpens(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) { return nil, nil }})
	p.gate.close()
	id := w.add(p, "ada@example.org")
	job, err := p.Queue.Enqueue(t.Context(),
		rules.JobClassify.New(rules.ClassifyPayload{AccountID: id, MessageID: "m"}, nil))
	require.NoError(t, err)
	claimed, err := p.Queue.Claim(t.Context(), "here", []string{string(rules.JobClassify)}, 1)
	require.NoError(t, err)
	verdict := p.holdDecisions(nil)(t.Context(), claimed[0])
	require.ErrorIs(t, verdict, rules.ErrNotStored)
	require.NoError(t, p.letDecide(t.Context(), id))
	require.NoError(t, claimed[0].Fail(t.Context(), verdict))
	later, err := p.onlyLater(t.Context(), []string{string(rules.JobClassify)})
	require.NoError(t, err)
	require.False(t, later)
	s := newSupervisor(p)
	s.accounts[id] = supervised{step: stepDone}
	require.NoError(t, s.sweep(t.Context()))
	due, err := p.Queue.Job(t.Context(), job.ID)
	require.NoError(t, err)
	require.False(t, due.NotBefore.After(time.Now()))
}

// A dispatcher of the host's own that lacks the middleware decides nothing either.
func TestTheGateHoldsWithoutTheMiddleware(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{})
	id := w.add(p, "ada@example.org")
	w.deliver("ada@example.org", "From: eve@example.com\r\nSubject: tea\r\n\r\nNow?\r\n")
	d, err := queue.NewDispatcher(p.Queue, nil)
	require.NoError(t, err)
	require.NoError(t, p.Register(d))
	w.backfill(p, id)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	require.Eventually(t, func() bool {
		waits, err := p.Backlog.CountUndecided(ctx)
		return err == nil && waits.Rules == 1
	}, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ran)
	require.Empty(t, w.decisions(p, id))
}
