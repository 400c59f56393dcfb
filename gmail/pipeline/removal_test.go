package pipeline

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// A dyingDB fails a write, and those after it, as a process that ends there.
type dyingDB struct {
	queue.DB
	left int // writes before it; negative: any number
}

var errDied = errors.New("the process ends here")

func (d *dyingDB) Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error {
	if d.left == 0 {
		return errDied
	}
	d.left--
	return d.DB.Write(ctx, fn)
}

// Wherever it is interrupted, another call removes the rest.
func TestRemoveAccountFinishesWhatWasInterrupted(t *testing.T) {
	for writes, interrupted := 0, true; interrupted; writes++ {
		db := &dyingDB{DB: dbtest.SQLite(t), left: -1}
		w := newWorldOn(t, db)
		p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: deletes})})
		id := w.add(p, ada)
		w.deliver(ada, tea)
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.NoError(t, p.schedule(t.Context(), []mailstore.Account{{ID: id}}))
		_, err = p.Queue.Enqueue(t.Context(), rules.NewClassifyJob(id, "waits"))
		require.NoError(t, err)

		db.left = writes
		err = p.RemoveAccount(t.Context(), id)
		interrupted = err != nil
		db.left = -1
		if interrupted {
			require.ErrorIs(t, err, errDied)
			require.NoError(t, p.RemoveAccount(t.Context(), id), "after %d writes", writes)
		}
		w.requireNothingOf(p, id)
		require.ErrorIs(t, p.RemoveAccount(t.Context(), id), postroom.ErrNotFound)
	}
}

// requireNothingOf requires that nothing is left that waits, or would begin.
func (w *world) requireNothingOf(p *Pipeline, accountID string) {
	w.Helper()
	jobs, err := p.Queue.Jobs(w.Context(), queue.Filter{States: []queue.State{queue.StateQueued, queue.StateRunning}})
	require.NoError(w, err)
	require.Empty(w, jobs)
	require.Empty(w, w.schedules(p))
	list, err := p.Rules.List(w.Context())
	require.NoError(w, err)
	require.Empty(w, list)
	waiting, err := p.Ledger.Approvals(w.Context(), safety.Filter{Limit: 10})
	require.NoError(w, err)
	require.Empty(w, waiting)
	limits, err := p.Queue.Limits(w.Context())
	require.NoError(w, err)
	require.Empty(w, limits, "and nothing is paused")
	_, err = p.Mail.Account(w.Context(), accountID)
	require.ErrorIs(w, err, postroom.ErrNotFound)
}

// A job that decides, and comes after all, does not wait for rules that nobody stores any more.
func TestAJobOfARemovedAccountDoesNotWaitForRules(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) { return nil, nil }})
	p.gate.close()
	job, err := p.Queue.Enqueue(t.Context(), rules.NewClassifyJob("removed", "m"))
	require.NoError(t, err)
	require.NoError(t, p.RunJobs(t.Context()))
	ended, err := p.Queue.Job(t.Context(), job.ID)
	require.NoError(t, err)
	require.Equal(t, queue.StateCanceled, ended.State, ended.LastError)
}
